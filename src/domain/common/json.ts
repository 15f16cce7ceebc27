/** Any value that JSON can carry. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Whether the value is an object with keys: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a parser returned something: whatever JSON.parse returns is JSON. */
export function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}
