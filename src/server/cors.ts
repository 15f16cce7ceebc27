import type { IncomingMessage, ServerResponse } from 'node:http';

const PREFLIGHT_MAX_AGE_SECONDS = '600';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/**
 * Lets browsers of every origin read every reply, errors included. The origin is mirrored instead
 * of `*`, because browsers that send a beacon with credentials accept nothing else; there are no
 * cookies that this could expose.
 */
export function originHeaders(message: IncomingMessage): Readonly<Record<string, string>> | null {
  const { origin } = message.headers;
  if (origin === undefined) return null;
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'etag, retry-after, x-request-id',
    vary: 'origin',
  };
}

/** Answers an OPTIONS request: a browser's preflight, or a plain question for the methods. */
export function answerOptions(
  message: IncomingMessage,
  response: ServerResponse,
  sharedHeaders: Readonly<Record<string, string>>,
): void {
  const headers: Record<string, string> = { ...sharedHeaders, allow: METHODS };
  if (message.headers['access-control-request-method'] !== undefined) {
    headers['access-control-allow-methods'] = METHODS;
    headers['access-control-max-age'] = PREFLIGHT_MAX_AGE_SECONDS;
    const wanted = message.headers['access-control-request-headers'];
    if (wanted !== undefined) headers['access-control-allow-headers'] = wanted;
  }
  response.writeHead(204, headers).end();
}
