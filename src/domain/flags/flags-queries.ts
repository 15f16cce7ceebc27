import type { Db } from '../database/db.ts';
import type { FeatureFlagRow } from '../database/tables.ts';
import { listUsersById } from '../projects/projects-queries.ts';
import { type FeatureFlag, type FeatureFlagWithUsers, toFlag } from './flag.ts';

export interface FlagPage {
  readonly count: number;
  readonly flags: readonly FeatureFlagWithUsers[];
}

/** One page of the flags that are not deleted, newest first, and how many there are in all. */
export async function listFlags(
  db: Db,
  projectId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<FlagPage> {
  const rows: (FeatureFlagRow & { total: number })[] = await db('feature_flags')
    .where({ project_id: projectId, deleted: false })
    .select('*', db.raw('count(*) OVER () AS total'))
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(page.limit)
    .offset(page.offset);
  // A page behind the end has no row to carry the total.
  const count = rows[0]?.total ?? (page.offset === 0 ? 0 : await countFlags(db, projectId));
  return { count, flags: await withUsers(db, rows.map(toFlag)) };
}

/** How many flags of the project are not deleted. */
export async function countFlags(db: Db, projectId: number): Promise<number> {
  const [row] = await db('feature_flags')
    .where({ project_id: projectId, deleted: false })
    .count({ total: '*' });
  return Number(row?.total ?? 0);
}

/** The flag, deleted or not, or undefined when the project has none of this id. */
export async function getFlag(
  db: Db,
  projectId: number,
  id: number,
): Promise<FeatureFlagWithUsers | undefined> {
  const row = await db('feature_flags').where({ project_id: projectId, id }).first();
  if (row === undefined) return undefined;
  const [flag] = await withUsers(db, [toFlag(row)]);
  return flag;
}

/** The flag with this key that is not deleted, or undefined. */
export async function getFlagByKey(
  db: Db,
  projectId: number,
  key: string,
): Promise<FeatureFlagWithUsers | undefined> {
  const row = await db('feature_flags')
    .where({ project_id: projectId, key, deleted: false })
    .first();
  if (row === undefined) return undefined;
  const [flag] = await withUsers(db, [toFlag(row)]);
  return flag;
}

/** Every flag of the project that is not deleted, by key: what a snapshot is made of. */
export async function listAllFlags(db: Db, projectId: number): Promise<FeatureFlag[]> {
  const rows = await db('feature_flags')
    .where({ project_id: projectId, deleted: false })
    .orderByRaw('key COLLATE "C"');
  return rows.map(toFlag);
}

/** The flags with the users who created and last changed them, looked up together. */
export async function withUsers(
  db: Db,
  flags: readonly FeatureFlag[],
): Promise<FeatureFlagWithUsers[]> {
  const ids = flags.flatMap((flag) => [flag.createdById, flag.lastModifiedById]);
  const users = await listUsersById(
    db,
    ids.filter((id) => id !== null),
  );
  const userOf = (id: number | null) => (id === null ? null : (users.get(id) ?? null));
  return flags.map((flag) => ({
    flag,
    createdBy: userOf(flag.createdById),
    lastModifiedBy: userOf(flag.lastModifiedById),
  }));
}
