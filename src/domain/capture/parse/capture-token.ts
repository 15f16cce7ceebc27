import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import type { Refusal } from '../../common/refusal.ts';
import { invalidToken } from './capture-refusal.ts';

const MAX_TOKEN_LENGTH = 64;
const PERSONAL_KEY_PREFIX = 'phx_';

const NOT_ASCII = /[^\0-\x7f]/;

/**
 * The project key of a whole request: the batch's own when it has one, else the one that all its
 * events name. 401 when there is none, when events differ, or when it cannot be a project key.
 */
export function extractToken(batchToken: string | null, events: readonly JsonObject[]): string {
  return requireToken(batchToken ?? commonToken(events));
}

/** The token when it can be a project key; 401 when it cannot, or when there is none. */
export function requireToken(token: string | null): string {
  if (token === null) throw invalidToken('event submitted without an api_key');
  const fault = findTokenFault(token);
  if (fault !== null) throw invalidToken(`API key is not valid: ${fault}`);
  return token;
}

/** The refusal of a key that no project has. */
export function unknownToken(): Refusal {
  return invalidToken('API key is not valid: unknown');
}

/** The first text among the given fields; null when there is none. */
export function readToken(object: JsonObject, fields: readonly string[]): string | null {
  for (const field of fields) {
    const value: JsonValue | undefined = object[field];
    if (typeof value === 'string') return value;
  }
  return null;
}

function commonToken(events: readonly JsonObject[]): string | null {
  let common: string | null = null;
  for (const event of events) {
    const token = readEventToken(event);
    if (token === null) continue;
    if (common !== null && common !== token) {
      throw invalidToken('batch submitted with inconsistent api_key values');
    }
    common = token;
  }
  return common;
}

function readEventToken(event: JsonObject): string | null {
  const own = readToken(event, ['token', '$token', 'api_key']);
  if (own !== null) return own;
  return isJsonObject(event.properties) ? readToken(event.properties, ['token']) : null;
}

function findTokenFault(token: string): string | null {
  if (token === '') return 'empty';
  if (token.length > MAX_TOKEN_LENGTH) return 'too_long';
  if (NOT_ASCII.test(token)) return 'not_ascii';
  if (token.startsWith(PERSONAL_KEY_PREFIX)) return 'personal_api_key';
  if (token.includes('\0')) return 'null_byte';
  return null;
}
