import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../common/json.ts';
import type { CohortDefinition } from '../../evaluation/model/definitions.ts';
import type { FeatureFlag } from './flag-fields.ts';
import { buildLocalDefinitions } from './local-definitions.ts';

function aStoredFlag(
  id: number,
  filters: JsonObject,
  extra: Partial<FeatureFlag> = {},
): FeatureFlag {
  return {
    id,
    projectId: 1,
    key: `flag-${id}`,
    name: '',
    filters,
    active: true,
    deleted: false,
    version: 1,
    ensureExperienceContinuity: false,
    rollbackConditions: null,
    performedRollback: false,
    tags: [],
    evaluationTags: [],
    analyticsDashboards: [],
    usageDashboard: null,
    hasEnrichedAnalytics: false,
    creationContext: 'feature_flags',
    isRemoteConfiguration: false,
    hasEncryptedPayloads: false,
    evaluationRuntime: 'all',
    bucketingIdentifier: 'distinct_id',
    lastCalledAt: null,
    createInFolder: null,
    shouldCreateUsageDashboard: true,
    createdById: null,
    lastModifiedById: null,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    ...extra,
  };
}

function on(...properties: JsonObject[]): JsonObject {
  return { groups: [{ properties, rollout_percentage: 100 }] };
}

function dependsOn(...ids: number[]): JsonObject {
  return on(
    ...ids.map((id) => ({
      key: String(id),
      type: 'flag',
      operator: 'flag_evaluates_to',
      value: true,
    })),
  );
}

function chainsOf(flags: FeatureFlag[], id: number): JsonValue[] {
  const { flags: local } = buildLocalDefinitions(flags, [], true);
  const groups = local.find(({ flag }) => flag.id === id)?.filters.groups;
  return JSON.parse(JSON.stringify(groups ?? [])).flatMap((group: { properties: JsonObject[] }) =>
    group.properties.map((property) => [property.key, property.dependency_chain]),
  );
}

describe('dependencies', () => {
  const base = aStoredFlag(1, on());

  it('are named by key, with the keys to evaluate before them', () => {
    const flags = [base, aStoredFlag(2, dependsOn(1)), aStoredFlag(3, dependsOn(2, 1))];
    expect(chainsOf(flags, 3)).toEqual([
      ['flag-2', ['flag-1', 'flag-2']],
      ['flag-1', ['flag-1']],
    ]);
  });

  it('have an empty chain when they form a cycle', () => {
    const flags = [aStoredFlag(1, dependsOn(2)), aStoredFlag(2, dependsOn(1))];
    expect(chainsOf(flags, 1)).toEqual([['flag-2', []]]);
  });

  it('keep an id that names no flag, with an empty chain', () => {
    expect(chainsOf([aStoredFlag(2, dependsOn(9))], 2)).toEqual([['9', []]]);
  });

  it('appear once in a chain that reaches them twice', () => {
    const flags = [
      base,
      aStoredFlag(2, dependsOn(1)),
      aStoredFlag(3, dependsOn(1)),
      aStoredFlag(4, dependsOn(2, 3)),
      aStoredFlag(5, dependsOn(4)),
    ];
    expect(chainsOf(flags, 5)).toEqual([['flag-4', ['flag-1', 'flag-2', 'flag-3', 'flag-4']]]);
  });
});

const person = (key: string, extra: JsonObject = {}): JsonObject => ({
  key,
  type: 'person',
  value: 'x',
  operator: 'exact',
  ...extra,
});

function aDynamicCohort(id: number, values: JsonValue[], type = 'AND'): CohortDefinition {
  return {
    id,
    name: `cohort ${id}`,
    isStatic: false,
    cohortType: null,
    filters: { properties: { type: 'OR', values: [{ type, values }] } },
    groups: [],
  };
}

const inCohort = (id: number, extra: JsonObject = {}): JsonObject => ({
  key: 'id',
  type: 'cohort',
  value: id,
  operator: 'in',
  ...extra,
});

describe('cohorts', () => {
  it('are sent with those inside them, without static and unknown ones', () => {
    const cohorts: CohortDefinition[] = [
      aDynamicCohort(1, [person('a'), { type: 'cohort', key: 'id', value: 2 }]),
      aDynamicCohort(2, [person('b'), { type: 'cohort', key: 'id', value: 3 }]),
      { ...aDynamicCohort(3, []), isStatic: true, filters: null },
      aDynamicCohort(4, [person('unused')]),
    ];
    const flags = [aStoredFlag(1, on(inCohort(1), inCohort(9)))];
    const { cohorts: sent, flags: local } = buildLocalDefinitions(flags, cohorts, true);
    expect(Object.keys(sent).sort()).toEqual(['1', '2']);
    expect(sent['2']).toEqual(cohorts[1]?.filters?.properties);
    expect(local[0]?.filters).toEqual(flags[0]?.filters);
  });

  it('are spelled out instead when they are not sent and mean the same', () => {
    const cohorts = [aDynamicCohort(1, [person('a'), person('b')])];
    const { cohorts: sent, flags } = buildLocalDefinitions(
      [aStoredFlag(1, on(inCohort(1)))],
      cohorts,
      false,
    );
    expect(sent).toEqual({});
    expect(flags[0]?.filters).toEqual(on(person('a'), person('b')));
  });

  it.each([
    ['it is negated', on(inCohort(1, { operator: 'not_in' })), [person('a')], 'AND'],
    ['it is not alone in its condition', on(inCohort(1), person('z')), [person('a')], 'AND'],
    ['the flag has two cohorts', on(inCohort(1), inCohort(1)), [person('a')], 'AND'],
    [
      'the flag overrides a variant',
      { groups: [{ properties: [inCohort(1)], variant: 'blue' }] },
      [person('a')],
      'AND',
    ],
    ['it asks for any of several filters', on(inCohort(1)), [person('a'), person('b')], 'OR'],
    ['a filter is negated', on(inCohort(1)), [person('a', { negation: true })], 'AND'],
    ['a filter is not a person filter', on(inCohort(1)), [inCohort(2)], 'AND'],
    ['it is empty', on(inCohort(1)), [], 'AND'],
  ])('stay as they are when %s', (_name, filters, values, type) => {
    const cohorts = [aDynamicCohort(1, values, type), aDynamicCohort(2, [person('c')])];
    const { flags } = buildLocalDefinitions([aStoredFlag(1, filters)], cohorts, false);
    expect(flags[0]?.filters).toEqual(filters);
  });
});

it('Flags with secret payloads are left out', () => {
  const flags = [aStoredFlag(1, on(), { hasEncryptedPayloads: true }), aStoredFlag(2, on())];
  expect(buildLocalDefinitions(flags, [], true).flags.map(({ flag }) => flag.id)).toEqual([2]);
});
