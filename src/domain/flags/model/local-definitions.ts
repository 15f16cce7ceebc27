import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import type { CohortDefinition } from '../../evaluation/model/definitions.ts';
import { conditionsOf, propertiesOf } from './flag.ts';
import type { FeatureFlag } from './flag-fields.ts';

/** What an SDK needs of a project in order to evaluate its flags by itself. */
export interface LocalDefinitions {
  readonly flags: readonly { readonly flag: FeatureFlag; readonly filters: JsonObject }[];
  /** The filters of dynamic cohorts by id; empty unless cohorts are sent. */
  readonly cohorts: Readonly<Record<string, JsonObject>>;
}

/**
 * The flags as SDKs evaluate them: dependencies named by key, with the chain of keys to evaluate
 * before. With `sendCohorts` every dynamic cohort that a flag refers to is included, those inside
 * other cohorts too; without, a condition on one simple cohort is spelled out instead.
 */
export function buildLocalDefinitions(
  flags: readonly FeatureFlag[],
  cohorts: readonly CohortDefinition[],
  sendCohorts: boolean,
): LocalDefinitions {
  const flagsById = new Map(flags.map((flag) => [String(flag.id), flag]));
  const cohortsById = new Map(cohorts.map((cohort) => [cohort.id, cohort]));
  const chains = new Map<string, readonly string[]>();
  const chainOf = (id: string) => {
    let chain = chains.get(id);
    if (chain === undefined) {
      chain = findDependencyChain(id, flagsById) ?? [];
      chains.set(id, chain);
    }
    return chain;
  };
  const local = flags
    .filter((flag) => !flag.hasEncryptedPayloads)
    .map((flag) => {
      const filters = sendCohorts ? flag.filters : spellOutCohort(flag.filters, cohortsById);
      return { flag, filters: nameDependencies(filters, flagsById, chainOf) };
    });
  return { flags: local, cohorts: sendCohorts ? collectCohorts(flags, cohortsById) : {} };
}

type FlagsById = ReadonlyMap<string, FeatureFlag>;
type CohortsById = ReadonlyMap<number, CohortDefinition>;

/** The keys to evaluate for a flag, itself last; null when one is missing or they form a cycle. */
function findDependencyChain(id: string, flagsById: FlagsById): readonly string[] | null {
  const chain: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const visit = (current: string): boolean => {
    if (state.get(current) === 'done') return true;
    const flag = flagsById.get(current);
    if (flag === undefined || state.get(current) === 'open') return false;
    state.set(current, 'open');
    if (!dependencyIds(flag.filters).every(visit)) return false;
    state.set(current, 'done');
    chain.push(flag.key);
    return true;
  };
  return visit(id) ? chain : null;
}

function dependencyIds(filters: JsonObject): string[] {
  return conditionsOf(filters)
    .flatMap(propertiesOf)
    .filter((property) => property.type === 'flag')
    .map((property) => String(property.key));
}

function nameDependencies(
  filters: JsonObject,
  flagsById: FlagsById,
  chainOf: (id: string) => readonly string[],
): JsonObject {
  if (dependencyIds(filters).length === 0) return filters;
  return mapProperties(filters, (property) => {
    if (property.type !== 'flag') return property;
    const id = String(property.key);
    const key = flagsById.get(id)?.key ?? id;
    return { ...property, key, dependency_chain: chainOf(id) };
  });
}

/** The filters with each property of each condition replaced. */
function mapProperties(
  filters: JsonObject,
  replace: (property: JsonObject) => JsonValue,
): JsonObject {
  if (!Array.isArray(filters.groups)) return filters;
  const groups = filters.groups.map((condition: JsonValue) => {
    if (!isJsonObject(condition) || !Array.isArray(condition.properties)) return condition;
    const properties = condition.properties.map((property: JsonValue) =>
      isJsonObject(property) ? replace(property) : property,
    );
    return { ...condition, properties };
  });
  return { ...filters, groups };
}

/**
 * The filters with a condition on one cohort replaced by that cohort's own filters, where that
 * means the same: the flag has this one cohort, alone in its condition, and no variant overrides,
 * and the cohort is one list of filters on the person, none of them negated.
 */
function spellOutCohort(filters: JsonObject, cohortsById: CohortsById): JsonObject {
  const conditions = conditionsOf(filters);
  const hasOverride = conditions.some((condition) => (condition.variant ?? null) !== null);
  const referring = conditions.filter((condition) => cohortIdsOf(condition).length > 0);
  const [condition] = referring;
  if (hasOverride || referring.length !== 1 || condition === undefined) return filters;
  const [property, ...others] = propertiesOf(condition);
  if (property === undefined || others.length > 0) return filters;
  if ((property.operator ?? 'in') !== 'in' || property.negation === true) return filters;
  const cohort = cohortsById.get(Number(property.value));
  const leaves = cohort === undefined || cohort.isStatic ? null : personLeaves(cohort);
  if (leaves === null || !Array.isArray(filters.groups)) return filters;
  const groups = filters.groups.map((group: JsonValue) =>
    group === condition ? { ...condition, properties: leaves } : group,
  );
  return { ...filters, groups };
}

/** The filters of a cohort that asks for all of them, or null when it is not that simple. */
function personLeaves(cohort: CohortDefinition): JsonValue[] | null {
  const root = cohort.filters?.properties;
  const leaves: JsonValue[] = [];
  const collect = (node: JsonValue | undefined): boolean => {
    if (!isJsonObject(node)) return false;
    if (Array.isArray(node.values)) {
      const isAll = node.type === 'AND' || node.type === 'property' || node.values.length === 1;
      return isAll && node.values.length > 0 && node.values.every(collect);
    }
    if (node.type !== 'person' || node.negation === true) return false;
    leaves.push(node);
    return true;
  };
  return collect(root) ? leaves : null;
}

function cohortIdsOf(condition: JsonObject): number[] {
  return propertiesOf(condition)
    .filter((property) => property.type === 'cohort')
    .map((property) => Number(property.value));
}

function collectCohorts(
  flags: readonly FeatureFlag[],
  cohortsById: CohortsById,
): Record<string, JsonObject> {
  const collected: Record<string, JsonObject> = {};
  const pending = flags.flatMap((flag) => conditionsOf(flag.filters).flatMap(cohortIdsOf));
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const cohort = cohortsById.get(id);
    // SDKs ask the server about a cohort that is absent, as they must about a static one.
    if (cohort === undefined || cohort.isStatic || String(id) in collected) continue;
    const properties = cohort.filters?.properties;
    // An SDK reads a group that it does not understand as "everybody", where Burgee says nobody.
    if (!isJsonObject(properties) || !isCohortGroup(properties)) continue;
    collected[String(id)] = properties;
    pending.push(...nestedCohortIds(properties));
  }
  return collected;
}

const GROUP_TYPES: ReadonlySet<JsonValue | undefined> = new Set(['AND', 'OR', 'property']);

function isCohortGroup(properties: JsonObject): boolean {
  return GROUP_TYPES.has(properties.type) && Array.isArray(properties.values);
}

function nestedCohortIds(node: JsonValue): number[] {
  if (!isJsonObject(node)) return [];
  if (node.type === 'cohort') return [Number(node.value)];
  return Array.isArray(node.values) ? node.values.flatMap(nestedCohortIds) : [];
}
