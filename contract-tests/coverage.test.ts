import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DisposablePostgres, startDisposablePostgres } from '../test/disposable-postgres.ts';
import { findFault, type Operation, operationOf, operations } from './contract.ts';
import { coverageTable } from './coverage-cases.ts';
import type { HttpReply } from './http.ts';
import type { CoverageWorld } from './operations/provoke.ts';
import { createWorld, fillExample } from './operations/world.ts';
import { PROJECT_API_KEY, type StartedBurgee, startBurgee } from './start-burgee.ts';
import { fillPath } from './subjects.ts';

const NOT_PROVOKED = 500;
const OUTAGE = 503;

const expected = operations.flatMap(({ id, statuses }) =>
  statuses.filter((status) => status !== NOT_PROVOKED).map((status) => `${id} ${status}`),
);
const provoked = Object.entries(coverageTable).flatMap(([id, cases]) =>
  Object.keys(cases).map((status) => `${id} ${status}`),
);

/** Runs one entry of the table against a service and holds the reply to the contract. */
async function cover(operation: Operation, status: number, world: CoverageWorld): Promise<void> {
  const asked: string[] = [];
  const spying: CoverageWorld = {
    ...world,
    send: (method, path, options) => {
      asked.push(operationOf(method, path)?.id ?? `${method} ${path}`);
      return world.send(method, path, options);
    },
  };
  const reply = await coverageTable[operation.id]?.[status]?.(spying);
  expect(asked).toEqual([operation.id]);
  expect(reply?.status, reply?.text).toBe(status);
  expect(reply === undefined ? 'no reply' : findFault(operation, reply)).toBeNull();
}

describe('the contract', () => {
  let burgee: StartedBurgee;
  let world: CoverageWorld;

  beforeAll(async () => {
    burgee = await startBurgee();
    world = await createWorld(burgee);
  });

  afterAll(async () => {
    await burgee.stop();
  });

  it('has an entry in the table for every status of every operation, and no other', () => {
    expect(provoked.toSorted()).toEqual(expected.toSorted());
  });

  for (const operation of operations) {
    for (const status of operation.statuses) {
      if (status === NOT_PROVOKED || status === OUTAGE) continue;
      it(`is kept by ${operation.id} when it answers ${status}`, async () => {
        await cover(operation, status, world);
      });
    }
  }

  for (const operation of operations) {
    for (const [index, example] of operation.requestExamples.entries()) {
      it(`shows a request that ${operation.id} accepts: example ${index + 1}`, async () => {
        const { id } = await burgee.createFlag({ name: 'for an example' });
        const path = await fillPath(burgee, operation.path);
        const text = fillExample(JSON.stringify(example), id);
        const reply: HttpReply = await burgee.api(operation.method, path, {
          raw: text,
          headers: { 'content-type': 'application/json', ...operation.requiredHeaders },
          ...(operation.takesProjectApiKey ? { key: PROJECT_API_KEY } : {}),
        });
        expect(reply.status, reply.text).toBeLessThan(300);
        expect(findFault(operation, reply)).toBeNull();
      });
    }
  }

  it('was not broken once, as the log and the metrics tell', async () => {
    expect(burgee.errors()).toEqual([]);
    const { text } = await burgee.request('GET', '/metrics');
    expect(text).not.toMatch(/^burgee_contract_violations_total\{/m);
  });
});

describe('the contract during an outage of the database', () => {
  let postgres: DisposablePostgres;
  let burgee: StartedBurgee;
  let world: CoverageWorld;

  beforeAll(async () => {
    postgres = await startDisposablePostgres();
    burgee = await startBurgee({ connection: postgres.connection });
    world = await createWorld(burgee);
    await postgres.stop();
  }, 60_000);

  afterAll(async () => {
    await burgee.stop();
    await postgres.destroy();
  });

  for (const operation of operations.filter(({ statuses }) => statuses.includes(OUTAGE))) {
    it(`is kept by ${operation.id} when it answers ${OUTAGE}`, async () => {
      await cover(operation, OUTAGE, world);
    });
  }
});
