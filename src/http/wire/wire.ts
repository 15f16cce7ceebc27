import type { IncomingHttpHeaders } from 'node:http';

/** The side of a connection that a request came from. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
  /** Whether the connection is gone. */
  readonly destroyed?: boolean;
}

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
  readonly peer: Peer;
}

/** A reply as it goes over the wire. Header names are lower case. */
export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
  /** Whether the body is known to be text whose every character is one byte. */
  readonly isAscii?: boolean;
}
