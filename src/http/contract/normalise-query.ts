import type { ContractOperation } from './contract-document.ts';

const TRUE_WORDS = new Set(['', 'true', 't', 'yes', 'y', 'on', '1']);
const FALSE_WORDS = new Set(['false', 'f', 'no', 'n', 'off', '0']);

/**
 * The declared query parameters of a request. Undeclared ones are dropped, since clients add their
 * own; a boolean without a value is true, and its usual spellings are understood.
 */
export function normaliseQuery(
  operation: ContractOperation,
  query: Readonly<Record<string, string>>,
): Record<string, string> {
  const declared: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (!operation.queryNames.has(name)) continue;
    declared[name] = operation.booleanQueryNames.has(name) ? normaliseBoolean(value) : value;
  }
  return declared;
}

function normaliseBoolean(value: string): string {
  const word = value.toLowerCase();
  if (TRUE_WORDS.has(word)) return 'true';
  return FALSE_WORDS.has(word) ? 'false' : value;
}
