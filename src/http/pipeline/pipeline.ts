import type { Caller, ProjectAccess } from '../../domain/common/access.ts';
import { andThen, type Eventually } from '../../domain/common/eventually.ts';
import type { LargeWork } from '../../domain/common/large-work.ts';
import { notFound, type Refusal } from '../../domain/common/refusal.ts';
import type { Handlers } from '../../operations/operation.ts';
import { applyFieldAliases } from '../contract/field-aliases.ts';
import { isFinding } from '../contract/request-validator.ts';
import { DecodeFault } from '../decode/decode-fault.ts';
import { renderRefusal } from '../styles/render-refusal.ts';
import type { WireReply, WireRequest } from '../wire/wire.ts';
import { authorise } from './authorise.ts';
import { handle } from './handle.ts';
import {
  bearerOf,
  findBodyCredential,
  findCredential,
  type Gatekeeper,
  identify,
} from './identify.ts';
import type { OperationPlan } from './plan.ts';
import type { Recorder } from './record.ts';

export interface PipelineOptions {
  readonly handlers: Handlers;
  readonly gatekeeper: Gatekeeper;
  readonly largeWork: LargeWork;
  readonly recorder: Recorder;
}

/**
 * The one way of a request through the house, whichever adapter it came by:
 *
 *     decode -> identify -> authorise -> validate -> handle -> encode
 *
 * Who sends a credential in the head is identified and authorised before the body is decoded. Each
 * step gives a value, at once where it can, or a Refusal, thrown or not; one renderer turns refusals
 * into bytes.
 */
export interface Pipeline {
  /** Answers a request completely: it never throws, and it has recorded what it answered. */
  run(plan: OperationPlan, request: WireRequest): Eventually<WireReply>;
  /** Refuses a request that was not read; recorded as well. */
  refuse(plan: OperationPlan, refusal: Refusal, requestId: string): WireReply;
}

/** Who sends a request. */
interface Admission {
  readonly caller: Caller | null;
  readonly access: ProjectAccess | null;
}

/** What is larger keeps its turn of large work until it is answered, since it takes memory until then. */
const KEEPS_TURN_BYTES = 2_097_152;

const ANYBODY: Admission = Object.freeze({ caller: null, access: null });

/** Makes the pipeline. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const { recorder } = options;
  return {
    run(plan, request) {
      const startedAt = performance.now();
      try {
        const reply = answer(options, plan, request);
        return reply instanceof Promise
          ? finishLater(options, plan, request, reply, startedAt)
          : finish(options, plan, request, reply, startedAt);
      } catch (error) {
        return fail(options, plan, request, error, startedAt);
      }
    },

    refuse(plan, refusal, requestId) {
      const reply = renderRefusal(refusal, plan.operation.errorStyle);
      recorder.refused(plan.operation.id, reply.status, requestId);
      return reply;
    },
  };
}

function finish(
  { recorder }: PipelineOptions,
  plan: OperationPlan,
  request: WireRequest,
  reply: WireReply,
  startedAt: number,
): WireReply {
  return recorder.finish(plan, request, withEcho(plan, request, reply), startedAt);
}

function fail(
  options: PipelineOptions,
  plan: OperationPlan,
  request: WireRequest,
  error: unknown,
  startedAt: number,
): WireReply {
  const told = toRefusal(plan, request, error);
  const refusal = options.recorder.explain(plan, request.requestId, told);
  const reply = renderRefusal(refusal, plan.operation.errorStyle);
  return finish(options, plan, request, reply, startedAt);
}

function finishLater(
  options: PipelineOptions,
  plan: OperationPlan,
  request: WireRequest,
  reply: Promise<WireReply>,
  startedAt: number,
): Promise<WireReply> {
  return reply.then(
    (later) => {
      options.largeWork.leave(request);
      return finish(options, plan, request, later, startedAt);
    },
    (error: unknown) => {
      options.largeWork.leave(request);
      return fail(options, plan, request, error, startedAt);
    },
  );
}

function answer(
  options: PipelineOptions,
  plan: OperationPlan,
  request: WireRequest,
): Eventually<WireReply> {
  const { refuseHead } = plan.style;
  if (refuseHead !== null) {
    const refusal = refuseHead(request, () => plan.validator.validateParameters(request));
    if (refusal !== null) throw refusal;
  }
  switch (plan.credential) {
    case 'none':
      return decodeAndHandle(options, plan, request, ANYBODY);
    case 'project_token':
      return andThen(options.gatekeeper.requireProjectToken(bearerOf(request)), () =>
        decodeAndHandle(options, plan, request, ANYBODY),
      );
    case 'secret_key':
      return answerHolder(options, plan, request);
  }
}

/** Answers whoever holds a secret key, which is looked for in the body last. */
function answerHolder(
  options: PipelineOptions,
  plan: OperationPlan,
  request: WireRequest,
): Eventually<WireReply> {
  const credential = findCredential(request);
  if (credential !== null || plan.body?.mayHoldCredential !== true) {
    const { operation } = plan;
    const { remoteAddress } = request.peer;
    const caller = identify(options.gatekeeper, operation, credential, remoteAddress);
    return andThen(caller, (known) =>
      andThen(authorise(options.gatekeeper, operation, request, known), (access) =>
        decodeAndHandle(options, plan, request, { caller: known, access }),
      ),
    );
  }
  return answerUnknown(options, plan, request);
}

/** Whoever cannot be identified by the head: what is wrong with the body is not told to strangers. */
async function answerUnknown(
  options: PipelineOptions,
  plan: OperationPlan,
  request: WireRequest,
): Promise<WireReply> {
  const { gatekeeper } = options;
  const { operation } = plan;
  let body: unknown;
  try {
    body = await decode(options, plan, request);
  } catch (error) {
    if (!(error instanceof DecodeFault)) throw error;
  }
  const credential = findBodyCredential(body);
  const caller = await identify(gatekeeper, operation, credential, request.peer.remoteAddress);
  const access = await authorise(gatekeeper, operation, request, caller);
  return validateAndHandle(options, plan, request, { caller, access }, body);
}

function decodeAndHandle(
  options: PipelineOptions,
  plan: OperationPlan,
  request: WireRequest,
  admission: Admission,
): Eventually<WireReply> {
  return andThen(decode(options, plan, request), (body) =>
    validateAndHandle(options, plan, request, admission, body),
  );
}

function decode(
  { largeWork }: PipelineOptions,
  { body }: OperationPlan,
  request: WireRequest,
): Eventually<unknown> {
  if (body === null) return undefined;
  const decoded = body.decode(request, { bounds: body.bounds, largeWork });
  if (!(decoded instanceof Promise) || request.payload.length > KEEPS_TURN_BYTES) return decoded;
  return decoded.finally(() => largeWork.leave(request));
}

function validateAndHandle(
  { handlers }: PipelineOptions,
  plan: OperationPlan,
  request: WireRequest,
  { caller, access }: Admission,
  body: unknown,
): Eventually<WireReply> {
  const { operation, style, validator } = plan;
  // No name that is stored has one, and PostgreSQL takes none even to look for.
  for (const name in request.params) {
    if (request.params[name]?.includes('\0') === true) throw notFound();
  }
  applyFieldAliases(body, operation.fieldAliases);
  const { params, query, headers } = request;
  const valid = validator.validate({ params, query, headers, body });
  if (isFinding(valid)) throw style.wordFinding(valid, operation, body);
  const call = { params: valid.params, query: valid.query, body, caller, access };
  return handle(handlers, operation, request, call);
}

function toRefusal(plan: OperationPlan, request: WireRequest, error: unknown): unknown {
  return error instanceof DecodeFault ? plan.style.wordFault(error, request) : error;
}

/** The reply with those headers of the request that replies of its style repeat. */
function withEcho(plan: OperationPlan, request: WireRequest, reply: WireReply): WireReply {
  const names = plan.style.echoedHeaders;
  if (names.length === 0) return reply;
  const headers: Record<string, string> = { ...reply.headers };
  for (const name of names) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return { ...reply, headers };
}
