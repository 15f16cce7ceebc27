import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { BoundedCache } from '../../domain/common/bounded-cache.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id of a request: the one that the client or a proxy gave it, if that is a UUID, or a new one. */
export function requestIdOf(message: IncomingMessage): string {
  const given = message.headers['x-request-id'];
  return typeof given === 'string' && UUID.test(given) ? given.toLowerCase() : randomUUID();
}

/** The path and the query of a request target. */
export function splitTarget(target: string): { path: string; search: string } {
  const mark = target.indexOf('?');
  if (mark === -1) return { path: target, search: '' };
  return { path: target.slice(0, mark), search: target.slice(mark + 1) };
}

/** Queries that clients send again and again: each is parsed once. */
const QUERIES_MAX = 1_000;
const REMEMBERED_MAX_LENGTH = 300;
const parsedQueries = new BoundedCache<string, Readonly<Record<string, string>>>(QUERIES_MAX);

const NO_QUERY: Readonly<Record<string, string>> = Object.freeze({});

/** What may come several times, once for each of several values; it is read as a JSON array then. */
const REPEATABLE = new Set(['flag_keys']);

/** More than a project has flags. */
const PARSING = { maxKeys: 10_000 };

/**
 * The query parameters, the last value counting when a name comes twice that may come only once.
 * Equal texts give the same object, unless they are long or hold a secret, which is not kept.
 */
export function parseQuery(search: string): Readonly<Record<string, string>> {
  if (search === '') return NO_QUERY;
  const known = parsedQueries.get(search);
  if (known !== undefined) return known;
  const query = Object.freeze(readQuery(search));
  if (search.length <= REMEMBERED_MAX_LENGTH && query.personal_api_key === undefined) {
    parsedQueries.set(search, query);
  }
  return query;
}

function readQuery(search: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(parse(search, undefined, undefined, PARSING))) {
    const last = Array.isArray(value) ? readRepeated(name, value) : value;
    if (last !== undefined && name !== '__proto__') query[name] = last;
  }
  return query;
}

function readRepeated(name: string, values: readonly string[]): string | undefined {
  if (!REPEATABLE.has(name)) return values.at(-1);
  const given = values.filter((value) => value !== '');
  return given.length === 0 ? '' : JSON.stringify(given);
}

/** Scheme, host and port under which the client reached Burgee, a proxy's word on the scheme heard. */
export function baseUrlOf(message: IncomingMessage): string {
  const forwarded = message.headers['x-forwarded-proto'];
  const scheme = forwarded === 'https' ? 'https' : 'http';
  const host = message.headers.host ?? `${message.socket.localAddress}:${message.socket.localPort}`;
  return `${scheme}://${host}`;
}
