import { invalidField } from '../../common/refusal.ts';
import type { Tx } from '../../database/db.ts';
import { countFlags } from '../list/flags-queries.ts';

/** Limits of the flags of a project. Set by the operator. */
export interface FlagLimits {
  /** Flags of one project that are not deleted. */
  readonly maxFlagsPerProject: number;
  /** The compact JSON of one flag's filters. */
  readonly maxFiltersBytes: number;
}

/**
 * Refuses another flag in a project that is at its limit. Runs inside `changeProject`, whose lock
 * keeps two writers from both taking the last place.
 */
export async function requireRoom(tx: Tx, projectId: number, limits: FlagLimits): Promise<void> {
  if ((await countFlags(tx, projectId)) < limits.maxFlagsPerProject) return;
  const limit = limits.maxFlagsPerProject.toLocaleString('en-US');
  throw invalidField(
    null,
    `Maximum of ${limit} feature flags allowed per team. ` +
      'Please delete unused flags or contact support to increase this limit.',
  );
}
