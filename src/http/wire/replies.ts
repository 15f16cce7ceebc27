import type { WireReply } from './wire.ts';

/** A reply of plain text. */
export function textReply(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): WireReply {
  return {
    status,
    headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
    body: text,
  };
}

/** A reply of JSON. */
export function jsonReply(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): WireReply {
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}
