import type { IncomingHttpHeaders } from 'node:http';

/** A value that is there at once, or later. What is there at once costs no turn of the event loop. */
export type Eventually<Value> = Value | Promise<Value>;

/** A request as it came over the wire, routed but not decoded. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly payload: Buffer;
  readonly baseUrl: string;
  readonly requestId: string;
  readonly receivedAt: Date;
}

/** A reply as it goes over the wire. Header names are lower case. */
export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
  /** Whether the body is known to be text whose every character is one byte. */
  readonly isAscii?: boolean;
}
