import type { JsonObject } from '../../src/domain/common/json.ts';
import type { EvaluationContext } from '../../src/domain/evaluation/model/context.ts';
import { conditionsOf, propertiesOf } from '../../src/domain/flags/model/flag.ts';
import type { FeatureFlag } from '../../src/domain/flags/model/flag-fields.ts';
import type { DefinitionSet } from './definition-sets.ts';
import { type Answer, createEngine, createFeedClient, OFF } from './evaluators.ts';

/** A case that the two evaluators answer differently. */
export interface Difference {
  readonly set: DefinitionSet;
  readonly flag: FeatureFlag;
  readonly subject: EvaluationContext;
  readonly ours: Answer;
  readonly theirs: Answer;
}

export function isSameAnswer(left: Answer, right: Answer): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** The difference with everything left out that it does not need, as text. */
export async function describeDifference(found: Difference): Promise<string> {
  const { set, flag, subject, ours, theirs } = await reduce(withoutBystanders(found));
  const definitions = JSON.stringify([set.flags.map(({ filters }) => filters), set.cohorts]);
  const isRead = ([key]: [string, unknown]) => definitions.includes(JSON.stringify(key));
  const readOnly = (properties: JsonObject) =>
    Object.fromEntries(Object.entries(properties).filter(isRead));
  const { distinctId, deviceId, groups } = subject;
  return [
    `flag: ${describeFlag(flag)}`,
    ...set.flags.filter((other) => other !== flag).map((other) => `with: ${describeFlag(other)}`),
    ...set.cohorts.map((cohort) => `cohort: ${JSON.stringify(cohort)}`),
    `now: ${set.now.toISOString()}, evaluation contexts: ${JSON.stringify(set.evaluationContexts)}`,
    `subject: ${JSON.stringify({ distinctId, deviceId, groups })}`,
    `person properties: ${JSON.stringify(readOnly(subject.personProperties))}`,
    ...Object.entries(subject.groupProperties).map(
      ([name, properties]) => `${name} properties: ${JSON.stringify(readOnly(properties))}`,
    ),
    `Burgee: ${JSON.stringify(ours)}`,
    `posthog-node: ${JSON.stringify(theirs)}`,
  ].join('\n');
}

function describeFlag(flag: FeatureFlag): string {
  const { id, key, active, bucketingIdentifier, evaluationTags, filters } = flag;
  return JSON.stringify({ id, key, active, bucketingIdentifier, evaluationTags, filters });
}

/** Only the flag, what it depends on, and the cohorts that these name. */
function withoutBystanders(found: Difference): Difference {
  const { set, flag } = found;
  const needed = new Set([flag]);
  for (const each of needed) {
    for (const { type, key } of conditionsOf(each.filters).flatMap(propertiesOf)) {
      const target = set.flags.find(({ id }) => type === 'flag' && String(id) === key);
      if (target !== undefined) needed.add(target);
    }
  }
  const flags = set.flags.filter((each) => needed.has(each));
  const cohorts = new Set(set.cohorts.filter(({ id }) => isNamed(id, flags)));
  for (const each of cohorts) {
    for (const other of set.cohorts) if (isNamed(other.id, each.filters)) cohorts.add(other);
  }
  return { ...found, set: { ...set, flags, cohorts: [...cohorts] } };
}

function isNamed(cohortId: number, place: unknown): boolean {
  return JSON.stringify(place).includes(`"type":"cohort","value":${cohortId}`);
}

/** Leaves out one part of the flag after the other for as long as the answers still differ. */
async function reduce(found: Difference): Promise<Difference> {
  for (const filters of simplerFilters(found.flag.filters)) {
    const flag = { ...found.flag, filters };
    const flags = found.set.flags.map((each) => (each === found.flag ? flag : each));
    const simpler = await check({ ...found, flag, set: { ...found.set, flags } });
    if (simpler !== null) return reduce(simpler);
  }
  return found;
}

/** The case evaluated anew; null when both agree or the client leaves it to the server. */
async function check(found: Difference): Promise<Difference | null> {
  const ours = createEngine(found.set)(found.subject).get(found.flag.key) ?? OFF;
  const feed = await createFeedClient(found.set);
  const theirs = (await feed.evaluate(found.subject)).get(found.flag.key);
  await feed.client.shutdown();
  if (theirs === undefined || isSameAnswer(ours, theirs)) return null;
  return { ...found, ours, theirs };
}

function* simplerFilters(filters: JsonObject): Generator<JsonObject> {
  const conditions = conditionsOf(filters);
  for (const [at, condition] of conditions.entries()) {
    yield { ...filters, groups: conditions.filter((each) => each !== condition) };
    const replace = (simpler: JsonObject) => ({ ...filters, groups: conditions.with(at, simpler) });
    const properties = propertiesOf(condition);
    for (const property of properties) {
      yield replace({ ...condition, properties: properties.filter((each) => each !== property) });
    }
    if (condition.rollout_percentage !== 100)
      yield replace({ ...condition, rollout_percentage: 100 });
  }
  for (const key of Object.keys(filters)) {
    if (key === 'groups') continue;
    const { [key]: _dropped, ...rest } = filters;
    yield rest;
  }
}
