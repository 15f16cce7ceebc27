import type { Db } from '../../database/db.ts';
import { sumMonth } from './request-usage.ts';

/** The requests of one day that have the same kind and sender. */
export interface RequestCount {
  readonly day: string;
  readonly kind: string;
  readonly sdk: string;
  readonly sdkVersion: string;
  readonly requests: number;
}

export interface RequestCountsPage {
  readonly count: number;
  readonly counts: readonly RequestCount[];
}

/** One page of a project's requests from one UTC day to another, newest day first. */
export async function listRequestCounts(
  db: Db,
  projectId: number,
  page: {
    readonly firstDay: string;
    readonly lastDay: string;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<RequestCountsPage> {
  const found = db('request_usage')
    .where({ project_id: projectId })
    .whereBetween('day', [page.firstDay, page.lastDay]);
  const [total] = await found.clone().count({ total: '*' });
  const rows: {
    day: string;
    kind: string;
    sdk: string;
    sdk_version: string;
    requests: number;
  }[] = await found
    .orderBy([{ column: 'day', order: 'desc' }, 'kind', 'sdk', 'sdk_version'])
    .limit(page.limit)
    .offset(page.offset)
    .select(db.raw('day::text AS day'), 'kind', 'sdk', 'sdk_version', 'requests');
  return {
    count: Number(total?.total ?? 0),
    counts: rows.map((row) => ({
      day: row.day,
      kind: row.kind,
      sdk: row.sdk,
      sdkVersion: row.sdk_version,
      requests: row.requests,
    })),
  };
}

/** What a project has used of its quota in the UTC month of the instant. */
export async function readMonthlyUse(
  db: Db,
  projectId: number,
  now: Date,
): Promise<{ readonly firstDay: string; readonly used: number; readonly quota: number | null }> {
  const firstDay = `${now.toISOString().slice(0, 7)}-01`;
  const used = await sumMonth(db, [projectId], firstDay);
  const project = await db('projects')
    .where({ id: projectId })
    .select('flag_requests_per_month')
    .first();
  return {
    firstDay,
    used: used.get(projectId) ?? 0,
    quota: project?.flag_requests_per_month ?? null,
  };
}
