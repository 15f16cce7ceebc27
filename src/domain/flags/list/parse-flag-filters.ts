import { isId } from '../../common/ids.ts';
import type { JsonValue } from '../../common/json.ts';
import { invalidField, type Refusal } from '../../common/refusal.ts';
import type { EvaluationRuntime } from '../model/flag-fields.ts';
import { ACTIVE_FILTERS, type FlagFilters, TYPE_FILTERS } from './flag-filters.ts';

/** The names under which clients send filters, in a query or in a body. */
export const FLAG_FILTER_NAMES = [
  'active',
  'type',
  'evaluation_runtime',
  'created_by_id',
  'search',
  'tags',
  'excluded_tags',
  'excluded_properties',
  'has_evaluation_tags',
  'has_evaluation_contexts',
  'key',
] as const;

type FilterName = (typeof FLAG_FILTER_NAMES)[number];

/** Filters as clients send them. Lists are JSON text in a query, and may be lists in a body. */
export type SentFlagFilters = { readonly [Name in FilterName]?: JsonValue | undefined };

const SEARCH_MAX_LENGTH = 200;
const LIST_MAX_ITEMS = 1_000;

/** What flags store as `all` is also called `both`. */
const RUNTIMES: Readonly<Record<string, EvaluationRuntime>> = {
  server: 'server',
  client: 'client',
  both: 'all',
  all: 'all',
};

/** Reads filters. Throws 400 on the first one that cannot be understood. Null counts as absent. */
export function parseFlagFilters(sent: SentFlagFilters): FlagFilters {
  const isNewerName = (sent.has_evaluation_contexts ?? null) !== null;
  const contextsName = isNewerName ? 'has_evaluation_contexts' : 'has_evaluation_tags';
  const filters: { [Name in keyof FlagFilters]: FlagFilters[Name] | undefined } = {
    active: read('active', sent.active, readActive),
    type: read('type', sent.type, readType),
    evaluationRuntime: read('evaluation_runtime', sent.evaluation_runtime, readRuntime),
    createdByIds: read('created_by_id', sent.created_by_id, readIds),
    searchWords: read('search', sent.search, readSearch),
    tags: read('tags', sent.tags, readTexts),
    excludedTags: read('excluded_tags', sent.excluded_tags, readTexts),
    excludedKeys: read('excluded_properties', sent.excluded_properties, readTexts),
    hasEvaluationTags: read(contextsName, sent[contextsName], readBoolean),
    key: read('key', sent.key, readText),
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

function read<Value>(
  name: FilterName,
  sent: JsonValue | undefined,
  parse: (name: FilterName, sent: JsonValue) => Value,
): Value | undefined {
  return sent === undefined || sent === null ? undefined : parse(name, sent);
}

function readActive(name: FilterName, sent: JsonValue): NonNullable<FlagFilters['active']> {
  return readChoice(name, typeof sent === 'boolean' ? String(sent) : sent, ACTIVE_FILTERS);
}

function readType(name: FilterName, sent: JsonValue): NonNullable<FlagFilters['type']> {
  return readChoice(name, sent, TYPE_FILTERS);
}

function readRuntime(name: FilterName, sent: JsonValue): EvaluationRuntime {
  return RUNTIMES[readChoice(name, sent, Object.keys(RUNTIMES))] ?? 'all';
}

function readChoice<Choice extends string>(
  name: FilterName,
  sent: JsonValue,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === sent);
  if (found !== undefined) return found;
  const shown = typeof sent === 'string' ? sent : JSON.stringify(sent);
  throw invalidField(name, `"${shown}" is not a valid choice.`, 'invalid_choice');
}

function readBoolean(name: FilterName, sent: JsonValue): boolean {
  if (sent === true || sent === 'true') return true;
  if (sent === false || sent === 'false') return false;
  throw invalidField(name, 'Must be a valid boolean.');
}

function readText(name: FilterName, sent: JsonValue): string {
  if (typeof sent !== 'string') throw invalidField(name, 'Not a valid string.');
  // PostgreSQL cannot compare it with anything.
  if (sent.includes('\0')) {
    throw invalidField(name, 'Null characters are not allowed.', 'null_characters_not_allowed');
  }
  return sent;
}

function readSearch(name: FilterName, sent: JsonValue): string[] {
  const term = readText(name, sent).trim();
  if (term.length > SEARCH_MAX_LENGTH) {
    throw invalidField(name, `Search term cannot exceed ${SEARCH_MAX_LENGTH} characters`);
  }
  return term === '' ? [] : term.split(/\s+/);
}

/** One id, several with commas between, or a list of them. */
function readIds(name: FilterName, sent: JsonValue): number[] {
  const parts = Array.isArray(sent) ? sent : splitIds(sent);
  if (parts.length > LIST_MAX_ITEMS) throw tooMany(name);
  return parts.map((part) => {
    const id = typeof part === 'string' && /^\s*\d+\s*$/.test(part) ? Number(part) : part;
    if (typeof id === 'number' && isId(id)) return id;
    throw invalidField(name, 'A valid integer is required.');
  });
}

function splitIds(sent: JsonValue): readonly JsonValue[] {
  if (typeof sent !== 'string') return [sent];
  const list = /^\s*\[(.*)\]\s*$/s.exec(sent)?.[1];
  if (list?.trim() === '') return [];
  return (list ?? sent).split(',').map((part) => part.replace(/^\s*"(.*)"\s*$/s, '$1'));
}

/** A list of texts, as JSON text or as a list. */
function readTexts(name: FilterName, sent: JsonValue): string[] {
  const list = typeof sent === 'string' ? parseJson(name, sent) : sent;
  if (!Array.isArray(list)) throw invalidField(name, `${name} must be a JSON array`);
  if (list.length > LIST_MAX_ITEMS) throw tooMany(name);
  return list.map((item: JsonValue) => readText(name, item));
}

function parseJson(name: FilterName, text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidField(name, `Invalid JSON in ${name} parameter`);
  }
}

function tooMany(name: FilterName): Refusal {
  return invalidField(
    name,
    `Ensure this field has no more than ${LIST_MAX_ITEMS} elements.`,
    'max_length',
  );
}
