import { isJsonObject, type JsonValue } from '../common/json.ts';

/**
 * Clients know error texts that name types and values the way Python prints them. These functions
 * print JSON values that way.
 */

/** The name of a JSON value's type: `str`, `int`, `float`, `bool`, `list`, `dict` or `NoneType`. */
export function pythonTypeName(value: JsonValue): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'str' : 'dict';
}

/** A JSON value as Python would print it: `['x', True, None]`. */
export function pythonRepr(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return reprOfText(value);
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(
      ([key, item]) => `${reprOfText(key)}: ${pythonRepr(item)}`,
    );
    return `{${entries.join(', ')}}`;
  }
  return `[${value.map(pythonRepr).join(', ')}]`;
}

function reprOfText(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  if (escaped.includes("'") && !escaped.includes('"')) return `"${escaped}"`;
  return `'${escaped.replaceAll("'", "\\'")}'`;
}
