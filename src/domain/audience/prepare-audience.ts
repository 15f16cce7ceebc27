import type { JsonObject } from '../common/json.ts';
import type { Draw } from '../evaluation/bucketing/draws.ts';
import type { CompilePattern } from '../evaluation/model/definitions.ts';
import type { PreparedCondition, Snapshot } from '../evaluation/model/snapshot.ts';
import { MalformedFilters, parseFilters } from '../evaluation/prepare/parse-filters.ts';
import { prepareCondition } from '../evaluation/prepare/prepare-condition.ts';
import { UncountableFilters } from './audience-filters.ts';

/** Only property filters are counted, so that nobody is ever drawn. */
const NO_DRAW: Draw = { hash: () => 0 };

/**
 * Prepares the property filters of a condition that belongs to no flag, as the engine prepares
 * those that do. `groupTypeIndex` null counts persons. Throws `UncountableFilters`.
 */
export function prepareAudience(
  properties: readonly JsonObject[],
  groupTypeIndex: number | null,
  snapshot: Snapshot,
  compilePattern: CompilePattern,
): PreparedCondition {
  const { wallClock, cohorts } = snapshot;
  const tools = {
    compilePattern,
    wallClock,
    cohorts,
    variants: { keys: [], thresholds: [] },
    personFilters: new Map(),
    makeDraw: () => NO_DRAW,
  };
  try {
    const filters = { groups: [{ properties, aggregation_group_type_index: groupTypeIndex }] };
    const [parsed] = parseFilters(filters).conditions;
    if (parsed === undefined) throw new MalformedFilters('groups');
    return prepareCondition(parsed, 0, tools);
  } catch (error) {
    if (error instanceof MalformedFilters) throw new UncountableFilters(error.message);
    throw error;
  }
}
