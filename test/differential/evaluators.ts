import { PostHog } from 'posthog-node';
import { isJson, type JsonObject, type JsonValue } from '../../src/domain/common/json.ts';
import { evaluateFlags } from '../../src/domain/evaluation/match/evaluate-flags.ts';
import type { EvaluationContext } from '../../src/domain/evaluation/model/context.ts';
import { prepareSnapshot } from '../../src/domain/evaluation/prepare/prepare.ts';
import { buildLocalDefinitions } from '../../src/domain/flags/model/local-definitions.ts';
import { compilePattern } from '../../src/domain/targeting/patterns.ts';
import { toCompactFlagBody } from '../../src/handlers/common/compact-flag-body.ts';
import { aProject } from '../builders.ts';
import type { DefinitionSet } from './definition-sets.ts';
import { GROUP_TYPES } from './flag-drafts.ts';

/** One evaluator's answer for one flag. */
export interface Answer {
  readonly value: boolean | string;
  readonly payload: JsonValue;
}

/** Answers by flag key; a flag without one was left out or left to the server. */
export type Answers = ReadonlyMap<string, Answer>;

export const OFF: Answer = { value: false, payload: null };

type Definitions = Pick<DefinitionSet, 'flags' | 'cohorts' | 'now' | 'evaluationContexts'>;

/** Burgee's engine on the prepared definitions. */
export function createEngine(set: Definitions): (subject: EvaluationContext) => Answers {
  const snapshot = prepareSnapshot(
    aProject({
      groupTypes: GROUP_TYPES.map((name, index) => ({ index, name })),
      flags: set.flags.map((flag) => ({ ...flag, evaluationContexts: flag.evaluationTags })),
      cohorts: set.cohorts,
    }),
    compilePattern,
  );
  return (subject) => {
    const { outcomes } = evaluateFlags(snapshot, subject, { now: set.now });
    return new Map(
      outcomes.map(({ flag, enabled, variant, payload }): [string, Answer] => [
        flag.key,
        enabled ? { value: variant ?? true, payload: readPayload(payload) } : OFF,
      ]),
    );
  };
}

/** A payload as clients read it: JSON text is parsed, and what is then or before empty is none. */
function readPayload(stored: JsonValue | undefined): JsonValue {
  if (typeof stored !== 'string' || stored === '') return stored || null;
  const parsed: unknown = JSON.parse(stored);
  return isJson(parsed) ? parsed || null : null;
}

/** The feed that Burgee serves for local evaluation. */
function toFeed(set: Definitions): JsonValue {
  const { flags, cohorts } = buildLocalDefinitions(set.flags, set.cohorts, true);
  return {
    flags: flags.map(({ flag, filters }): JsonObject => ({ ...toCompactFlagBody(flag), filters })),
    group_type_mapping: Object.fromEntries(GROUP_TYPES.map((name, index) => [index, name])),
    cohorts,
  };
}

/** posthog-node with the feed loaded; everything that it sends besides fails. */
export interface FeedClient {
  readonly client: PostHog;
  readonly errors: readonly unknown[];
  evaluate(subject: EvaluationContext): Promise<Answers>;
}

export async function createFeedClient(set: Definitions): Promise<FeedClient> {
  const body = JSON.stringify(toFeed(set));
  const errors: unknown[] = [];
  const client = new PostHog('phc_differential', {
    personalApiKey: 'phx_differential',
    host: 'http://burgee.invalid',
    featureFlagsPollingInterval: null,
    evaluationContexts: set.evaluationContexts,
    strictLocalEvaluation: true,
    fetch: async (url) => {
      if (!url.startsWith('http://burgee.invalid/flags/definitions?')) {
        throw new Error(`Unexpected request: ${url}`);
      }
      return { status: 200, text: async () => body, json: async () => JSON.parse(body) };
    },
  });
  client.on('error', (error: unknown) => errors.push(error));
  await client.reloadFeatureFlags();
  return {
    client,
    errors,
    async evaluate(subject) {
      const { featureFlags = {}, featureFlagPayloads = {} } = await client.getAllFlagsAndPayloads(
        subject.distinctId,
        toOptions(subject),
      );
      return new Map(
        Object.entries(featureFlags).map(([key, value]): [string, Answer] => [
          key,
          { value, payload: featureFlagPayloads[key] ?? null },
        ]),
      );
    },
  };
}

/** The subject as the client is told of it. */
export function toOptions(subject: EvaluationContext) {
  const groups: Record<string, string> = {};
  for (const [name, key] of Object.entries(subject.groups)) groups[name] = String(key);
  return {
    groups,
    personProperties: { ...subject.personProperties },
    groupProperties: { ...subject.groupProperties },
    onlyEvaluateLocally: true,
  };
}
