import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, openContract, operations, readContract } from '../contract.ts';
import { coverageTable } from '../coverage-cases.ts';
import type { HttpReply, SendRequest } from '../http.ts';
import type { CoverageWorld } from '../operations/provoke.ts';
import { createWorld, fillExample } from '../operations/world.ts';
import { type StartedBurgee, startBurgee } from '../start-burgee.ts';
import { breakContract } from './break-contract.ts';
import { type DreddResult, type PlannedRequest, runDredd } from './run-dredd.ts';

/** The whole list of what Dredd passes over. Each status is covered elsewhere. */
const SKIPPED: Readonly<Record<number, string>> = {
  500: 'a fault of the service itself: documented, and never provoked',
  503: 'needs a stopped database: the coverage test provokes it',
};

/** A whole run of Dredd takes twelve seconds on a quiet machine, and ten times that on a busy one. */
const LIMIT_MS = 300_000;

const JSON_TYPE = { 'content-type': 'application/json' };

let burgee: StartedBurgee;
let world: CoverageWorld;
let uniqueId = 0;

/** Thrown in place of sending, so that the request can be handed to Dredd. */
class Planned extends Error {
  readonly request: PlannedRequest;

  constructor(request: PlannedRequest) {
    super('This request is for Dredd to make.');
    this.request = request;
  }
}

const intercept: SendRequest = (method, path, options = {}): Promise<HttpReply> => {
  throw new Planned({ method, path, options });
};

/** The request of the coverage table; a success carries the example that the contract shows. */
async function plan(operation: Operation, status: number, example: string) {
  if (SKIPPED[status] !== undefined) return null;
  const planned = await planFromTable(operation, status);
  const isShown = status < 300 && example !== '' && planned.options.body !== undefined;
  if (!isShown) return planned;
  uniqueId += 1;
  const { headers } = planned.options;
  const raw = fillExample(example, 900_000 + uniqueId);
  return {
    ...planned,
    options: { ...planned.options, body: undefined, raw, headers: { ...headers, ...JSON_TYPE } },
  };
}

async function planFromTable(operation: Operation, status: number): Promise<PlannedRequest> {
  const provoke = coverageTable[operation.id]?.[status];
  if (provoke === undefined) throw new Error(`${operation.id} ${status} is not in the table`);
  try {
    await provoke({ ...world, send: intercept });
  } catch (error) {
    if (error instanceof Planned) return error.request;
    throw error;
  }
  throw new Error(`${operation.id} ${status} asked for nothing`);
}

function run(document: unknown): Promise<readonly DreddResult[]> {
  return runDredd({ url: burgee.url, document, contract: openContract(document), plan });
}

beforeAll(async () => {
  burgee = await startBurgee();
  world = await createWorld(burgee);
});

afterAll(async () => {
  await burgee.stop();
});

describe('Dredd', () => {
  let results: readonly DreddResult[] = [];

  beforeAll(async () => {
    results = await run(readContract());
  }, LIMIT_MS);

  it('tries every status of every operation', () => {
    const expected = operations.flatMap(({ id, statuses }) =>
      statuses.map((status) => `${id} ${status}`),
    );
    expect(new Set(results.map(({ name }) => name))).toEqual(new Set(expected));
  });

  it('passes over nothing but the statuses of the closed list', () => {
    const skipped = results.filter(({ outcome }) => outcome === 'skipped');
    expect(Object.keys(SKIPPED)).toHaveLength(2);
    expect(new Set(skipped.map(({ name }) => Number(name.split(' ')[1])))).toEqual(
      new Set(Object.keys(SKIPPED).map(Number)),
    );
  });

  it('finds no difference between the contract and the service', () => {
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });
});

describe('Dredd with a broken contract', () => {
  for (const breakage of breakContract(readContract())) {
    it(
      `finds ${breakage.what}`,
      async () => {
        const results = await run(breakage.document);
        const failed = results.filter(({ outcome }) => outcome === 'failed');
        expect(failed.map(({ name }) => name)).toContain(breakage.found);
      },
      LIMIT_MS,
    );
  }
});
