import type { Knex } from 'knex';
import { listCohortNames } from '../../cohorts/cohorts-queries.ts';
import { isId } from '../../common/ids.ts';
import type { Db } from '../../database/db.ts';
import type { Statements } from '../../database/pipeline.ts';
import type { FeatureFlagRow } from '../../database/tables.ts';
import { listUsersById } from '../../projects/projects-queries.ts';
import { type CohortNames, listCohortIds } from '../model/cohort-names.ts';
import type { DescribedFlag } from '../model/flag.ts';
import { type FeatureFlag, toFlag } from '../model/flag-fields.ts';
import { applyFlagFilters, type FlagFilters } from './flag-filters.ts';
import { applyFlagOrder, type FlagOrder, NEWEST_FIRST } from './flag-order.ts';

export interface FlagPage {
  readonly count: number;
  readonly flags: readonly DescribedFlag[];
}

export interface FlagListQuery {
  readonly filters: FlagFilters;
  readonly order: FlagOrder;
  readonly limit: number;
  readonly offset: number;
  readonly now: Date;
}

/** One page of the flags that are not deleted and pass the filters, and how many there are in all. */
export async function listFlags(
  db: Db,
  projectId: number,
  query: FlagListQuery,
): Promise<FlagPage> {
  const selected = () => selectFlags(db, projectId, query);
  const rows: (FeatureFlagRow & { total: number })[] = await selected()
    .select('*', selected().count('*').as('total'))
    .modify(applyFlagOrder, query.order)
    .limit(query.limit)
    .offset(query.offset);
  // A page beyond the end has no row that could carry the total.
  const count = rows[0]?.total ?? (query.offset === 0 ? 0 : await countRows(selected()));
  return { count, flags: await describeFlags(db, rows.map(toFlag)) };
}

/** The ids of the flags that are not deleted and pass the filters, newest first. */
export async function listFlagIds(
  db: Db,
  projectId: number,
  query: Pick<FlagListQuery, 'filters' | 'now'>,
): Promise<number[]> {
  const rows: { id: number }[] = await selectFlags(db, projectId, query)
    .select('id')
    .modify(applyFlagOrder, NEWEST_FIRST);
  return rows.map(({ id }) => id);
}

function selectFlags(
  db: Db,
  projectId: number,
  { filters, now }: Pick<FlagListQuery, 'filters' | 'now'>,
) {
  return db('feature_flags')
    .where({ project_id: projectId, deleted: false })
    .modify(applyFlagFilters, filters, now);
}

async function countRows(query: Knex.QueryBuilder): Promise<number> {
  const [row]: { total: number }[] = await query.count({ total: '*' });
  return row?.total ?? 0;
}

/** How many flags of the project are not deleted. */
export async function countFlags(db: Db, projectId: number): Promise<number> {
  return countRows(db('feature_flags').where({ project_id: projectId, deleted: false }));
}

/** The flag, deleted or not, or undefined when the project has none of this id. */
export async function getFlag(
  db: Db,
  projectId: number,
  id: number,
): Promise<DescribedFlag | undefined> {
  const row = await db('feature_flags').where({ project_id: projectId, id }).first();
  if (row === undefined) return undefined;
  return describeFlag(db, toFlag(row));
}

/** The flag with this key that is not deleted, or undefined. */
export async function getFlagByKey(
  db: Db,
  projectId: number,
  key: string,
): Promise<DescribedFlag | undefined> {
  const row = await db('feature_flags')
    .where({ project_id: projectId, key, deleted: false })
    .first();
  if (row === undefined) return undefined;
  return describeFlag(db, toFlag(row));
}

/** The keys of those of the flags that the project has and that are not deleted, by id. */
export async function listFlagKeys(
  db: Db,
  projectId: number,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const rows: { id: number; key: string }[] = await db('feature_flags')
    .where({ project_id: projectId, deleted: false })
    .whereRaw('id = ANY (?::integer[])', [ids.filter(isId)])
    .orderBy('id')
    .select('id', 'key');
  return new Map(rows.map((row) => [row.id, row.key]));
}

/** Every flag of the project that is not deleted, by key: what a snapshot is made of. */
export async function listAllFlags(db: Statements, projectId: number): Promise<FeatureFlag[]> {
  const found: { rows: FeatureFlagRow[] } = await db.raw(
    'SELECT * FROM feature_flags WHERE project_id = ? AND NOT deleted ORDER BY key COLLATE "C"',
    [projectId],
  );
  return found.rows.map(toFlag);
}

/** The flag with the users and cohorts that it names. */
export async function describeFlag(db: Db, flag: FeatureFlag): Promise<DescribedFlag> {
  const [described] = await describeFlags(db, [flag]);
  if (described === undefined) throw new Error('A flag got lost while its users were looked up.');
  return described;
}

/** The flags with the users and cohorts that they name, looked up together for all of them. */
export async function describeFlags(
  db: Db,
  flags: readonly FeatureFlag[],
): Promise<DescribedFlag[]> {
  const ids = flags.flatMap((flag) => [flag.createdById, flag.lastModifiedById]);
  const [users, cohortNames] = await Promise.all([
    listUsersById(
      db,
      ids.filter((id) => id !== null),
    ),
    findCohortNames(db, flags),
  ]);
  const userOf = (id: number | null) => (id === null ? null : (users.get(id) ?? null));
  return flags.map((flag) => ({
    flag,
    cohortNames,
    createdBy: userOf(flag.createdById),
    lastModifiedBy: userOf(flag.lastModifiedById),
  }));
}

/** Flags that are described together are of one project. */
async function findCohortNames(db: Db, flags: readonly FeatureFlag[]): Promise<CohortNames> {
  const [first] = flags;
  if (first === undefined) return new Map();
  const ids = flags.flatMap(({ filters }) => listCohortIds(filters));
  return listCohortNames(db, first.projectId, ids);
}
