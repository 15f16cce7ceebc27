import { DomainError } from '../domain/errors.ts';
import type { Contract } from './contract.ts';
import type { ContractOperation } from './contract-document.ts';
import { toErrorReply } from './error-reply.ts';
import type { AnswerCompletely, RecordRefusal } from './hot-path.ts';
import { type AnswerIngest, ingestLimitsOf } from './ingest.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { CheckReply } from './reply-check.ts';
import type { WireReply, WireRequest } from './wire.ts';

export interface AnswerOptions {
  readonly contract: Contract;
  readonly answerIngest: AnswerIngest;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Whether requests that evaluate and capture are logged, one by one. */
  readonly logsTraffic: boolean;
  /** Null in production. */
  readonly checkReply: CheckReply | null;
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
 * logged. Outside production a reply that breaks the contract becomes a 500, so that tests see it.
 */
export function createAnswer(options: AnswerOptions): Answering {
  const answer: AnswerCompletely = async (operation, request) => {
    const startedAt = performance.now();
    let reply: WireReply;
    try {
      reply =
        ingestLimitsOf(operation) === undefined
          ? await options.contract.answer(operation, request)
          : await options.answerIngest(operation, request);
    } catch (error) {
      reply = replyToFailure(options, operation, request, error);
    }
    const checked = options.checkReply === null ? reply : holdToContract(options, operation, reply);
    options.metrics.countRequest(operation.id, checked.status);
    if (isWorthLogging(options, operation, checked)) {
      logRequest(options.log, operation, request, checked, startedAt);
    }
    return checked;
  };
  return {
    answer,
    recordRefusal(operationId, status, requestId) {
      options.metrics.countRequest(operationId, status);
      options.log.info({ requestId, operation: operationId, status }, 'Refused unread.');
    },
  };
}

function replyToFailure(
  options: AnswerOptions,
  operation: ContractOperation,
  request: WireRequest,
  thrown: unknown,
): WireReply {
  const error = options.translateError(thrown);
  const fields = { requestId: request.requestId, operation: operation.id };
  if (!(error instanceof DomainError)) {
    options.log.error({ ...fields, err: error }, 'A request failed.');
  } else if (error.kind === 'unavailable') {
    options.log.warn({ ...fields, err: error.cause ?? error }, 'A dependency is unavailable.');
  }
  return toErrorReply(error, operation.errorStyle);
}

function holdToContract(
  options: AnswerOptions,
  operation: ContractOperation,
  reply: WireReply,
): WireReply {
  const finding = options.checkReply?.(operation, reply) ?? null;
  if (finding === null) return reply;
  options.metrics.countContractViolation(operation.id);
  options.log.error(
    { operation: operation.id, status: reply.status, finding },
    'A reply breaks the contract.',
  );
  return toErrorReply(new Error(finding), operation.errorStyle);
}

/** The traffic itself is logged at debug level only; the metrics count it. */
function isWorthLogging(
  options: AnswerOptions,
  operation: ContractOperation,
  reply: WireReply,
): boolean {
  return options.logsTraffic || reply.status >= 500 || ingestLimitsOf(operation) === undefined;
}

function logRequest(
  log: Log,
  operation: ContractOperation,
  request: WireRequest,
  reply: WireReply,
  startedAt: number,
): void {
  const isTraffic = ingestLimitsOf(operation) !== undefined;
  const fields = {
    requestId: request.requestId,
    operation: operation.id,
    method: request.method,
    path: request.path,
    status: reply.status,
    durationMs: performance.now() - startedAt,
  };
  if (isTraffic && reply.status < 500) log.debug(fields, 'Answered.');
  else log.info(fields, 'Answered.');
}
