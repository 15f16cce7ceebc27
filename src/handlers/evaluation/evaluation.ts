import { andThen } from '../../domain/common/eventually.ts';
import { Refusal } from '../../domain/common/refusal.ts';
import type { Evaluation } from '../../domain/evaluation/match/evaluate-flags.ts';
import {
  evaluateSubject,
  type SubjectEvaluation,
  type SubjectOptions,
} from '../../domain/snapshots/evaluate-subject.ts';
import type { ServedProject } from '../../domain/snapshots/load-definitions.ts';
import type { SnapshotStore } from '../../domain/snapshots/snapshot-store.ts';
import { traceSubject } from '../../domain/snapshots/trace-subject.ts';
import type { RequestUsage } from '../../domain/usage/requests/request-usage.ts';
import {
  type Handlers,
  type OperationRequest,
  RawJson,
  type RequestOrigin,
} from '../../operations/operation.ts';
import { describeSupport, toBrowserConfig } from './browser-config.ts';
import { type ExtraFields, serialiseEvaluation } from './evaluation-reply.ts';
import { type EvaluationInput, readEvaluationInput } from './evaluation-request.ts';
import { readWantedReply } from './evaluation-shape.ts';
import { serialiseTrace } from './evaluation-trace.ts';

export interface EvaluationHandlersContext extends SubjectEvaluation {
  readonly snapshots: SnapshotStore;
  readonly usage: RequestUsage;
}

type EvaluationQuery = OperationRequest<'evaluateFlags'>['query'];

const NO_TOKEN = new Refusal(
  'not_authenticated',
  'No API token provided. Please include a valid API token in your request.',
);
const UNKNOWN_TOKEN = new Refusal(
  'authentication_failed',
  'The provided API key is invalid or has expired. Please check your API key and try again.',
);
const NO_DISTINCT_ID =
  'The distinct_id field is missing from the request. Please include a valid identifier.';

const NO_KEYS = Object.freeze({});
const NO_FLAGS: Evaluation = { outcomes: [], errorsWhileComputing: false };
const QUOTA_USED_UP = { quotaLimited: ['feature_flags'], quota_limited: ['feature_flags'] };

/** Flags of these kinds are not what a project's quota is about. */
const UNCOUNTED_FLAGS = /^(survey|product-tour)-targeting-/;

/** The operations that SDKs ask for the values of flags. */
export function createEvaluationHandlers(
  context: EvaluationHandlersContext,
): Pick<Handlers, 'evaluateFlags' | 'describeEvaluation'> {
  return {
    evaluateFlags({ query, body, origin, reply }) {
      const input = readEvaluationInput(body, origin.headers);
      if (input.token === null) throw NO_TOKEN;
      const wanted = readWantedReply(origin.path, query.v, query.config);
      const now = context.now();
      const options = readOptions(input, query, now);
      const answer = (served: ServedProject | undefined) => {
        if (served === undefined) throw UNKNOWN_TOKEN;
        if (input.distinctId === null && !input.isDisabled) return reply(400, NO_DISTINCT_ID);
        const isOverQuota = !input.isDisabled && !admit(context, served, origin);
        const extra = extraFields(served, isOverQuota, wanted.withConfig);
        const stamp = { requestId: origin.requestId, evaluatedAt: now.getTime() };
        const send = (evaluation: Evaluation) =>
          reply(200, serialiseEvaluation(evaluation, wanted.shape, stamp, extra));
        if (input.isDisabled || isOverQuota) return send(NO_FLAGS);
        const subject = input.contextFor(input.distinctId ?? '');
        if (query.detailed_analysis === true && wanted.shape === 'flags') {
          return traceSubject(context, served, subject, options).then((traced) =>
            reply(200, new RawJson(serialiseTrace(traced, stamp, extra))),
          );
        }
        return andThen(evaluateSubject(context, served, subject, options), send);
      };
      const served = context.snapshots.getByToken(input.token);
      if (served !== undefined) return answer(served);
      return context.snapshots.findByToken(input.token).then(answer);
    },

    describeEvaluation({ query, origin, reply }) {
      const { shape } = readWantedReply(origin.path, query.v ?? '1', false);
      const flags = shape === 'flags' ? { flags: {} } : { featureFlags: {} };
      return reply(200, { ...flags, ...describeSupport() });
    },
  };
}

/** What the reply has beside the flags; null for most. */
function extraFields(
  served: ServedProject,
  isOverQuota: boolean,
  withConfig: boolean,
): ExtraFields | null {
  if (!isOverQuota && !withConfig) return null;
  return {
    ...(isOverQuota ? QUOTA_USED_UP : {}),
    ...(withConfig ? toBrowserConfig(served) : {}),
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
  if (!hasCountedFlags(served)) return true;
  const userAgent = origin.headers['user-agent'];
  usage.count(id, 'evaluation', typeof userAgent === 'string' ? userAgent : undefined);
  return true;
}

const countedProjects = new WeakMap<ServedProject, boolean>();

/** Whether the project has a flag that its quota is about; found out once for each revision. */
function hasCountedFlags(served: ServedProject): boolean {
  let known = countedProjects.get(served);
  if (known === undefined) {
    known = served.flags.some((flag) => flag.active && !UNCOUNTED_FLAGS.test(flag.key));
    countedProjects.set(served, known);
  }
  return known;
}

function readOptions(input: EvaluationInput, query: EvaluationQuery, now: Date): SubjectOptions {
  return {
    now,
    ...(input.flagKeys === null ? NO_KEYS : { flagKeys: input.flagKeys }),
    surveyFlagsOnly: query.only_evaluate_survey_feature_flags === true,
    onlyOverrides: query.only_use_override_person_properties === true,
    isReadOnly: query.detailed_analysis === true,
  };
}
