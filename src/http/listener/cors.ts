import type { IncomingMessage } from 'node:http';
import type { WireReply } from '../wire/wire.ts';

const PREFLIGHT_MAX_AGE_SECONDS = '600';
const PREFLIGHT_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const EXPOSED_HEADERS = 'etag, retry-after, x-request-id';

/** Far longer than any that a browser sends; what is longer is not repeated in the reply. */
const ORIGIN_MAX_LENGTH = 2_048;

/** The origin of the page that asks; none where no browser says so. */
export function originOf({ headers: { origin } }: IncomingMessage): string | undefined {
  return origin !== undefined && origin.length <= ORIGIN_MAX_LENGTH ? origin : undefined;
}

/**
 * Adds what lets browsers of every origin read a reply, errors included. The origin is mirrored
 * instead of `*`, because browsers that send a beacon with credentials accept nothing else; there
 * are no cookies that this could expose. `vary` is what the reply says itself.
 */
export function exposeTo(list: string[], origin: string, vary: string | undefined): void {
  list.push(
    'access-control-allow-origin',
    origin,
    'access-control-allow-credentials',
    'true',
    'access-control-expose-headers',
    EXPOSED_HEADERS,
  );
  if (vary === undefined) list.push('vary', 'origin');
}

/**
 * The reply to an OPTIONS request: a browser's preflight, or a plain question for the methods, which
 * are those of the path; none for one that does not exist. A browser may try any, so that it can
 * read the refusal.
 */
export function answerOptions(message: IncomingMessage, methods: readonly string[]): WireReply {
  const headers: Record<string, string> = {
    allow: methods.length === 0 ? 'OPTIONS' : methods.join(', '),
  };
  if (message.headers['access-control-request-method'] !== undefined) {
    headers['access-control-allow-methods'] = PREFLIGHT_METHODS;
    headers['access-control-max-age'] = PREFLIGHT_MAX_AGE_SECONDS;
    const wanted = message.headers['access-control-request-headers'];
    if (wanted !== undefined) headers['access-control-allow-headers'] = wanted;
  }
  return { status: 204, headers, body: null };
}
