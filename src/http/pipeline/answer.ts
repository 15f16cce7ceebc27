import { Refusal } from '../../domain/common/refusal.ts';
import type { Contract } from '../contract/contract.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { CheckReply } from '../contract/reply-check.ts';
import type { AnswerCompletely, RecordRefusal } from '../listener/fast-lane.ts';
import type { Log } from '../metrics/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type AnswerDirectly, isAnsweredDirectly } from './answer-directly.ts';
import { toErrorReply } from './error-reply.ts';
import { type AnswerIngest, ingestLimitsOf } from './ingest.ts';
import type { Eventually, WireReply, WireRequest } from './wire.ts';

export interface AnswerOptions {
  readonly contract: Contract;
  readonly answerIngest: AnswerIngest;
  readonly answerDirectly: AnswerDirectly;
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

/** Answers requests, and takes note of those that were refused before they could be read. */
export interface Answering {
  readonly answer: AnswerCompletely;
  readonly recordRefusal: RecordRefusal;
}

/**
 * Answers every operation: a failure becomes the documented reply, the request is counted and
 * logged. Replies are held to the contract as `checkedReplies` says.
 */
export function createAnswer(options: AnswerOptions): Answering {
  const holdToContract = createHolder(options);
  const finish = (
    operation: ContractOperation,
    request: WireRequest,
    made: WireReply,
    startedAt: number,
  ): WireReply => {
    const reply = holdToContract(operation, made);
    options.metrics.countRequest(operation.id, reply.status);
    if (isWorthLogging(options, operation, reply)) {
      logRequest(options.log, operation, request, reply, startedAt);
    }
    return reply;
  };
  const answer: AnswerCompletely = (operation, request) => {
    const startedAt = performance.now();
    const fail = (error: unknown) =>
      finish(operation, request, replyToFailure(options, operation, request, error), startedAt);
    let reply: Eventually<WireReply>;
    try {
      reply = run(options, operation, request);
    } catch (error) {
      return fail(error);
    }
    if (!(reply instanceof Promise)) return finish(operation, request, reply, startedAt);
    return reply.then((later) => finish(operation, request, later, startedAt), fail);
  };
  return {
    answer,
    recordRefusal(operationId, status, requestId) {
      options.metrics.countRequest(operationId, status);
      options.log.info({ requestId, operation: operationId, status }, 'Refused unread.');
    },
  };
}

/** Each kind of operation has one pipeline, whichever lane it is reached by. */
function run(
  options: AnswerOptions,
  operation: ContractOperation,
  request: WireRequest,
): Eventually<WireReply> {
  if (ingestLimitsOf(operation) !== undefined) return options.answerIngest(operation, request);
  if (isAnsweredDirectly(operation)) return options.answerDirectly(operation, request);
  return options.contract.answer(operation, request);
}

/** Whether SDKs send this all day long. */
function isTraffic(operation: ContractOperation): boolean {
  return ingestLimitsOf(operation) !== undefined || isAnsweredDirectly(operation);
}

function replyToFailure(
  options: AnswerOptions,
  operation: ContractOperation,
  request: WireRequest,
  thrown: unknown,
): WireReply {
  const error = options.translateError(thrown);
  const fields = { requestId: request.requestId, operation: operation.id };
  if (!(error instanceof Refusal)) {
    options.log.error({ ...fields, err: error }, 'A request failed.');
  } else if (error.kind === 'unreadable') {
    options.log.error({ ...fields, err: error.cause ?? error }, 'Something stored is unreadable.');
  } else if (error.kind === 'unavailable') {
    options.log.warn({ ...fields, err: error.cause ?? error }, 'A dependency is unavailable.');
  }
  return toErrorReply(error, operation.errorStyle);
}

/** One of so many replies to management requests is checked in production. */
const SAMPLE_EVERY = 1_000;

/** Larger replies are not sampled: checking one would hold up the requests beside it. */
const SAMPLE_MAX_LENGTH = 256 * 1024;

type HoldToContract = (operation: ContractOperation, reply: WireReply) => WireReply;

function createHolder(options: AnswerOptions): HoldToContract {
  if (options.checkedReplies === 'every') {
    return (operation, reply) => {
      const finding = findViolation(options, operation, reply);
      if (finding === null) return reply;
      return toErrorReply(new Error(finding), operation.errorStyle);
    };
  }
  let sinceSample = 0;
  return (operation, reply) => {
    if (isTraffic(operation)) return reply;
    sinceSample += 1;
    if (sinceSample < SAMPLE_EVERY || (reply.body?.length ?? 0) > SAMPLE_MAX_LENGTH) return reply;
    sinceSample = 0;
    findViolation(options, operation, reply);
    return reply;
  };
}

/** How the reply breaks the contract; counted and logged. */
function findViolation(
  options: AnswerOptions,
  operation: ContractOperation,
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
  operation: ContractOperation,
  reply: WireReply,
): string | null {
  try {
    return checkReply(operation, reply);
  } catch (error) {
    return `the reply cannot be checked: ${String(error)}`;
  }
}

/** The traffic itself is logged at debug level only; the metrics count it. */
function isWorthLogging(
  options: AnswerOptions,
  operation: ContractOperation,
  reply: WireReply,
): boolean {
  return options.logsTraffic || reply.status >= 500 || !isTraffic(operation);
}

function logRequest(
  log: Log,
  operation: ContractOperation,
  request: WireRequest,
  reply: WireReply,
  startedAt: number,
): void {
  const fields = {
    requestId: request.requestId,
    operation: operation.id,
    method: request.method,
    path: request.path,
    status: reply.status,
    durationMs: performance.now() - startedAt,
  };
  if (isTraffic(operation) && reply.status < 500) log.debug(fields, 'Answered.');
  else log.info(fields, 'Answered.');
}
