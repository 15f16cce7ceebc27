import type { Db } from '../../database/db.ts';
import { type DependencyLink, toFlagId } from '../model/flag-dependencies.ts';

/** The property filters of a flag that refer to other flags. */
const FLAG_PROPERTIES = `'$.groups[*].properties[*] \\? (@.type == "flag")'`;

/** The condition of the partial index `feature_flags_dependents`. */
const HAS_DEPENDENCIES = `NOT deleted AND jsonb_path_exists(filters, ${FLAG_PROPERTIES})`;

const REFERENCES = `SELECT property ->> 'key' AS reference
  FROM jsonb_path_query(filters, ${FLAG_PROPERTIES}) AS property`;

/** A flag that another one names. */
export interface NamedFlag {
  readonly id: number;
  readonly key: string;
  readonly active: boolean;
}

/** An active flag whose conditions name another flag. */
export interface ActiveDependent extends DependencyLink {
  readonly name: string;
}

/** Every flag of the project that is not deleted and depends on others. */
export async function listDependencyLinks(db: Db, projectId: number): Promise<DependencyLink[]> {
  const { rows }: { rows: { id: number; key: string; references: string[] }[] } = await db.raw(
    `SELECT id, key, ARRAY(${REFERENCES}) AS references
     FROM feature_flags WHERE project_id = ? AND ${HAS_DEPENDENCIES}`,
    [projectId],
  );
  return rows.map(({ id, key, references }) => ({ id, key, dependsOn: toFlagIds(references) }));
}

/** The active flags that depend directly on one of these other flags, by key. */
export async function listActiveDependents(
  db: Db,
  projectId: number,
  ids: readonly number[],
): Promise<ActiveDependent[]> {
  const { rows }: { rows: DependentRow[] } = await db.raw(
    `SELECT id, key, name, ARRAY(${REFERENCES}) AS references
     FROM feature_flags
     WHERE project_id = ? AND ${HAS_DEPENDENCIES} AND active
       AND array_remove(ARRAY(${REFERENCES}), id::text) && ?::text[]
     ORDER BY key COLLATE "C"`,
    [projectId, ids.map(String)],
  );
  return rows.map(({ references, ...flag }) => ({ ...flag, dependsOn: toFlagIds(references) }));
}

interface DependentRow {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  readonly references: readonly string[];
}

/** Those of the flags that exist in the project and are not deleted, by key. */
export async function listNamedFlags(
  db: Db,
  projectId: number,
  ids: readonly number[],
): Promise<NamedFlag[]> {
  return db('feature_flags')
    .where({ project_id: projectId, deleted: false })
    .whereRaw('id = ANY(?::bigint[])', [[...ids]])
    .orderByRaw('key COLLATE "C"')
    .select('id', 'key', 'active');
}

function toFlagIds(references: readonly string[]): number[] {
  return references.map(toFlagId).filter((id) => id !== null);
}
