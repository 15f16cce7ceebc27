import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/domain/common/json.ts';
import type { EvaluationContext } from '../../src/domain/evaluation/model/context.ts';
import type { CohortDefinition } from '../../src/domain/evaluation/model/definitions.ts';
import { variantsOf } from '../../src/domain/flags/model/flag.ts';
import type { FeatureFlag } from '../../src/domain/flags/model/flag-fields.ts';
import {
  normaliseFilters,
  validateFilters,
} from '../../src/domain/flags/rules/validate-filters.ts';
import { compilePattern } from '../../src/domain/targeting/patterns.ts';
import { aContext } from '../builders.ts';
import { type CohortSet, cohortSets } from './cohort-drafts.ts';
import {
  CONTEXT_NAMES,
  type FlagDraft,
  flagDrafts,
  GROUP_TYPES,
  REGULARS,
  toCondition,
} from './flag-drafts.ts';
import { moments, properties } from './property-values.ts';

const FLAGS_PER_SET = 60;
const SUBJECTS_PER_SET = 20;

/** One project's definitions, and the subjects to evaluate them for. */
export interface DefinitionSet {
  readonly now: Date;
  readonly flags: readonly FeatureFlag[];
  /** Keys of the flags that the client never has to leave to the server. */
  readonly decidableKeys: ReadonlySet<string>;
  readonly cohorts: readonly CohortDefinition[];
  /** The caller's own evaluation contexts; empty = flags of every context. */
  readonly evaluationContexts: readonly string[];
  readonly subjects: readonly EvaluationContext[];
}

const identifiers = fc.oneof(
  fc.constantFrom(...REGULARS),
  fc.uuid(),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
);

const subjectDrafts = fc.record({
  distinctId: identifiers,
  personProperties: properties,
  deviceId: fc.option(identifiers, { freq: 2 }),
  ownId: fc.option(identifiers, { freq: 1 }),
  groups: fc.tuple(
    ...GROUP_TYPES.map(() =>
      fc.option(fc.record({ key: identifiers, properties }), { freq: 4, nil: null }),
    ),
  ),
});

const subjects: fc.Arbitrary<EvaluationContext> = subjectDrafts.map((draft) => {
  const groups = GROUP_TYPES.flatMap((name, index) => {
    const group = draft.groups[index] ?? null;
    return group === null ? [] : [{ name, ...group }];
  });
  return aContext({
    distinctId: draft.distinctId,
    deviceId: draft.deviceId,
    personProperties: {
      ...draft.personProperties,
      ...(draft.deviceId === null ? {} : { $device_id: draft.deviceId }),
      ...(draft.ownId === null ? {} : { distinct_id: draft.ownId }),
    },
    groups: Object.fromEntries(groups.map(({ name, key }) => [name, key])),
    groupProperties: Object.fromEntries(groups.map((each) => [each.name, each.properties])),
  });
});

export const definitionSets: fc.Arbitrary<DefinitionSet> = fc
  .record({
    now: moments,
    drafts: fc.array(flagDrafts, { minLength: FLAGS_PER_SET, maxLength: FLAGS_PER_SET }),
    cohorts: cohortSets,
    evaluationContexts: fc.oneof(fc.constant([]), fc.subarray([...CONTEXT_NAMES])),
    subjects: fc.array(subjects, { minLength: SUBJECTS_PER_SET, maxLength: SUBJECTS_PER_SET }),
  })
  .map(({ now, drafts, cohorts, evaluationContexts, subjects }) => ({
    now,
    ...buildFlags(drafts, cohorts),
    cohorts: cohorts.definitions,
    evaluationContexts,
    subjects: subjects.map((subject) => ({ ...subject, evaluationContexts })),
  }));

/** Each flag may depend on those before it; ids run against the order, so that order is tested. */
function buildFlags(drafts: readonly FlagDraft[], cohorts: CohortSet) {
  const flags: FeatureFlag[] = [];
  const decidableKeys = new Set<string>();
  for (const [at, draft] of drafts.entries()) {
    const allowed = draft.isDoubtful ? flags : flags.filter(({ key }) => decidableKeys.has(key));
    const flag = buildFlag(draft, drafts.length - at, cohorts, allowed);
    flags.push(flag);
    const isDecidable = !draft.isDoubtful && !draft.isContinuous && !draft.isDeviceBucketed;
    if (isDecidable) decidableKeys.add(flag.key);
  }
  return { flags: flags.reverse(), decidableKeys };
}

function buildFlag(
  draft: FlagDraft,
  id: number,
  cohorts: CohortSet,
  allowed: readonly FeatureFlag[],
): FeatureFlag {
  const flagKey = `flag-${id}`;
  const { decidableIds, doubtfulIds } = cohorts;
  const variantKeys = draft.variants.map((variant) => String(variant.key));
  const surroundings = {
    flagKey,
    cohortIds: draft.isDoubtful ? [...decidableIds, ...doubtfulIds] : decidableIds,
    dependencies: allowed.map((flag) => ({
      id: flag.id,
      variants: variantsOf(flag.filters).map((variant) => String(variant.key)),
    })),
  };
  const groups = draft.conditions.map((condition) => {
    // The client takes the conditions of a group flag to be about that group.
    const own = (draft.groupType ?? null) === null ? condition.groupType : undefined;
    const groupTypeIndex = own ?? draft.groupType ?? null;
    const stored = toCondition(condition, variantKeys, { ...surroundings, groupTypeIndex });
    return own === undefined ? stored : { ...stored, aggregation_group_type_index: own };
  });
  const payloadKeys = variantKeys.length > 0 ? variantKeys : ['true'];
  const filters = withoutUndefined({
    groups,
    aggregation_group_type_index: draft.groupType,
    multivariate: variantKeys.length > 0 ? { variants: draft.variants } : undefined,
    payloads: Object.fromEntries(
      draft.payloads.slice(0, payloadKeys.length).map((payload, at) => [payloadKeys[at], payload]),
    ),
    holdout: draft.holdout,
    early_exit: draft.earlyExit,
  });
  // What a write refuses or changes is never evaluated.
  validateFilters(filters, { compilePattern, maxBytes: Number.POSITIVE_INFINITY });
  return toFlag(id, normaliseFilters(filters), draft);
}

function withoutUndefined(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) kept[key] = value;
  return kept;
}

function toFlag(id: number, filters: JsonObject, draft: FlagDraft): FeatureFlag {
  return {
    id,
    projectId: 1,
    key: `flag-${id}`,
    name: '',
    filters,
    active: draft.active,
    deleted: false,
    version: 1,
    ensureExperienceContinuity: draft.isContinuous,
    rollbackConditions: null,
    performedRollback: false,
    tags: [],
    evaluationTags: draft.contexts,
    analyticsDashboards: [],
    usageDashboard: null,
    hasEnrichedAnalytics: false,
    creationContext: 'feature_flags',
    isRemoteConfiguration: false,
    hasEncryptedPayloads: false,
    evaluationRuntime: 'all',
    bucketingIdentifier: draft.isDeviceBucketed ? 'device_id' : 'distinct_id',
    lastCalledAt: null,
    createInFolder: null,
    shouldCreateUsageDashboard: false,
    createdById: null,
    lastModifiedById: null,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
}
