/**
 * Columns of a multi-row insert as PostgreSQL array literals. The driver would quote and escape
 * each value on its own, which costs more than anything else that capture does per event.
 */

const NEEDS_ESCAPE = /["\\]/;
const ESCAPED = /["\\]/g;

/** An array literal of values whose text needs no quotes: numbers, uuids, dates, null. */
export function toPlainArray(values: readonly (number | string | null | undefined)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** An array literal of any texts. */
export function toTextArray(texts: readonly string[]): string {
  const quoted = texts.map((text) =>
    NEEDS_ESCAPE.test(text) ? `"${text.replace(ESCAPED, '\\$&')}"` : `"${text}"`,
  );
  return `{${quoted.join(',')}}`;
}
