import type { JsonValue } from '../../common/json.ts';
import type { Draw } from '../bucketing/draws.ts';
import type { WallClock } from '../values/wall-clock.ts';
import type { FlagDefinition, GroupType } from './definitions.ts';
import type { Operator } from './operators.ts';
import type { PropertyMatcher } from './property-matcher.ts';
import type { FailureCode, MissKind, ReasonCode } from './reasons.ts';

/**
 * The answer for one flag. Outcomes depend only on flag, condition, variant and reason; the same
 * result is the identical object each time, so that callers can cache what they derive from it.
 */
export interface Outcome {
  readonly flag: PreparedFlag;
  readonly enabled: boolean;
  readonly variant: string | null;
  readonly reason: ReasonCode;
  readonly description: string;
  readonly conditionIndex: number | null;
  /** As stored; undefined when the flag has none for this answer. */
  readonly payload: JsonValue | undefined;
  readonly failed: boolean;
}

/** Every outcome that one flag can have, each the same object whenever it is asked for. */
export interface Outcomes {
  /** The condition matched; `variantIndex` -1 = enabled without a variant. */
  matched(conditionIndex: number, variantIndex: number): Outcome;
  /** Properties matched, the rollout did not admit; also a withheld device-bucketed condition. */
  outOfRollout(conditionIndex: number): Outcome;
  /** No properties matched. */
  missed(conditionIndex: number, kind: MissKind): Outcome;
  /** Only skipped group conditions, or (null) no condition at all. */
  noGroupType(conditionIndex: number | null): Outcome;
  /** Decided by the enrollment property; opting out keeps the payload of the enabled flag. */
  enrolled(enabled: boolean): Outcome;
  /** Held out: enabled, with the holdout's own variant. */
  heldOut(variant: string): Outcome;
  /** A flag that this one depends on does not exist. */
  missingDependency(): Outcome;
  /** The flag could not be evaluated. */
  failed(code: FailureCode): Outcome;
}

/** What a property is compared with, as it was written: for those who decide it by other means. */
export interface Comparison {
  readonly operator: Operator;
  readonly value: JsonValue | undefined;
}

/** A filter on a person property. */
export interface PersonFilter {
  readonly kind: 'person';
  readonly key: string;
  /** Keys whose value stands in, first one present, when `key` itself is missing. */
  readonly fallbackKeys: readonly string[];
  readonly comparison: Comparison;
  readonly matcher: PropertyMatcher;
}

/** A filter on the creation time of the person's row. */
export interface PersonCreatedAtFilter {
  readonly kind: 'person_created_at';
  readonly comparison: Comparison;
  readonly matcher: PropertyMatcher;
}

/** A filter on a property of the request's group of one type. */
export interface GroupFilter {
  readonly kind: 'group';
  readonly groupTypeIndex: number;
  readonly key: string;
  readonly comparison: Comparison;
  readonly matcher: PropertyMatcher;
}

/** A condition on another flag's outcome. */
export interface DependencyFilter {
  readonly kind: 'flag';
  readonly flagId: number;
  /** true = anything but false, false = exactly false, text = exactly this variant. */
  readonly expected: boolean | string;
  /** Another filter of the same condition expects something that excludes this one. */
  readonly isContradicted: boolean;
}

/** Membership in a cohort, or its absence. */
export interface CohortFilter {
  readonly kind: 'cohort';
  readonly cohortId: number;
  readonly isNegated: boolean;
  /** Set when the cohort cannot be evaluated at all: reaching this filter fails the flag. */
  readonly failure: FailureCode | null;
}

/** A filter that is well-formed but can never match. */
export interface NeverFilter {
  readonly kind: 'never';
}

export type PreparedFilter =
  | PersonFilter
  | PersonCreatedAtFilter
  | GroupFilter
  | DependencyFilter
  | CohortFilter
  | NeverFilter;

/** A node of a dynamic cohort's tree. */
export type CohortNode =
  | {
      readonly kind: 'group';
      readonly isNegated: boolean;
      /** OR when true, AND otherwise. */
      readonly isAny: boolean;
      readonly children: readonly CohortNode[];
    }
  | {
      readonly kind: 'property';
      readonly isNegated: boolean;
      readonly filter: PersonFilter | PersonCreatedAtFilter;
    }
  | { readonly kind: 'cohort'; readonly isNegated: boolean; readonly cohortId: number }
  | { readonly kind: 'never'; readonly isNegated: boolean };

/** Stored values that evaluating a condition or a cohort may read. */
export interface StoredReads {
  /** Without `distinct_id`, which every request carries. */
  readonly personKeys: readonly string[];
  readonly needsPersonCreatedAt: boolean;
  readonly groupProperties: readonly { readonly index: number; readonly key: string }[];
  readonly staticCohortIds: readonly number[];
}

/** A cohort ready to be matched. */
export interface PreparedCohort {
  readonly id: number;
  readonly isStatic: boolean;
  readonly failure: FailureCode | null;
  /** null = static, or filters that cannot be read: nobody is a member by filters. */
  readonly root: CohortNode | null;
  readonly hasBehaviouralLeaf: boolean;
  readonly reads: StoredReads;
}

/** One condition set of a flag. */
export interface PreparedCondition {
  readonly index: number;
  /** Group type whose key is bucketed; null = person. */
  readonly groupTypeIndex: number | null;
  /** In the order of matching: cohort filters last. */
  readonly filters: readonly PreparedFilter[];
  /** Draws what the rollout is decided by; null = everyone is admitted. */
  readonly rolloutDraw: Draw | null;
  /** Admitted are hashes up to and including this share. */
  readonly rolloutShare: number;
  /** Position of the pinned variant, or -1. */
  readonly pinnedVariant: number;
  /** Draws the variant; null = the pinned one, or none. */
  readonly variantDraw: Draw | null;
  /** Whether the hash decides between being in and out. */
  readonly isRolloutPartial: boolean;
  /** Whether the hash decides between variants. */
  readonly isVariantSplit: boolean;
  readonly reads: StoredReads;
}

/** Variants with the running sum of their shares, in stored order. */
export interface PreparedVariants {
  readonly keys: readonly string[];
  readonly thresholds: readonly number[];
}

/** A holdout: the share of all subjects kept out of every flag that carries it. */
export interface PreparedHoldout {
  readonly variant: string;
  readonly isFull: boolean;
  readonly share: number;
}

/** The part of a flag that comes out of its filters. */
export interface PreparedRules {
  readonly conditions: readonly PreparedCondition[];
  readonly variants: PreparedVariants;
  readonly payloads: ReadonlyMap<string, JsonValue>;
  readonly holdout: PreparedHoldout | null;
  /** Person property that decides enrollment, or null when the flag has no enrollment. */
  readonly enrollmentKey: string | null;
  readonly hasEarlyExit: boolean;
  /** Flag-level aggregation; null = person. */
  readonly groupTypeIndex: number | null;
  /** Ids of the flags that the conditions refer to. */
  readonly dependencyIds: readonly number[];
  readonly targetsBehaviouralCohort: boolean;
}

/** Where a flag may be evaluated. */
export type FlagRuntime = 'all' | 'client' | 'server';

/** A flag ready to be evaluated. */
export interface PreparedFlag {
  readonly id: number;
  readonly key: string;
  readonly version: number;
  readonly definition: FlagDefinition;
  /** Index in definition order. */
  readonly position: number;
  /** Place in the order of evaluation: after everything that the flag depends on. */
  readonly rank: number;
  readonly isActive: boolean;
  readonly isSurveyTargeting: boolean;
  readonly runtime: FlagRuntime;
  readonly evaluationContexts: readonly string[];
  /** Part of a dependency cycle or downstream of one: never evaluated, never listed. */
  readonly isCyclic: boolean;
  /** Other flags read this one's outcome. */
  readonly informsDependents: boolean;
  /** Why the flag fails for every request; null = it can be evaluated. */
  readonly preparationFailure: 'flag_data_parsing_error' | 'missing_dependency' | null;
  readonly rules: PreparedRules;
  readonly isDeviceBucketed: boolean;
  /** Experience continuity is on and at least one person condition is bucketed by distinct id. */
  readonly isContinuityEffective: boolean;
  /** A hash can change the answer of at least one person condition. */
  readonly isHashSignificant: boolean;
  /** Continuity is effective and a stored override could change the answer. */
  readonly needsHashKeyOverride: boolean;
  /** Stored values that the flag can read. */
  readonly reads: StoredReads;
  /** Nothing stored can change this flag's answer, whatever the request says. */
  readonly readsNothingStored: boolean;
  readonly outcomes: Outcomes;
}

/** One project's definitions, prepared for evaluation; never changes. */
export interface Snapshot {
  readonly projectId: number;
  readonly revision: number;
  readonly timezone: string;
  readonly groupTypes: readonly GroupType[];
  readonly groupTypeNames: ReadonlyMap<number, string>;
  /** Every flag, inactive ones too, in definition order. */
  readonly flags: readonly PreparedFlag[];
  readonly flagsByKey: ReadonlyMap<string, PreparedFlag>;
  readonly flagsById: ReadonlyMap<number, PreparedFlag>;
  /** Active flags, each after the flags that it depends on. */
  readonly evaluationOrder: readonly PreparedFlag[];
  /** Whether `evaluationOrder` is also definition order. */
  readonly isDefinitionOrder: boolean;
  readonly cohorts: ReadonlyMap<number, PreparedCohort>;
  /** Active flags whose experience continuity is effective: the rows that an override writes. */
  readonly continuityFlagKeys: readonly string[];
  /** Active flags left out because their dependencies form a cycle. */
  readonly cyclicFlagKeys: readonly string[];
  /**
   * The person properties that flags read, where nothing else that is stored can change an answer;
   * null when something else can.
   */
  readonly personKeysRead: readonly string[] | null;
  readonly wallClock: WallClock;
}
