const ILLEGAL_IN_ANY_CASE = [
  'anonymous',
  'guest',
  'distinctid',
  'distinct_id',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'true',
  'false',
];

const ILLEGAL_EXACTLY = ['[object Object]', 'NaN', 'None', 'none', 'null', '0', 'undefined'];

const ANY_CASE = new Set(withQuotes(ILLEGAL_IN_ANY_CASE));
const EXACT = new Set(withQuotes(ILLEGAL_EXACTLY));

/**
 * Whether so many people would share this distinct id that merging through it would weld them
 * together: placeholders that broken clients send, and blanks. Such ids still identify events.
 */
export function isIllegalDistinctId(distinctId: string): boolean {
  const trimmed = distinctId.trim();
  return trimmed === '' || EXACT.has(trimmed) || ANY_CASE.has(trimmed.toLowerCase());
}

function withQuotes(ids: readonly string[]): string[] {
  return ids.flatMap((id) => [id, `'${id}'`, `"${id}"`]);
}
