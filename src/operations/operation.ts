import { gzipSync } from 'node:zlib';
import type { operations } from '../../generated/api.ts';
import type { Caller, ProjectAccess } from '../domain/common/access.ts';

/** The name of an operation of the contract. */
export type OperationId = keyof operations;

type Parameters<Id extends OperationId, Place extends 'path' | 'query' | 'header'> =
  NonNullable<operations[Id]['parameters'][Place]> extends infer Found
    ? [Found] extends [never]
      ? Record<string, never>
      : Found
    : never;

type JsonContent<Message> = Message extends { content: infer Content }
  ? Content[keyof Content]
  : undefined;

/** The JSON body that the contract declares for the operation; undefined when it has none. */
export type Body<Id extends OperationId> = operations[Id] extends { requestBody: infer Request }
  ? JsonContent<Request>
  : undefined;

type Responses<Id extends OperationId> = operations[Id]['responses'];

/** JSON that was serialised beforehand, where the cost of doing it again matters. */
export class RawJson {
  readonly text: string;
  readonly isCompressible: boolean;
  /** Whether the text is known to have no other characters than those of ASCII. */
  readonly isAscii: boolean;
  #bytes: Buffer | null = null;
  #gzipped: Buffer | null = null;

  /** A compressible text is one that is sent many times: it is compressed once, when first asked for. */
  constructor(
    text: string,
    options: { readonly isCompressible?: boolean; readonly isAscii?: boolean } = {},
  ) {
    this.text = text;
    this.isCompressible = options.isCompressible === true;
    this.isAscii = options.isAscii === true;
  }

  /** The text in UTF-8. Of ASCII, every character is a byte, and copying is all there is to do. */
  bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text, this.isAscii ? 'latin1' : 'utf8');
    return this.#bytes;
  }

  /** The text in gzip. */
  gzipped(): Buffer {
    this.#gzipped ??= gzipSync(this.text);
    return this.#gzipped;
  }
}

export type ReplyHeaders = Readonly<Record<string, string>>;

/** A status that the contract declares for the operation, with the body of that status. */
export type Reply<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: {
    readonly status: Status & number;
    readonly body: JsonContent<Responses<Id>[Status]> | RawJson;
    readonly headers: ReplyHeaders;
  };
}[keyof Responses<Id>];

/** Builds a reply. Undeclared statuses and wrong or unknown fields do not compile. */
export type ReplyBuilder<Id extends OperationId> = <Status extends keyof Responses<Id>>(
  status: Status,
  body: JsonContent<Responses<Id>[Status]> | RawJson,
  headers?: ReplyHeaders,
) => Reply<Id>;

/** The client's side of a request, for links and for guessing the kind of client. */
export interface RequestOrigin {
  /** Scheme, host and port as the client addressed them, without a slash at the end. */
  readonly baseUrl: string;
  /** The path as it was sent. */
  readonly path: string;
  /** All query parameters as they were sent, declared or not. */
  readonly rawQuery: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly requestId: string;
  readonly receivedAt: Date;
}

/** Operations below `/api/projects/{project_id}/` run in that project; others may run in none. */
type AccessOf<Id extends OperationId> =
  Parameters<Id, 'path'> extends { project_id: string } ? ProjectAccess : ProjectAccess | null;

/** A request that passed the contract: types and bounds are those that it declares. */
export interface OperationRequest<Id extends OperationId> {
  readonly params: Parameters<Id, 'path'>;
  readonly query: Parameters<Id, 'query'>;
  readonly body: Body<Id>;
  readonly caller: Caller | null;
  readonly access: AccessOf<Id>;
  readonly origin: RequestOrigin;
  readonly reply: ReplyBuilder<Id>;
}

/** The code behind one operation. Failures are thrown as Refusal. */
export type Handler<Id extends OperationId> = (
  request: OperationRequest<Id>,
) => Reply<Id> | Promise<Reply<Id>>;

/** One handler for every operation of the contract; a missing one does not compile. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };
