import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import type { JsonObject, JsonValue } from '../../common/json.ts';
import { createProject } from '../../projects/projects-commands.ts';
import { variantsOf } from '../model/flag.ts';
import type { FeatureFlag } from '../model/flag-fields.ts';
import { reportFlagStatus } from '../model/flag-status.ts';
import type { FlagFilters } from './flag-filters.ts';
import { listAllFlags, listFlagIds } from './flags-queries.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const DAY_MS = 86_400_000;
const SEED = 20_260_301;
const FLAGS = 3_000;
const LEAST_STALE = 300;

/** Moments around the 30 days that matter, exactly on the edge included. */
const moments = fc
  .oneof(fc.constantFrom(-1, 0, 29, 30, 31, 400), fc.constantFrom(30 - 1 / DAY_MS, 30 + 1 / DAY_MS))
  .map((days) => new Date(NOW.getTime() - days * DAY_MS));

/** A list as filters have it, or what nobody should have stored instead of one. */
function listOf(items: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.array(items, { maxLength: 3 }) },
    { weight: 1, arbitrary: items },
    { weight: 1, arbitrary: fc.constantFrom<JsonValue>(null, 'text', 7, [[]]) },
  );
}

/** An object with some of these keys, now and then something that is not an object. */
function objectOf(keys: Record<string, fc.Arbitrary<JsonValue>>): fc.Arbitrary<JsonValue> {
  return fc.oneof(
    { weight: 9, arbitrary: fc.record(keys, { requiredKeys: [] }).map(dropAbsent) },
    { weight: 1, arbitrary: fc.constantFrom<JsonValue>(null, 'text', 100, [{}]) },
  );
}

function dropAbsent(parts: Record<string, JsonValue | undefined>): JsonObject {
  const present: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(parts)) if (value !== undefined) present[key] = value;
  return present;
}

const percentages = fc.oneof(
  { weight: 3, arbitrary: fc.constant<JsonValue>(100) },
  { weight: 2, arbitrary: fc.constantFrom<JsonValue>(0, 50, 99.99, null, '100') },
);

const conditions = objectOf({
  properties: fc.oneof(
    { weight: 3, arbitrary: fc.constant<JsonValue>([]) },
    { weight: 1, arbitrary: listOf(objectOf({ key: fc.constant('plan') })) },
  ),
  rollout_percentage: percentages,
  variant: fc.constantFrom<JsonValue>(null, '', 'a', 7),
});

const variants = objectOf({
  key: fc.constantFrom<JsonValue>('a', 'b', '', 7, null),
  rollout_percentage: percentages,
});

const filters: fc.Arbitrary<JsonObject> = fc.record(
  {
    groups: listOf(conditions),
    multivariate: fc.oneof(
      { weight: 2, arbitrary: fc.constant<JsonValue>(null) },
      { weight: 3, arbitrary: objectOf({ variants: listOf(variants) }) },
    ),
  },
  { requiredKeys: [] },
);

const rows = fc.record({
  filters,
  active: fc.boolean(),
  created_at: moments,
  last_called_at: fc.option(moments, { freq: 2 }),
});

let database: DisposableDatabase;
let projectId = 0;
let flags: FeatureFlag[] = [];

beforeAll(async () => {
  database = await createDisposableDatabase();
  const { db } = database;
  projectId = await db.transaction(
    async (tx) => (await createProject(tx, { name: 'p' })).project.id,
  );
  const samples = fc.sample(rows, { seed: SEED, numRuns: FLAGS });
  await db.batchInsert(
    'feature_flags',
    samples.map((row, index) => ({
      ...row,
      filters: JSON.stringify(row.filters),
      project_id: projectId,
      key: `f${index}`,
    })),
    500,
  );
  flags = await listAllFlags(db, projectId);
});
afterAll(() => database.destroy());

async function idsFor(wanted: FlagFilters): Promise<ReadonlySet<number>> {
  return new Set(await listFlagIds(database.db, projectId, { filters: wanted, now: NOW }));
}

/** The flags on which the query and the rule disagree. */
function disagreements(
  found: ReadonlySet<number>,
  rule: (flag: FeatureFlag) => boolean,
): FeatureFlag[] {
  return flags.filter((flag) => found.has(flag.id) !== rule(flag));
}

describe('the conditions in SQL', () => {
  it('find the flags whose status is stale, and no others', async () => {
    const found = await idsFor({ active: 'STALE' });
    expect(found.size).toBeGreaterThan(LEAST_STALE);
    const isStale = (flag: FeatureFlag) => reportFlagStatus(flag, NOW).status === 'stale';
    expect(disagreements(found, isStale)).toEqual([]);
  });

  it('find the flags with and without variants', async () => {
    const hasVariants = (flag: FeatureFlag) => variantsOf(flag.filters).length > 0;
    expect(disagreements(await idsFor({ type: 'multivariant' }), hasVariants)).toEqual([]);
    const isBoolean = (flag: FeatureFlag) => !hasVariants(flag);
    expect(disagreements(await idsFor({ type: 'boolean' }), isBoolean)).toEqual([]);
  });
});
