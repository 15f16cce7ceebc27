import type { JsonObject, JsonValue } from '../../common/json.ts';
import type { EvaluationContext, StoredData } from '../model/context.ts';
import type { FailureCode } from '../model/reasons.ts';
import type { Outcome, PersonFilter, Snapshot } from '../model/snapshot.ts';
import type { DateClock } from '../values/relative-date.ts';
import type { WallClock } from '../values/wall-clock.ts';

/** Stands for a stored value that could not be read. */
export const UNAVAILABLE = Symbol('unavailable');

/** A property's value; undefined = the subject lacks it. */
export type PropertyValue = JsonValue | undefined | typeof UNAVAILABLE;

/** Answers of a matcher. Unknown = it depends on something that this request cannot know. */
export const MISS = 0;
export const MATCH = 1;
export const UNKNOWN = 2;
export type Verdict = typeof MISS | typeof MATCH | typeof UNKNOWN;

/** The verdict for a plain answer. */
export function toVerdict(isMatch: boolean): Verdict {
  return isMatch ? MATCH : MISS;
}

/** The opposite verdict; what is unknown stays unknown. */
export function negate(verdict: Verdict): Verdict {
  if (verdict === UNKNOWN) return UNKNOWN;
  return verdict === MATCH ? MISS : MATCH;
}

interface GroupView {
  /** null = the request names no usable group of this type. */
  readonly key: string | null;
  readonly overrides: JsonObject | undefined;
}

/**
 * One request as the matchers see it: properties merged in order of precedence, group keys, and
 * what was already found out. Lives for one call of `evaluateFlags`.
 */
export class RequestView implements DateClock {
  readonly snapshot: Snapshot;
  readonly context: EvaluationContext;
  readonly nowMs: number;
  readonly wallClock: WallClock;
  readonly isStoredUnavailable: boolean;
  /** Why the latest unknown verdict is unknown. */
  doubtCause: FailureCode = 'database_unavailable';
  /** Set by a filter that fails its whole flag. */
  failure: FailureCode | null = null;
  readonly #stored: StoredData | null;
  readonly #person: JsonObject | undefined;
  readonly #groups: (GroupView | undefined)[] = [];
  // Most requests need none of these.
  #resolved: Map<string, number | null> | null = null;
  #cohortVerdicts: Map<number, Verdict> | null = null;
  #dependencyOutcomes: Map<number, Outcome> | null = null;

  constructor(snapshot: Snapshot, context: EvaluationContext, now: Date) {
    this.snapshot = snapshot;
    this.context = context;
    this.nowMs = now.getTime();
    this.wallClock = snapshot.wallClock;
    this.isStoredUnavailable = context.stored === 'unavailable';
    this.#stored = context.stored === 'unavailable' ? null : context.stored;
    this.#person = this.#stored?.person?.properties;
  }

  get resolved(): Map<string, number | null> {
    this.#resolved ??= new Map();
    return this.#resolved;
  }

  /** Cohorts matched so far. */
  get cohortVerdicts(): Map<number, Verdict> {
    this.#cohortVerdicts ??= new Map();
    return this.#cohortVerdicts;
  }

  /** Outcomes so far of flags that others depend on. */
  get dependencyOutcomes(): Map<number, Outcome> {
    this.#dependencyOutcomes ??= new Map();
    return this.#dependencyOutcomes;
  }

  /** A person property by precedence: request, `distinct_id`, stored, derived. */
  readPerson(filter: Pick<PersonFilter, 'key' | 'fallbackKeys'>): PropertyValue {
    const value = this.#readMerged(filter.key);
    // What is stored under the key itself would win over a derived value, so unknown stays unknown.
    if (value !== undefined) return value;
    for (const key of filter.fallbackKeys) {
      const fallback = this.#readMerged(key);
      if (fallback !== undefined) return fallback;
    }
    return undefined;
  }

  /** When the person's row was created, RFC 3339; undefined without a row. */
  readPersonCreatedAt(): PropertyValue {
    if (this.isStoredUnavailable) return UNAVAILABLE;
    const createdAt = this.#stored?.person?.createdAt;
    return createdAt === undefined || Number.isNaN(createdAt.getTime())
      ? undefined
      : createdAt.toISOString();
  }

  /** A property of the request's group of this type; without a group only what the request sent. */
  readGroup(index: number, key: string): PropertyValue {
    const group = this.#group(index);
    if (key === '$group_key' && group.key !== null) return group.key;
    const sent = readOwn(group.overrides, key);
    if (sent !== undefined || group.key === null) return sent;
    return this.isStoredUnavailable ? UNAVAILABLE : readOwn(this.#stored?.groups.get(index), key);
  }

  /** The group key for this type; null when the request has none that can be used. */
  groupKey(index: number): string | null {
    return this.#group(index).key;
  }

  /** Whether the person is listed in a static cohort; unknown persons are not. */
  matchStaticCohort(cohortId: number): Verdict {
    if (this.isStoredUnavailable) return this.doubt('database_unavailable');
    return toVerdict(this.#stored?.staticCohortIds.has(cohortId) === true);
  }

  /** The identifier kept for this flag by experience continuity, if any. */
  readHashKeyOverride(flagKey: string): string | undefined {
    return this.#stored?.hashKeyOverrides.get(flagKey);
  }

  /** Notes why a verdict is unknown. */
  doubt(cause: FailureCode): typeof UNKNOWN {
    this.doubtCause = cause;
    return UNKNOWN;
  }

  #readMerged(key: string): PropertyValue {
    const sent = readOwn(this.context.personProperties, key);
    if (sent !== undefined) return sent;
    if (key === 'distinct_id') return this.context.distinctId;
    return this.isStoredUnavailable ? UNAVAILABLE : readOwn(this.#person, key);
  }

  #group(index: number): GroupView {
    const known = this.#groups[index];
    if (known !== undefined) return known;
    const made = readGroupView(this.snapshot, this.context, index);
    this.#groups[index] = made;
    return made;
  }
}

/** The usable key of a request's group: a non-empty string, or a number as its JSON text. */
export function readGroupKey(
  snapshot: Snapshot,
  context: EvaluationContext,
  index: number,
): string | null {
  const name = snapshot.groupTypeNames.get(index);
  const value = name === undefined ? undefined : readOwn(context.groups, name);
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' ? JSON.stringify(value) : null;
}

/** Properties that the request sent for a group type. */
export function readGroupOverrides(
  snapshot: Snapshot,
  context: EvaluationContext,
  index: number,
): JsonObject | undefined {
  const name = snapshot.groupTypeNames.get(index);
  if (name === undefined || !Object.hasOwn(context.groupProperties, name)) return undefined;
  return context.groupProperties[name];
}

/** A key of the object itself: names such as `constructor` must not be found on its prototype. */
export function readOwn(object: JsonObject | undefined, key: string): JsonValue | undefined {
  if (object === undefined) return undefined;
  const value = object[key];
  return value !== undefined && Object.hasOwn(object, key) ? value : undefined;
}

function readGroupView(snapshot: Snapshot, context: EvaluationContext, index: number): GroupView {
  return {
    key: readGroupKey(snapshot, context, index),
    overrides: readGroupOverrides(snapshot, context, index),
  };
}
