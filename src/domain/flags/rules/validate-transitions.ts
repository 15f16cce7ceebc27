import type { JsonObject } from '../../common/json.ts';
import { invalidField } from '../../common/refusal.ts';
import type { Tx } from '../../database/db.ts';
import { listActiveDependents, listNamedFlags } from '../list/flag-dependencies-queries.ts';
import { dependencyReferences, nameFlags, toFlagId } from '../model/flag-dependencies.ts';
import type { FeatureFlag, FeatureFlagInput } from '../model/flag-fields.ts';

/**
 * Refuses to delete or disable a flag that active flags depend on, and to enable one that depends
 * on a disabled flag. Only an actual change of state is looked at. `filters` are those that the
 * write leaves behind. Throws 400 without a field.
 */
export async function validateTransitions(
  tx: Tx,
  before: FeatureFlag,
  input: FeatureFlagInput,
  filters: JsonObject,
): Promise<void> {
  if (!before.deleted && input.deleted === true) {
    const names = await nameDependents(tx, before);
    if (names !== null) {
      throw invalidField(
        null,
        `Cannot delete this feature flag because other flags depend on it: ${names}. ` +
          'Please update or delete the dependent flags first.',
      );
    }
  }
  if (before.active && input.active === false) {
    const names = await nameDependents(tx, before);
    if (names !== null) {
      throw invalidField(
        null,
        `Cannot disable this feature flag because other flags depend on it: ${names}. ` +
          'Please update or disable the dependent flags first.',
      );
    }
  }
  if (!before.active && input.active === true) {
    const names = await nameDisabledDependencies(tx, before.projectId, filters);
    if (names !== null) {
      throw invalidField(
        null,
        `Cannot enable this feature flag because it depends on disabled flags: ${names}. ` +
          'Please enable the dependency flags first.',
      );
    }
  }
}

async function nameDependents(tx: Tx, flag: FeatureFlag): Promise<string | null> {
  return nameFlags(await listActiveDependents(tx, flag.projectId, [flag.id]));
}

async function nameDisabledDependencies(
  tx: Tx,
  projectId: number,
  filters: JsonObject,
): Promise<string | null> {
  const ids = dependencyReferences(filters)
    .map(toFlagId)
    .filter((id) => id !== null);
  if (ids.length === 0) return null;
  const named = await listNamedFlags(tx, projectId, ids);
  return nameFlags(named.filter((flag) => !flag.active));
}
