import type { Refusal } from '../../domain/common/refusal.ts';
import type { Handlers, OperationId } from '../../operations/operation.ts';
import type { Backend } from '../contract/backend.ts';
import { readBodyKinds } from '../contract/body-kinds.ts';
import {
  type ContractDocument,
  type ContractOperation,
  readOperation,
} from '../contract/contract-document.ts';
import { createRequestValidator, type RequestValidator } from '../contract/request-validator.ts';
import type { BodyBounds } from '../decode/body-bounds.ts';
import type { DecodeBody } from '../decode/body-decoder.ts';
import { decodeEncoded } from '../decode/decode-encoded.ts';
import { tooManyBytes } from '../decode/decode-fault.ts';
import { decodeCapture, decodeEvaluation } from '../decode/decode-packed.ts';
import { decodeJson, decodeText, ignoreBody } from '../decode/decode-plain.ts';
import type { Style } from '../styles/style.ts';
import { STYLES } from '../styles/styles.ts';

/**
 * By what a request is let in: nothing, a key of a person or a project, or a project API key in the
 * head. Where the project API key is in the body, the handler asks for it.
 */
export type CredentialKind = 'none' | 'secret_key' | 'project_token';

/**
 * Everything that is known of an operation before its first request: how a request of it is decoded,
 * identified, validated and refused. Compiled once, at the start, from the contract.
 */
export interface OperationPlan {
  readonly operation: ContractOperation;
  readonly credential: CredentialKind;
  /** Null for an operation without a body. */
  readonly body: BodyPlan | null;
  readonly validator: RequestValidator;
  readonly style: Style;
  /** Whether SDKs send this all day long. */
  readonly isTraffic: boolean;
  /** The refusal of a body that has more bytes than `maxBytes`, which need not be read for that. */
  refuseLarge(maxBytes: number): Refusal;
}

/** How the body of an operation is decoded, and how large it may be. */
export interface BodyPlan {
  readonly decode: DecodeBody;
  readonly bounds: BodyBounds;
  /** Whether the bytes are of no use: they need not be kept. */
  readonly isIgnored: boolean;
  /** Whether a secret key may be in it. */
  readonly mayHoldCredential: boolean;
}

/** The plans of all operations. Throws when contract and handlers do not match. */
export function compilePlans(
  document: ContractDocument,
  backend: Backend,
  handlers: Handlers,
): readonly OperationPlan[] {
  const kinds = readBodyKinds(document.definition);
  return backend.operations.map((declared) => {
    const id = declared.operationId ?? '';
    if (!isOperationId(id, handlers)) throw new Error(`The operation ${id} has no handler.`);
    const operation = readOperation(declared, id);
    const credential = credentialOf(operation);
    const style = styleOf(operation);
    return {
      operation,
      credential,
      body: planBody(operation, credential, kinds),
      validator: createRequestValidator(operation, backend.validatorsOf(id)),
      style,
      refuseLarge: (maxBytes) => style.wordFault(tooManyBytes(maxBytes)),
      isTraffic: operation.isFast || operation.errorStyle === 'capture',
    };
  });
}

/** What is wrong with plain JSON is worded as in the management API, whatever the reply looks like. */
function styleOf({ bodyKind, errorStyle }: ContractOperation): Style {
  const isPlain = bodyKind === null || bodyKind === 'json' || bodyKind === 'text';
  return isPlain ? STYLES.management : STYLES[errorStyle];
}

function credentialOf({ securitySchemes }: ContractOperation): CredentialKind {
  if (securitySchemes.size === 0) return 'none';
  return securitySchemes.has('projectApiKey') ? 'project_token' : 'secret_key';
}

function planBody(
  operation: ContractOperation,
  credential: CredentialKind,
  kinds: ReadonlyMap<string, BodyBounds>,
): BodyPlan | null {
  const { bodyKind } = operation;
  if (bodyKind === null) return null;
  const bounds = kinds.get(bodyKind);
  if (bounds === undefined) throw new Error(`${operation.id} has a body of no kind: ${bodyKind}.`);
  return {
    decode: decoderOf(bodyKind, operation),
    bounds,
    isIgnored: bodyKind === 'telemetry',
    mayHoldCredential: credential === 'secret_key' && bodyKind === 'json',
  };
}

function decoderOf(bodyKind: string, { id, textBody }: ContractOperation): DecodeBody {
  switch (bodyKind) {
    case 'json':
      return decodeJson;
    case 'text':
      return decodeText(textBody ?? 'text/plain');
    case 'evaluation':
      return decodeEvaluation;
    case 'capture':
    case 'batch':
      return decodeCapture;
    case 'capture_v1':
      return decodeEncoded;
    case 'telemetry':
      return ignoreBody;
    default:
      throw new Error(`${id} has a body that nothing decodes: ${bodyKind}.`);
  }
}

function isOperationId(id: string, handlers: Handlers): id is OperationId {
  return Object.hasOwn(handlers, id);
}
