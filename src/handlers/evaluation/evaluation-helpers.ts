import { isJsonObject, type JsonObject } from '../../domain/common/json.ts';
import { invalidField, notFound } from '../../domain/common/refusal.ts';
import type { EvaluationContext } from '../../domain/evaluation/model/context.ts';
import type { Outcome } from '../../domain/evaluation/model/snapshot.ts';
import type { FeatureFlag } from '../../domain/flags/model/flag-fields.ts';
import { evaluateSubject } from '../../domain/snapshots/evaluate-subject.ts';
import type { Handlers } from '../../operations/operation.ts';
import { toCompactFlagBody } from '../common/compact-flag-body.ts';
import type { EvaluationHandlersContext } from './evaluation.ts';
import { flagValue } from './evaluation-shape.ts';

type HelperHandlers = Pick<Handlers, 'getEvaluationReasons' | 'listMyFlags'>;

/** The operations with which people look at what flags decide. */
export function createEvaluationHelperHandlers(context: EvaluationHandlersContext): HelperHandlers {
  async function outcomesFor(projectId: number, distinctId: string, groups: JsonObject) {
    const served = await context.snapshots.getByProjectId(projectId);
    if (served === undefined) throw notFound('Project not found.');
    const request = subjectOf(distinctId, groups);
    const { outcomes } = await evaluateSubject(context, served, request, {
      now: context.now(),
      isReadOnly: true,
    });
    return { served, outcomes: new Map(outcomes.map((outcome) => [outcome.flag.key, outcome])) };
  }

  return {
    async getEvaluationReasons({ query, access, reply }) {
      const groups = parseGroups(query.groups);
      const isWanted = parseFlagKeys(query.flag_keys);
      const found = await outcomesFor(access.projectId, query.distinct_id, groups);
      const flags = found.served.flags.filter(isWanted);
      return reply(200, describeReasons(flags, found.outcomes));
    },

    async listMyFlags({ query, access, reply }) {
      const { caller } = access;
      if (caller.kind !== 'user') throw new Error('Only users have flags of their own.');
      const groups = parseGroups(query.groups);
      const isWanted = parseFlagKeys(query.flag_keys);
      const found = await outcomesFor(access.projectId, caller.user.distinctId, groups);
      const newestFirst = found.served.flags
        .filter((flag) => !flag.hasEncryptedPayloads && isWanted(flag))
        .toSorted(byAge);
      return reply(
        200,
        newestFirst.map((flag) => ({
          feature_flag: toCompactFlagBody(flag),
          value: flagValue(found.outcomes.get(flag.key)),
        })),
      );
    },
  };
}

function byAge(left: FeatureFlag, right: FeatureFlag): number {
  return right.createdAt.getTime() - left.createdAt.getTime() || right.id - left.id;
}

/** A person who looks at flags sees those of every runtime and context. */
function subjectOf(distinctId: string, groups: JsonObject): EvaluationContext {
  return {
    distinctId,
    deviceId: null,
    anonDistinctId: null,
    personProperties: {},
    groups,
    groupProperties: {},
    runtime: 'all',
    evaluationContexts: [],
    stored: null,
  };
}

function parseGroups(text: string | undefined): JsonObject {
  let groups: unknown;
  try {
    groups = JSON.parse(text ?? '{}');
  } catch {
    throw invalidField('groups', 'Invalid JSON in groups parameter');
  }
  if (!isJsonObject(groups)) throw invalidField('groups', 'groups must be a JSON object');
  return groups;
}

const FLAG_KEY = /^[a-zA-Z0-9_-]+$/;

/** Tells the flags that are asked for: all of them when no key is given. */
function parseFlagKeys(text: string | undefined): (flag: FeatureFlag) => boolean {
  if (text === undefined || text === '') return () => true;
  const keys = new Set(FLAG_KEY.test(text) ? [text] : parseKeyList(text));
  return ({ key }) => keys.has(key);
}

function parseKeyList(text: string): readonly unknown[] {
  let keys: unknown;
  try {
    keys = JSON.parse(text);
  } catch {
    throw invalidField('flag_keys', 'Invalid JSON in flag_keys parameter');
  }
  if (!Array.isArray(keys)) throw invalidField('flag_keys', 'flag_keys must be a JSON array');
  // A parameter that is repeated may be a list each time.
  return keys.flatMap((key: unknown) =>
    typeof key === 'string' && key.startsWith('[') ? parseKeyList(key) : [key],
  );
}

interface ExplainedValue {
  readonly value: boolean | string;
  readonly evaluation: {
    readonly reason: string;
    readonly condition_index: number | null;
    readonly description?: string;
  };
}

function describeReasons(flags: readonly FeatureFlag[], outcomes: ReadonlyMap<string, Outcome>) {
  const reasons = new Map<string, ExplainedValue>();
  for (const flag of flags) {
    const outcome = outcomes.get(flag.key);
    if (!flag.active) {
      reasons.set(flag.key, {
        value: false,
        evaluation: { reason: 'disabled', condition_index: null },
      });
    } else if (outcome !== undefined) {
      reasons.set(flag.key, {
        value: flagValue(outcome),
        evaluation: {
          reason: outcome.reason,
          condition_index: outcome.conditionIndex,
          description: outcome.description,
        },
      });
    }
  }
  return Object.fromEntries(reasons);
}
