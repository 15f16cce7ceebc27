import { DomainError } from '../domain/errors.ts';
import type { Evaluation } from '../domain/evaluation/evaluate-flags.ts';
import { evaluateSubject, type SubjectEvaluation } from '../domain/snapshots/evaluate-subject.ts';
import type { ServedProject } from '../domain/snapshots/load-definitions.ts';
import type { SnapshotStore } from '../domain/snapshots/snapshot-store.ts';
import type { RequestUsage } from '../domain/usage/request-usage.ts';
import {
  type Handlers,
  type OperationRequest,
  RawJson,
  type RequestOrigin,
} from '../server/operation.ts';
import { describeSupport, toBrowserConfig } from './browser-config.ts';
import { serialiseEvaluation } from './evaluation-reply.ts';
import { type EvaluationInput, readEvaluationInput } from './evaluation-request.ts';
import { readWantedReply } from './evaluation-shape.ts';

export interface EvaluationHandlersContext extends SubjectEvaluation {
  readonly snapshots: SnapshotStore;
  readonly usage: RequestUsage;
}

type EvaluationQuery = OperationRequest<'evaluateFlags'>['query'];

const NO_TOKEN = new DomainError(
  'not_authenticated',
  'No API token provided. Please include a valid API token in your request.',
);
const UNKNOWN_TOKEN = new DomainError(
  'authentication_failed',
  'The provided API key is invalid or has expired. Please check your API key and try again.',
);
const NO_DISTINCT_ID =
  'The distinct_id field is missing from the request. Please include a valid identifier.';

const NO_FLAGS: Evaluation = { outcomes: [], errorsWhileComputing: false };
const QUOTA_USED_UP = { quotaLimited: ['feature_flags'], quota_limited: ['feature_flags'] };

/** Flags of these kinds are not what a project's quota is about. */
const UNCOUNTED_FLAGS = /^(survey|product-tour)-targeting-/;

/** The operations that SDKs ask for the values of flags. */
export function createEvaluationHandlers(
  context: EvaluationHandlersContext,
): Pick<Handlers, 'evaluateFlags' | 'describeEvaluation'> {
  return {
    async evaluateFlags({ query, body, origin, reply }) {
      const input = readEvaluationInput(body, origin.headers);
      if (input.token === null) throw NO_TOKEN;
      const served =
        context.snapshots.getByToken(input.token) ??
        (await context.snapshots.findByToken(input.token));
      if (served === undefined) throw UNKNOWN_TOKEN;
      if (input.distinctId === null && !input.isDisabled) return reply(400, NO_DISTINCT_ID);
      const wanted = readWantedReply(origin.path, query.v, query.config);
      const isOverQuota = !input.isDisabled && !admit(context, served, origin);
      const evaluation =
        input.isDisabled || isOverQuota ? NO_FLAGS : await evaluate(context, served, input, query);
      const extra =
        isOverQuota || wanted.withConfig
          ? {
              ...(isOverQuota ? QUOTA_USED_UP : {}),
              ...(wanted.withConfig ? toBrowserConfig(served) : {}),
            }
          : null;
      const stamp = { requestId: origin.requestId, evaluatedAt: context.now().getTime() };
      return reply(200, new RawJson(serialiseEvaluation(evaluation, wanted.shape, stamp, extra)));
    },

    describeEvaluation({ query, origin, reply }) {
      const { shape } = readWantedReply(origin.path, query.v ?? '1', false);
      const flags = shape === 'flags' ? { flags: {} } : { featureFlags: {} };
      return reply(200, { ...flags, ...describeSupport() });
    },
  };
}

/** Counts the request, unless the project's quota is used up; says whether it is answered. */
function admit(
  { usage }: EvaluationHandlersContext,
  served: ServedProject,
  origin: RequestOrigin,
): boolean {
  const { id, flagRequestsPerMonth: quota } = served.project;
  if (quota !== null && usage.isOver(id, quota)) return false;
  if (!served.flags.some((flag) => flag.active && !UNCOUNTED_FLAGS.test(flag.key))) return true;
  const userAgent = origin.headers['user-agent'];
  usage.count(id, 'evaluation', typeof userAgent === 'string' ? userAgent : undefined);
  return true;
}

function evaluate(
  context: EvaluationHandlersContext,
  served: ServedProject,
  input: EvaluationInput,
  query: EvaluationQuery,
): Promise<Evaluation> {
  return evaluateSubject(context, served, input.contextFor(input.distinctId ?? ''), {
    ...(input.flagKeys === null ? {} : { flagKeys: input.flagKeys }),
    surveyFlagsOnly: query.only_evaluate_survey_feature_flags === true,
    onlyOverrides: query.only_use_override_person_properties === true,
  });
}
