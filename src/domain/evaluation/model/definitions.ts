import type { JsonObject, JsonValue } from '../../common/json.ts';

/** One flag as stored. Deleted flags and flags with encrypted payloads are never handed in. */
export interface FlagDefinition {
  readonly id: number;
  readonly key: string;
  readonly version: number;
  readonly active: boolean;
  readonly filters: JsonObject;
  readonly ensureExperienceContinuity: boolean;
  readonly bucketingIdentifier: string;
  readonly evaluationRuntime: string;
  readonly evaluationContexts: readonly string[];
}

/** One cohort as stored: dynamic by its filters (or old-style groups), static by its member list. */
export interface CohortDefinition {
  readonly id: number;
  readonly name: string;
  readonly isStatic: boolean;
  readonly cohortType: string | null;
  readonly filters: JsonObject | null;
  readonly groups: JsonValue;
}

/** A kind of group; flags refer to it by index, requests by name. */
export interface GroupType {
  readonly index: number;
  readonly name: string;
}

/** Everything stored of one project that evaluation depends on. */
export interface ProjectDefinitions {
  readonly projectId: number;
  readonly revision: number;
  /** IANA name; naive and relative dates are read on this zone's wall clock. */
  readonly timezone: string;
  readonly groupTypes: readonly GroupType[];
  readonly flags: readonly FlagDefinition[];
  readonly cohorts: readonly CohortDefinition[];
}

/** A compiled regular expression: an unanchored, case-sensitive search. */
export interface CompiledPattern {
  test(text: string): boolean;
}

/** Compiles a pattern of a `regex` filter; null when it cannot be compiled. */
export type CompilePattern = (pattern: string) => CompiledPattern | null;
