import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import type { JsonObject, JsonValue } from '../common/json.ts';
import { matchCondition } from '../evaluation/match/match-condition.ts';
import { MATCH, RequestView } from '../evaluation/match/request-view.ts';
import type { CohortDefinition } from '../evaluation/model/definitions.ts';
import { OPERATORS } from '../evaluation/model/operators.ts';
import type { PreparedCondition, Snapshot } from '../evaluation/model/snapshot.ts';
import { prepareSnapshot } from '../evaluation/prepare/prepare.ts';
import { createProject } from '../projects/projects-commands.ts';
import { compilePattern } from '../targeting/patterns.ts';
import { countAudience } from './count-audience.ts';
import { prepareAudience } from './prepare-audience.ts';

const NOW = new Date('2026-01-15T12:00:00Z');
const PERSONS = 300;
const RUNS = 1_000;
const STATIC_ID = 7;

/** Values that persons hold and filters look for: chosen so that the two meet. */
const VALUES: readonly JsonValue[] = [
  ...['pro', 'Pro', 'PRO plan', '', ' ', 'null', 'true', 'TRUE', 'False', 'false', 'banana'],
  ...['ΣΊΣΥΦΟΣ', 'σίσυφος', 'straße', 'STRASSE', 'żółć', 'ŻÓŁĆ', '\u212aelvin', 'kelvin', 'Kelvin'],
  ...[
    'İstanbul',
    'i\u0307stanbul',
    '😀 smile',
    'SMILE',
    '%',
    '_',
    'a_b',
    'a\\b',
    'a\nb',
    "it's",
    '?',
  ],
  ...['0', '1', '+1', '-1', '1.0', '1.50', '.5', '5.', '007', '1e2', '1E-2', 'inf', '-Infinity'],
  ...['nan', 'NaN', '1 ', ' 1', '0x10', '1,5', '--1', '1e400', '12345678901234567890', '1-2'],
  ...[0, 1, -1, 1.5, 0.1, 100, 1e21, 1e-7, 1e20, 123456789012345680000, 2 ** 53, -0.000001, 5e-324],
  ...[1.7976931348623157e308, 4.35, 1768478400, 0.30000000000000004, true, false, null],
  ...[[], [1], ['pro'], ['true'], [true, 'TRUE'], [true, false], [[true], []], [null]],
  ...[{}, { a: 1 }, { b: 'x', a: [1, null] }, '[]', '["pro"]', '[1]', '{"a":1}', '{"A":1}'],
  ...['1.2.3', 'v1.2.3', '1.2', '2.0.0-beta.1', '1.10.0', '01.2.3', 'latest', '1.2.*', '^1.0'],
  ...[
    '2026-01-01',
    '2026-01-15T12:00:00Z',
    '2026-01-15 12:00:00',
    '-7d',
    '3m',
    '1y',
    'Jan 1, 2026',
  ],
  ...[
    '2025-12-31T23:59:59.999+05:30',
    '1768478400',
    '2026-13-01',
    'a@example.com',
    'B@EXAMPLE.COM',
  ],
];
const values = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }).map(storable) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.integer({ min: -50, max: 50 }) },
);
const KEYS = ['plan', '$os', '$os_name', '$initial_os', 'utm_source', "o'x?"];
const READ_KEYS = [...KEYS, '$initial_utm_source', 'never_there', 'distinct_id', 'constructor'];

/** PostgreSQL stores neither NUL nor half a pair; capture replaces both. */
function storable(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\ufffd');
}

const bags: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom(...KEYS), values, {
  minKeys: 2,
  maxKeys: 6,
  noNullPrototype: true,
});

const PROPERTY_OPERATORS = Object.keys(OPERATORS).filter(
  (operator) => !['in', 'not_in', 'flag_evaluates_to'].includes(operator),
);
const filterValues = fc.oneof(
  { weight: 5, arbitrary: values },
  { weight: 1, arbitrary: fc.array(values, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(-1, 0, '0'), fc.constantFrom(1, '2', 1e3)) },
);
const filter = fc
  .record({
    key: fc.constantFrom(...READ_KEYS),
    operator: fc.constantFrom(...PROPERTY_OPERATORS),
    value: filterValues,
  })
  .map((each): JsonObject => ({ ...each, type: 'person' }));
const createdAt = fc
  .record({
    operator: fc.constantFrom(...PROPERTY_OPERATORS),
    value: fc.oneof(filterValues, fc.constantFrom('2026-01-08T12:00:00Z', '7d', '-1m', '2026')),
  })
  .map((each): JsonObject => ({ ...each, type: 'person_metadata', key: 'created_at' }));
const leaf = fc.oneof({ weight: 6, arbitrary: filter }, { weight: 1, arbitrary: createdAt });
const cohortLeaf = (...ids: number[]) =>
  fc
    .record({
      value: fc.constantFrom(...ids),
      operator: fc.constantFrom('in', 'not_in'),
      negation: fc.boolean(),
    })
    .map((each): JsonObject => ({ ...each, type: 'cohort', key: 'id' }));
const negatable = fc
  .tuple(leaf, fc.boolean())
  .map(([each, negation]): JsonObject => ({ ...each, negation }));
const trees = fc.letrec<{ node: JsonObject; group: JsonObject }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: negatable },
    { weight: 1, arbitrary: cohortLeaf(STATIC_ID) },
    { weight: 2, arbitrary: tie('group') },
  ),
  group: fc
    .record({
      type: fc.constantFrom('AND', 'OR'),
      values: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      negation: fc.boolean(),
    })
    .map((each): JsonObject => ({ ...each })),
}));

interface Subject {
  readonly properties: JsonObject;
  readonly createdAt: Date;
  readonly distinctIds: readonly string[];
  readonly isListed: boolean;
}

let database: DisposableDatabase;
let projectId = 0;
let persons: readonly Subject[];
let groups: readonly (readonly [string, JsonObject])[];

beforeAll(async () => {
  database = await createDisposableDatabase();
  const { db } = database;
  projectId = (await db.transaction((tx) => createProject(tx, { name: 'p' }))).project.id;
  const other = (await db.transaction((tx) => createProject(tx, { name: 'q' }))).project.id;
  persons = fc.sample(
    fc.record({
      properties: bags,
      createdAt: fc
        .constantFrom('2026-01-08T12:00:00Z', '2025-12-15T12:00:00Z', '2026-01-14T12:00:00.001Z')
        .map((text) => new Date(text)),
      distinctIds: fc.constantFrom(['b', 'a'], ['0192f0c1-6ffe-7c7e-8f5a-2f6f1f0a9b3c', 'pro'], []),
      isListed: fc.boolean(),
    }),
    { numRuns: PERSONS, seed: 1 },
  );
  // One more person for each value, so that every value is compared with every other.
  const [first] = persons;
  if (first === undefined) throw new Error('No persons were made.');
  persons = [...persons, ...VALUES.map((every) => ({ ...first, properties: { every } }))];
  await db('cohorts').insert({ project_id: projectId, name: 'one', is_static: true });
  await db.raw(
    "INSERT INTO cohorts (id, project_id, name, is_static) OVERRIDING SYSTEM VALUE VALUES (?, ?, 'listed', true)",
    [STATIC_ID, projectId],
  );
  for (const [index, person] of persons.entries()) {
    const [row] = await db('persons')
      .insert({
        project_id: projectId,
        properties: JSON.stringify(person.properties),
        created_at: person.createdAt,
      })
      .returning('id');
    const id = row?.id ?? 0;
    for (const distinctId of person.distinctIds) {
      await db('person_distinct_ids').insert({
        project_id: projectId,
        person_id: id,
        distinct_id:
          distinctId.length > 9
            ? distinctId.replace(/^.{8}/, String(10_000_000 + index))
            : `${distinctId}${index}`,
      });
    }
    if (person.isListed) await db('cohort_members').insert({ cohort_id: STATIC_ID, person_id: id });
  }
  groups = fc
    .sample(bags, { numRuns: 100, seed: 2 })
    .map((bag, index) => [index === 0 ? 'pro' : `group ${index}`, bag]);
  for (const [key, properties] of groups) {
    await db('groups').insert({
      project_id: projectId,
      group_type_index: 1,
      group_key: key,
      properties: JSON.stringify(properties),
    });
  }
  // Rows that must not be counted.
  await db('persons').insert({ project_id: other, properties: '{"plan": "pro"}' });
  await db('groups').insert({ project_id: projectId, group_type_index: 2, group_key: 'pro' });
}, 60_000);
afterAll(() => database.destroy());

function snapshotWith(cohorts: readonly CohortDefinition[]): Snapshot {
  return prepareSnapshot(
    {
      projectId,
      revision: 1,
      timezone: 'Europe/Zurich',
      groupTypes: [
        { index: 1, name: 'company' },
        { index: 2, name: 'team' },
      ],
      flags: [],
      cohorts,
    },
    compilePattern,
  );
}

const listed: CohortDefinition = {
  id: STATIC_ID,
  name: 'listed',
  isStatic: true,
  cohortType: 'static',
  filters: null,
  groups: [],
};
const dynamic = (properties: JsonObject, id = 1): CohortDefinition => ({
  ...listed,
  id,
  name: 'dynamic',
  isStatic: false,
  cohortType: null,
  filters: { properties },
});
const plainSnapshot = () =>
  snapshotWith([
    listed,
    dynamic({ type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'is_set' }] }),
  ]);

/** The same rule as in SQL: ids that people chose go before ids that SDKs made up. */
function principalId({ distinctIds }: Subject, index: number): string {
  const chosen = distinctIds.filter((id) => id.length <= 9).toSorted();
  return chosen[0] === undefined ? '' : `${chosen[0]}${index}`;
}

/** How many of the subjects the engine lets through, asked one by one. */
function countByEngine(condition: PreparedCondition, snapshot: Snapshot): number {
  const request = {
    deviceId: null,
    anonDistinctId: null,
    personProperties: {},
    groupProperties: {},
    runtime: 'all',
    evaluationContexts: [],
  } as const;
  const isMatch = (view: RequestView) => matchCondition(condition, view) === MATCH;
  if (condition.groupTypeIndex !== null) {
    return groups.filter(([key, properties]) =>
      isMatch(
        new RequestView(
          snapshot,
          {
            ...request,
            distinctId: '',
            groups: { company: key },
            stored: {
              person: null,
              groups: new Map([[1, properties]]),
              staticCohortIds: new Set(),
              hashKeyOverrides: new Map(),
            },
          },
          NOW,
        ),
      ),
    ).length;
  }
  return persons.filter((person, index) =>
    isMatch(
      new RequestView(
        snapshot,
        {
          ...request,
          distinctId: principalId(person, index),
          groups: {},
          stored: {
            person: { properties: person.properties, createdAt: person.createdAt },
            groups: new Map(),
            staticCohortIds: new Set(person.isListed ? [STATIC_ID] : []),
            hashKeyOverrides: new Map(),
          },
        },
        NOW,
      ),
    ),
  ).length;
}

async function expectAgreement(
  condition: PreparedCondition,
  snapshot: Snapshot,
  total: number,
): Promise<number> {
  const counted = await countAudience(database.db, snapshot, condition, {
    now: NOW,
    timeoutMs: 15_000,
  });
  expect(counted).toEqual({ total, affected: countByEngine(condition, snapshot) });
  return counted.affected;
}

describe('counting an audience', () => {
  it('agrees with the engine on any filters of persons', async () => {
    const snapshot = plainSnapshot();
    const used = new Set<JsonValue>();
    let dividing = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            { weight: 9, arbitrary: leaf },
            { weight: 1, arbitrary: cohortLeaf(STATIC_ID, 1) },
          ),
          {
            minLength: 1,
            maxLength: 2,
          },
        ),
        async (properties) => {
          const condition = prepareAudience(properties, null, snapshot, compilePattern);
          const affected = await expectAgreement(condition, snapshot, persons.length);
          if (affected > 0 && affected < persons.length) dividing += 1;
          for (const { operator = 'exact' } of properties) used.add(operator);
        },
      ),
      { numRuns: RUNS },
    );
    const unused = Object.keys(OPERATORS).filter(
      (operator) => operator !== 'flag_evaluates_to' && !used.has(operator),
    );
    expect(unused).toEqual([]);
    expect(dividing).toBeGreaterThan(RUNS / 8);
  }, 120_000);

  it.each(['exact', 'icontains', 'ends_with', 'gt', 'lte'])(
    'agrees with the engine on %s with every odd value against every other',
    async (operator) => {
      const snapshot = plainSnapshot();
      for (const value of VALUES) {
        const filters = [{ key: 'every', type: 'person', operator, value }];
        const condition = prepareAudience(filters, null, snapshot, compilePattern);
        await expectAgreement(condition, snapshot, persons.length);
      }
    },
    60_000,
  );

  it('agrees with the engine on any dynamic cohort, one within another', async () => {
    const nested = { type: 'cohort', key: 'id', value: 2 };
    await fc.assert(
      fc.asyncProperty(trees.group, trees.group, fc.boolean(), async (inner, outer, negation) => {
        const both = { type: 'OR', values: [outer, { ...nested, negation }] };
        const snapshot = snapshotWith([listed, dynamic(inner, 2), dynamic(both, 1)]);
        const member = { type: 'cohort', key: 'id', value: 1, operator: 'in' };
        const condition = prepareAudience([member], null, snapshot, compilePattern);
        await expectAgreement(condition, snapshot, persons.length);
      }),
      { numRuns: 400 },
    );
  }, 120_000);

  it('agrees with the engine on any filters of groups', async () => {
    const snapshot = plainSnapshot();
    const groupFilter = filter.map(
      (each): JsonObject => ({
        ...each,
        key: each.key === 'distinct_id' ? '$group_key' : (each.key ?? 'plan'),
        type: 'group',
        group_type_index: 1,
      }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(groupFilter, { minLength: 1, maxLength: 2 }),
        async (properties) => {
          const condition = prepareAudience(properties, 1, snapshot, compilePattern);
          await expectAgreement(condition, snapshot, groups.length);
        },
      ),
      { numRuns: 400 },
    );
  }, 120_000);
});
