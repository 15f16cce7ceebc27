import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DisposablePostgres, startDisposablePostgres } from '../test/disposable-postgres.ts';
import { findFault, type Operation, operationOf, operations } from './contract.ts';
import { type CoverageWorld, coverageTable } from './coverage-cases.ts';
import type { HttpReply } from './http.ts';
import { PROJECT_API_KEY, type StartedBurgee, startBurgee } from './start-burgee.ts';

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

async function createWorld(burgee: StartedBurgee): Promise<CoverageWorld> {
  const useless = await burgee.createKey({ scopes: ['dashboard:read'] });
  const flag = await burgee.createFlag({
    key: 'covering',
    filters: {
      groups: [{ properties: [{ key: 'plan', type: 'person', value: 'pro' }], variant: 'a' }],
      multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
      payloads: { a: '{"size": 1}' },
    },
    tags: ['web'],
  });
  const config = await burgee.createFlag({
    key: 'configuring',
    is_remote_configuration: true,
    filters: {
      groups: [{ properties: [], rollout_percentage: 100 }],
      payloads: { true: '{"color": "red"}' },
    },
  });
  const limitedProject = await burgee.createProject('Used up');
  await burgee.setQuota(limitedProject.id, 0);
  return {
    burgee,
    flag,
    limitedProject,
    configPath: `${config.path}remote_config/`,
    uselessKey: useless.key,
    send: burgee.request,
  };
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
        const path = operation.path.replace('{project_id}', '1').replace('{id}', String(id));
        const text = JSON.stringify(example)
          .replace('phc_exampleexampleexampleexample', PROJECT_API_KEY)
          .replace('"key":"new-checkout"', `"key":"new-checkout-${id}"`);
        const reply: HttpReply = await burgee.api(operation.method, path, {
          raw: text,
          headers: { 'content-type': 'application/json' },
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
