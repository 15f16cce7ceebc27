import { isId } from '../common/ids.ts';
import type { Db } from '../database/db.ts';
import type { Statements } from '../database/pipeline.ts';
import type { CohortRow } from '../database/tables.ts';
import type { CohortDefinition } from '../evaluation/model/definitions.ts';
import { listBusySubjects, selectBusy } from '../jobs/jobs-queries.ts';
import { JOB_KINDS } from '../jobs/jobs-writes.ts';
import { listUsersById } from '../projects/projects-queries.ts';
import { type Cohort, type DescribedCohort, toCohort } from './cohort.ts';

export interface CohortPage {
  readonly count: number;
  readonly cohorts: readonly DescribedCohort[];
}

/** One page of the cohorts that are not deleted, newest first, and how many there are in all. */
export async function listCohorts(
  db: Db,
  projectId: number,
  page: { readonly limit: number; readonly offset: number; readonly search?: string },
): Promise<CohortPage> {
  const matching = db('cohorts')
    .where({ project_id: projectId, deleted: false })
    .modify((query) => {
      if (page.search === undefined || page.search === '') return;
      query.whereRaw('position(lower(?::text) IN lower(name)) > 0', [page.search]);
    });
  const [total] = await matching.clone().count({ total: '*' });
  const rows = await matching
    .select('cohorts.*', isCalculating(db))
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(page.limit)
    .offset(page.offset);
  return {
    count: Number(total?.total ?? 0),
    cohorts: await describeRows(db, rows),
  };
}

/** The cohort, deleted or not, or undefined when the project has none of this id. */
export async function getCohort(
  db: Db,
  projectId: number,
  id: number,
): Promise<DescribedCohort | undefined> {
  const rows = await db('cohorts')
    .where({ project_id: projectId, id })
    .select('cohorts.*', isCalculating(db));
  const [cohort] = await describeRows(db, rows);
  return cohort;
}

const isCalculating = (db: Db) => selectBusy(db, JOB_KINDS, 'cohorts.id', 'is_calculating');

async function describeRows(
  db: Db,
  rows: readonly (CohortRow & { is_calculating: boolean })[],
): Promise<DescribedCohort[]> {
  const busy = new Set(rows.filter((row) => row.is_calculating).map(({ id }) => id));
  return describe(db, rows.map(toCohort), busy);
}

/** Cohorts that the open transaction has written, with what belongs to them. */
export async function describeCohorts(
  db: Db,
  cohorts: readonly Cohort[],
): Promise<DescribedCohort[]> {
  const busy = await listBusySubjects(
    db,
    JOB_KINDS,
    cohorts.map(({ id }) => id),
  );
  return describe(db, cohorts, busy);
}

async function describe(
  db: Db,
  cohorts: readonly Cohort[],
  busy: ReadonlySet<number>,
): Promise<DescribedCohort[]> {
  const ids = cohorts.flatMap(({ createdById }) => (createdById === null ? [] : [createdById]));
  const users = await listUsersById(db, ids);
  return cohorts.map((cohort) => ({
    cohort,
    isCalculating: busy.has(cohort.id),
    createdBy: cohort.createdById === null ? null : (users.get(cohort.createdById) ?? null),
  }));
}

/** The cohorts of the project that are not deleted, lowest id first: what a snapshot is made of. */
export async function listCohortDefinitions(
  db: Statements,
  projectId: number,
): Promise<CohortDefinition[]> {
  const found: { rows: CohortRow[] } = await db.raw(
    `SELECT id, name, is_static, cohort_type, filters, groups FROM cohorts
     WHERE project_id = ? AND NOT deleted ORDER BY id`,
    [projectId],
  );
  return found.rows.map((row) => ({
    id: row.id,
    name: row.name,
    isStatic: row.is_static,
    cohortType: row.cohort_type,
    filters: row.filters,
    groups: row.groups,
  }));
}

/** The names of those of the cohorts that the project has, by id. */
export async function listCohortNames(
  db: Db,
  projectId: number,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const storable = [...new Set(ids)].filter(isId);
  if (storable.length === 0) return new Map();
  const rows = await db('cohorts')
    .where({ project_id: projectId, deleted: false })
    .whereIn('id', storable)
    .select('id', 'name');
  return new Map(rows.map((row) => [row.id, row.name]));
}

/** What refers to a cohort: the keys of active flags and the names of other cohorts. */
export interface CohortUsers {
  readonly flagKeys: readonly string[];
  readonly cohortNames: readonly string[];
}

/** Finds the active flags and the cohorts that refer to the cohort directly. */
export async function findCohortUsers(db: Db, projectId: number, id: number): Promise<CohortUsers> {
  const filter = { groups: [{ properties: [{ type: 'cohort', value: id }] }] };
  const flags = await db('feature_flags')
    .where({ project_id: projectId, deleted: false, active: true })
    .whereRaw('filters @> ?::jsonb', [JSON.stringify(filter)])
    .orderBy('id')
    .pluck('key');
  return { flagKeys: flags, cohortNames: (await listContaining(db, projectId, id)).map(nameOf) };
}

/** The ids of the cohorts that contain the cohort, directly or by way of others. */
export async function listCohortIdsAbove(
  db: Db,
  projectId: number,
  id: number,
): Promise<ReadonlySet<number>> {
  const above = new Set<number>();
  const pending = [id];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const cohort of await listContaining(db, projectId, next)) {
      if (cohort.id === id || above.has(cohort.id)) continue;
      above.add(cohort.id);
      pending.push(cohort.id);
    }
  }
  return above;
}

async function listContaining(
  db: Db,
  projectId: number,
  id: number,
): Promise<{ id: number; name: string }[]> {
  return db('cohorts')
    .where({ project_id: projectId, deleted: false, is_static: false })
    .whereNot({ id })
    .whereRaw(
      `jsonb_path_exists(jsonb_build_array(filters, groups),
         '$.** \\? (@.type == "cohort" && @.value == $id)', jsonb_build_object('id', ?::int))`,
      [id],
    )
    .orderBy('id')
    .select('id', 'name');
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
