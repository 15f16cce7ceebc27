import type { IncomingMessage, ServerResponse } from 'node:http';

const PREFLIGHT_MAX_AGE_SECONDS = '600';

/**
 * Lets browsers of every origin read every reply, errors included. The origin is mirrored instead
 * of `*`, because browsers that send a beacon with credentials accept nothing else; there are no
 * cookies that this could expose.
 */
export function allowOrigin(message: IncomingMessage, response: ServerResponse): void {
  const { origin } = message.headers;
  if (origin === undefined) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-credentials', 'true');
  response.setHeader('access-control-expose-headers', 'etag, retry-after, x-request-id');
  response.setHeader('vary', 'origin');
}

/** Answers an OPTIONS request: a browser's preflight, or a plain question for the methods. */
export function answerOptions(message: IncomingMessage, response: ServerResponse): void {
  const isPreflight = message.headers['access-control-request-method'] !== undefined;
  if (isPreflight) {
    response.setHeader(
      'access-control-allow-methods',
      'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    );
    const headers = message.headers['access-control-request-headers'];
    if (headers !== undefined) response.setHeader('access-control-allow-headers', headers);
    response.setHeader('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS);
  }
  response.writeHead(204, { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' }).end();
}
