import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { aCohort, aContext } from '../builders.ts';
import { type DefinitionSet, definitionSets } from './definition-sets.ts';
import { describeDifference, isSameAnswer } from './difference.ts';
import {
  type Answers,
  createEngine,
  createFeedClient,
  type FeedClient,
  OFF,
  toOptions,
} from './evaluators.ts';
import { Tally } from './tally.ts';

/*
 * Burgee's engine against posthog-node's local evaluator, on the feed that Burgee serves. Both must
 * agree wherever the client decides by itself. What is not generated, because there the client is
 * known to differ from the server or because no such definition can be stored:
 *
 * | topic            | left out                                    | why                            |
 * | ---------------- | ------------------------------------------- | ------------------------------ |
 * | missing property | where it can change which value wins: flags | the client passes over the     |
 * |                  | with variants or early exit                 | condition, the server decides  |
 * | equality         | integers, under the same restriction        | the client cannot tell 1, 1.0  |
 * | gt, gte, lt, lte | what is no number                           | the client compares texts      |
 * | dates            | numbers, dates without zone, relative ones  | the client reads milliseconds  |
 * |                  | as property; project zones other than UTC   | and its process's own zone     |
 * | semver           | pre-releases, `V`, leading zeros, more than | the client drops or refuses    |
 * |                  | three numbers, `1.2.3.*`                    | them                           |
 * | regex            | vertical tabs, counts over a thousand       | dialects differ                |
 * | substrings       | arrays and objects as property              | the client writes no JSON      |
 * | identifiers      | empty ones; group keys that are no text     | the server hashes "" as 0      |
 * | holdout          | above 90%                                   | a missing group has the empty  |
 * |                  |                                             | identifier                     |
 * | enrollment       | all                                         | the client ignores it          |
 * | continuity,      | as dependency of flags with variants or     | inconclusive, see missing      |
 * | device id        | early exit                                  | property                       |
 * | aggregation      | conditions that differ from a group flag's  | the client expects overrides   |
 * |                  | own group type                              | in flags on persons only       |
 * | cohorts          | groups beside filters, negated groups; leaf | the client looks at the first  |
 * |                  | types other than person and cohort where    | child only; events are the     |
 * |                  | variants or early exit are                  | server's business              |
 * | references       | to nothing, in circles                      | refused on write               |
 * | payloads         | none; those that are falsy count as absent  | the client drops them          |
 *
 * Null properties and boolean-like equality used to differ as well; with this client they agree and
 * are generated.
 */

const SEED = Number(process.env.DIFFERENTIAL_SEED ?? 20_260_115);
const SETS = Number(process.env.DIFFERENTIAL_SETS ?? 60);
const LEAST_KEPT = 5_000;
const LEAST_KEPT_PER_PART = 50;
/** Of the flags that consist of this one filter, how many must be on and off. */
const LEAST_DECIDED = 3;

const OPERATORS = [
  ...['exact', 'is_not', 'icontains', 'not_icontains', 'regex', 'not_regex', 'gt', 'gte', 'lt'],
  ...['lte', 'is_date_before', 'is_date_after', 'semver_eq', 'semver_neq', 'semver_gt', 'in'],
  ...['semver_gte', 'semver_lt', 'semver_lte', 'semver_tilde', 'semver_caret', 'semver_wildcard'],
  ...['not_in', 'starts_with', 'not_starts_with', 'ends_with', 'not_ends_with'],
  'flag_evaluates_to',
];
const FEATURES = [
  ...['is_set', 'is_not_set', 'inactive', 'device bucketing', 'group flag', 'group condition'],
  ...['variants', 'variant override', 'payloads', 'holdout', 'early exit', 'fractional rollout'],
];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  // The client warns about every flag that it leaves to the server.
  vi.spyOn(console, 'warn').mockReturnValue();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('answers as posthog-node does from the served definitions', { timeout: 120_000 }, async () => {
  const tally = new Tally();
  for (const [index, set] of fc.sample(definitionSets, { seed: SEED, numRuns: SETS }).entries()) {
    vi.setSystemTime(set.now);
    const feed = await createFeedClient(set);
    const engine = createEngine(set);
    for (const [at, subject] of set.subjects.entries()) {
      const ours = engine(subject);
      const theirs = await feed.evaluate(subject);
      const where = `seed ${SEED}, set ${index}`;
      await compare({ set, subject, ours, theirs, tally, where });
      if (at === 0) await compareGetters(set, subject, theirs, feed);
    }
    expect(feed.errors).toEqual([]);
    await feed.client.shutdown();
  }
  process.stdout.write(`differential, seed ${SEED}: ${tally.report()}\n`);
  expect(tally.kept).toBeGreaterThanOrEqual(LEAST_KEPT);
  for (const part of [...OPERATORS, ...FEATURES]) {
    expect(tally.count(part).kept, part).toBeGreaterThan(LEAST_KEPT_PER_PART);
  }
  for (const operator of OPERATORS) {
    const { on, off } = tally.count(operator);
    expect(Math.min(on, off), `${operator}, both answers`).toBeGreaterThan(LEAST_DECIDED);
  }
});

// It has no members, but an empty cohort in the feed would mean everyone to the client.
it('leaves a cohort without filters to the server', async () => {
  const [drawn] = fc.sample(definitionSets, { seed: 1, numRuns: 1 });
  const flag = drawn?.flags.find(
    (each) =>
      each.active && !each.ensureExperienceContinuity && each.bucketingIdentifier !== 'device_id',
  );
  if (drawn === undefined || flag === undefined) throw new Error('Nothing was generated.');
  const property = { key: 'id', type: 'cohort', value: 1, operator: 'in' };
  const filters = { groups: [{ properties: [property], rollout_percentage: 100 }] };
  const set = {
    ...drawn,
    evaluationContexts: [],
    flags: [{ ...flag, filters, evaluationTags: [] }],
    cohorts: [aCohort({ filters: { properties: {} } })],
  };
  expect(createEngine(set)(aContext()).get(flag.key)).toEqual(OFF);
  const feed = await createFeedClient(set);
  const answers = await feed.evaluate(aContext());
  await feed.client.shutdown();
  expect(answers.get(flag.key)).toBeUndefined();
});

interface Comparison {
  readonly set: DefinitionSet;
  readonly subject: DefinitionSet['subjects'][number];
  readonly ours: Answers;
  readonly theirs: Answers;
  readonly tally: Tally;
  readonly where: string;
}

/** Fails on the first flag that the two answer differently; counts the rest. */
async function compare({ set, subject, ours, theirs, tally, where }: Comparison): Promise<void> {
  for (const flag of set.flags) {
    const answer = theirs.get(flag.key);
    if (isOtherContext(set, flag.evaluationTags)) {
      expect([ours.get(flag.key), answer], `${flag.key} is left out`).toEqual([
        undefined,
        undefined,
      ]);
    } else if (answer === undefined) {
      expect(set.decidableKeys, `${flag.key} is decided, ${where}`).not.toContain(flag.key);
      tally.inconclusive += 1;
    } else {
      // An inactive flag is false for the client, and not among the outcomes.
      const own = flag.active ? ours.get(flag.key) : OFF;
      expect(own, `${flag.key} has an outcome`).toBeDefined();
      if (own === undefined || isSameAnswer(own, answer)) tally.keep(flag, answer);
      else {
        const difference = { set, flag, subject, ours: own, theirs: answer };
        throw new Error(`Different answers, ${where}:\n${await describeDifference(difference)}`);
      }
    }
  }
}

function isOtherContext(set: DefinitionSet, contexts: readonly string[]): boolean {
  if (contexts.length === 0 || set.evaluationContexts.length === 0) return false;
  return !contexts.some((name) => set.evaluationContexts.includes(name));
}

/** One flag at a time the client says the same as for all at once. */
async function compareGetters(
  { flags }: DefinitionSet,
  subject: DefinitionSet['subjects'][number],
  theirs: Answers,
  { client }: FeedClient,
): Promise<void> {
  for (const { key } of flags) {
    const options = { ...toOptions(subject), sendFeatureFlagEvents: false };
    const value = await client.getFeatureFlag(key, subject.distinctId, options);
    const payload = await client.getFeatureFlagPayload(key, subject.distinctId, value, options);
    const { value: expected, payload: kept } = theirs.get(key) ?? {
      value: undefined,
      payload: null,
    };
    expect([key, value, payload || null]).toEqual([key, expected, kept]);
  }
}
