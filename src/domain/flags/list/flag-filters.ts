import type { Knex } from 'knex';
import type { EvaluationRuntime } from '../model/flag-fields.ts';
import { staleSince } from '../model/flag-status.ts';
import { HAS_VARIANTS, IS_STALE } from './stale-sql.ts';

export const ACTIVE_FILTERS = ['STALE', 'false', 'true'] as const;
export const TYPE_FILTERS = ['boolean', 'experiment', 'multivariant', 'remote_config'] as const;

/** Which flags of a project are wanted. All given filters have to match. */
export interface FlagFilters {
  readonly active?: (typeof ACTIVE_FILTERS)[number];
  readonly type?: (typeof TYPE_FILTERS)[number];
  readonly evaluationRuntime?: EvaluationRuntime;
  /** Created by one of these users. */
  readonly createdByIds?: readonly number[];
  /** Words that key or name contain one after the other, whatever their case. */
  readonly searchWords?: readonly string[];
  /** Carries one of these tags. */
  readonly tags?: readonly string[];
  /** Carries none of these tags. */
  readonly excludedTags?: readonly string[];
  readonly excludedKeys?: readonly string[];
  readonly hasEvaluationTags?: boolean;
  /** This key, whatever its case. */
  readonly key?: string;
}

type Narrow = (query: Knex.QueryBuilder) => void;

/**
 * Narrows a query on `feature_flags` to what the filters ask for. For Knex's `modify`. The
 * caller restricts the project and excludes deleted flags.
 */
export function applyFlagFilters(query: Knex.QueryBuilder, filters: FlagFilters, now: Date): void {
  for (const narrow of [...stateFilters(filters, now), ...listFilters(filters)]) narrow(query);
}

function stateFilters(filters: FlagFilters, now: Date): Narrow[] {
  const { active, type, evaluationRuntime, hasEvaluationTags } = filters;
  const found: Narrow[] = [];
  if (active !== undefined) found.push(byActive(active, now));
  if (type !== undefined) found.push(byType(type));
  if (evaluationRuntime !== undefined) {
    found.push((query) => query.where('evaluation_runtime', evaluationRuntime));
  }
  if (hasEvaluationTags !== undefined) {
    found.push((query) => query.where('evaluation_tags', hasEvaluationTags ? '<>' : '=', '{}'));
  }
  return found;
}

function listFilters(filters: FlagFilters): Narrow[] {
  const { createdByIds, searchWords, tags, excludedTags, excludedKeys, key } = filters;
  const found: Narrow[] = [];
  if (createdByIds !== undefined) {
    found.push((query) => query.whereRaw('created_by = ANY(?::integer[])', [[...createdByIds]]));
  }
  if (tags !== undefined) found.push((query) => query.whereRaw('tags && ?::text[]', [[...tags]]));
  if (excludedTags !== undefined) {
    found.push((query) => query.whereRaw('NOT tags && ?::text[]', [[...excludedTags]]));
  }
  if (excludedKeys !== undefined) {
    found.push((query) => query.whereRaw('key <> ALL (?::text[])', [[...excludedKeys]]));
  }
  if (key !== undefined) found.push((query) => query.whereRaw('lower(key) = lower(?)', [key]));
  if (searchWords !== undefined && searchWords.length > 0) found.push(bySearch(searchWords));
  return found;
}

function byActive(active: NonNullable<FlagFilters['active']>, now: Date): Narrow {
  if (active !== 'STALE') return (query) => query.where('active', active === 'true');
  const since = staleSince(now);
  return (query) => query.whereRaw(IS_STALE, [since, since]);
}

function byType(type: NonNullable<FlagFilters['type']>): Narrow {
  switch (type) {
    case 'boolean':
      return (query) => query.whereRaw(`NOT ${HAS_VARIANTS}`);
    case 'multivariant':
      return (query) => query.whereRaw(HAS_VARIANTS);
    case 'remote_config':
      return (query) => query.where('is_remote_configuration', true);
    case 'experiment':
      // There are no experiments, so no flag has one.
      return (query) => query.whereRaw('false');
  }
}

/** What parts words may be written in any of the ways that keys and names part them. */
const GAP = '[ _-]+';

function bySearch(words: readonly string[]): Narrow {
  const pattern = words.map((word) => word.replaceAll(/[^\p{L}\p{N}\s]/gu, '\\$&')).join(GAP);
  return (query) => query.whereRaw('(key ~* :pattern OR name ~* :pattern)', { pattern });
}
