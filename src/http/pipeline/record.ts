import { Refusal } from '../../domain/common/refusal.ts';
import type { CheckReply } from '../contract/reply-check.ts';
import type { Log } from '../metrics/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { renderRefusal } from '../styles/render-refusal.ts';
import type { WireReply, WireRequest } from '../wire/wire.ts';
import type { OperationPlan } from './plan.ts';

export interface RecorderOptions {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Whether what SDKs send all day long is logged, one by one. */
  readonly logsTraffic: boolean;
  readonly checkReply: CheckReply;
  /**
   * `every` reply is checked, and one that breaks the contract becomes a 500, so that tests see it.
   * Or a small `sample` is, without any change to it: in production a wrong reply is still better
   * than none. What SDKs send all day long is never in the sample.
   */
  readonly checkedReplies: 'every' | 'sample';
  /** Tells an outage of a dependency from a fault of the service. */
  readonly translateError: (error: unknown) => unknown;
}

/** Counts, logs and checks what was answered. */
export interface Recorder {
  /** Records a reply and gives it back, or what is sent in its place. */
  finish(plan: OperationPlan, request: WireRequest, reply: WireReply, startedAt: number): WireReply;
  /** Logs why a request failed, where that is not the caller's doing, and gives what to render. */
  explain(plan: OperationPlan, requestId: string, error: unknown): unknown;
  /** Records a request that was refused before it could be read. */
  refused(operationId: string, status: number, requestId: string): void;
}

/** Makes the recorder of a service. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { log, metrics } = options;
  const check = createReplyFilter(options);
  return {
    finish(plan, request, made, startedAt) {
      const reply = check(plan, made);
      metrics.countRequest(plan.operation.id, reply.status);
      // The traffic itself is logged at debug level only; the metrics count it.
      if (options.logsTraffic || reply.status >= 500 || !plan.isTraffic) {
        logRequest(log, plan, request, reply, startedAt);
      }
      return reply;
    },

    explain(plan, requestId, thrown) {
      const error = options.translateError(thrown);
      const fields = { requestId, operation: plan.operation.id };
      if (!(error instanceof Refusal)) log.error({ ...fields, err: error }, 'A request failed.');
      else if (error.kind === 'unreadable') {
        log.error({ ...fields, err: error.cause ?? error }, 'Something stored is unreadable.');
      } else if (error.kind === 'unavailable') {
        log.warn({ ...fields, err: error.cause ?? error }, 'A dependency is unavailable.');
      }
      return error;
    },

    refused(operationId, status, requestId) {
      metrics.countRequest(operationId, status);
      log.info({ requestId, operation: operationId, status }, 'Refused unread.');
    },
  };
}

/** One of so many replies to management requests is checked in production. */
const SAMPLE_EVERY = 1_000;

/** Larger replies are not sampled: checking one would hold up the requests beside it. */
const SAMPLE_MAX_LENGTH = 256 * 1024;

type ReplyFilter = (plan: OperationPlan, reply: WireReply) => WireReply;

function createReplyFilter(options: RecorderOptions): ReplyFilter {
  if (options.checkedReplies === 'every') {
    return (plan, reply) => {
      const finding = findViolation(options, plan, reply);
      if (finding === null) return reply;
      return renderRefusal(new Error(finding), plan.operation.errorStyle);
    };
  }
  let sinceSample = 0;
  return (plan, reply) => {
    if (plan.isTraffic) return reply;
    sinceSample += 1;
    if (sinceSample < SAMPLE_EVERY || (reply.body?.length ?? 0) > SAMPLE_MAX_LENGTH) return reply;
    sinceSample = 0;
    findViolation(options, plan, reply);
    return reply;
  };
}

/** How the reply breaks the contract; counted and logged. */
function findViolation(
  options: RecorderOptions,
  { operation }: OperationPlan,
  reply: WireReply,
): string | null {
  const finding = describeViolation(options.checkReply, operation, reply);
  if (finding === null) return null;
  options.metrics.countContractViolation(operation.id);
  options.log.error(
    { operation: operation.id, status: reply.status, finding },
    'A reply breaks the contract.',
  );
  return finding;
}

/** A check that fails is a finding, too: the reply was made already and must not be lost by it. */
function describeViolation(
  checkReply: CheckReply,
  operation: OperationPlan['operation'],
  reply: WireReply,
): string | null {
  try {
    return checkReply(operation, reply);
  } catch (error) {
    return `the reply cannot be checked: ${String(error)}`;
  }
}

function logRequest(
  log: Log,
  plan: OperationPlan,
  request: WireRequest,
  reply: WireReply,
  startedAt: number,
): void {
  const fields = {
    requestId: request.requestId,
    operation: plan.operation.id,
    method: request.method,
    path: request.path,
    status: reply.status,
    durationMs: performance.now() - startedAt,
  };
  if (plan.isTraffic && reply.status < 500) log.debug(fields, 'Answered.');
  else log.info(fields, 'Answered.');
}
