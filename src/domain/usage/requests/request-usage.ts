import type { Db } from '../../database/db.ts';
import { type RequestCount, RequestCounts, type RequestKind } from './request-counts.ts';

export type { RequestKind } from './request-counts.ts';

/** How much a request of each kind counts against a quota. */
const WEIGHTS: Readonly<Record<RequestKind, number>> = {
  evaluation: 1,
  definitions: 10,
  definitions_unchanged: 0,
};

export interface RequestUsageOptions {
  readonly db: Db;
  readonly now: () => Date;
  readonly log: { warn(fields: object, message: string): void };
  /** The projects with a quota and how much it is. */
  readonly quotas: () => Iterable<readonly [projectId: number, perMonth: number]>;
  readonly flushEveryMs?: number;
}

/** Counts requests in memory and adds them to the database at intervals. */
export interface RequestUsage {
  count(projectId: number, kind: RequestKind, userAgent: string | undefined): void;
  /** Whether the month's requests have used the quota up, as far as this process knows. */
  isOver(projectId: number, quota: number): boolean;
  /** Writes what was counted and reads what other processes counted. */
  flush(): Promise<void>;
  /** Writes the rest. */
  close(): Promise<void>;
}

/** What a project has used of its quota, weighted. */
interface UsedInMonth {
  readonly month: string;
  /** As the database had it when it was last read. */
  readonly stored: number;
  /** Counted here since then. */
  since: number;
  /** The part of that which is on its way into the database. */
  beingWritten: number;
}

const FLUSH_EVERY_MS = 5_000;

/** Creates the counter; it writes periodically until it is closed. */
export function createRequestUsage(options: RequestUsageOptions): RequestUsage {
  const counts = new RequestCounts();
  /** What is stored of this month, and what was counted here since that was read, weighted. */
  const usedByProject = new Map<number, UsedInMonth>();

  function add(projectId: number, kind: RequestKind, userAgent: string | undefined): void {
    counts.add(projectId, kind, userAgent ?? '', options.now().getTime());
    const used = usedByProject.get(projectId);
    if (used !== undefined) used.since += WEIGHTS[kind];
  }

  async function flush(): Promise<void> {
    const written = counts.take();
    for (const used of usedByProject.values()) used.beingWritten = used.since;
    try {
      await writeCounts(options.db, written);
    } catch (error) {
      counts.restore(written);
      throw error;
    }
    await readUsed();
  }

  async function readUsed(): Promise<void> {
    const projectIds = [...options.quotas()].map(([projectId]) => projectId);
    if (projectIds.length === 0) return;
    const month = monthOf(options.now());
    const stored = await sumMonth(options.db, projectIds, month);
    for (const projectId of projectIds) {
      const known = usedByProject.get(projectId);
      // What was counted while this was under way is not in the database yet.
      const since = known?.month === month ? known.since - known.beingWritten : 0;
      usedByProject.set(projectId, {
        month,
        stored: stored.get(projectId) ?? 0,
        since,
        beingWritten: 0,
      });
    }
  }

  let flushing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    flushing = flush().catch((error: unknown) => {
      options.log.warn({ err: error }, 'Request counts could not be stored; trying again.');
    });
  }, options.flushEveryMs ?? FLUSH_EVERY_MS);
  timer.unref();

  return {
    count: add,
    isOver(projectId, quota) {
      const used = usedByProject.get(projectId);
      if (used === undefined || used.month !== monthOf(options.now())) return quota === 0;
      return used.stored + used.since >= quota;
    },
    flush,
    async close() {
      clearInterval(timer);
      await flushing;
      await flush().catch((error: unknown) => {
        options.log.warn({ err: error }, 'The last request counts could not be stored.');
      });
    },
  };
}

function monthOf(date: Date): string {
  return `${date.toISOString().slice(0, 7)}-01`;
}

async function writeCounts(db: Db, rows: readonly RequestCount[]): Promise<void> {
  if (rows.length === 0) return;
  await db.raw(
    `INSERT INTO request_usage (project_id, day, kind, sdk, sdk_version, requests)
     SELECT u.* FROM unnest(?::int[], ?::date[], ?::text[], ?::text[], ?::text[], ?::bigint[])
       AS u (project_id, day, kind, sdk, sdk_version, requests)
     JOIN projects p ON p.id = u.project_id
     ON CONFLICT (project_id, day, kind, sdk, sdk_version)
       DO UPDATE SET requests = request_usage.requests + excluded.requests`,
    [
      rows.map((row) => row.projectId),
      rows.map((row) => row.day),
      rows.map((row) => row.kind),
      rows.map((row) => row.sdk),
      rows.map((row) => row.version),
      rows.map((row) => row.requests),
    ],
  );
}

/** The weighted requests of each project since the first day of the month. */
export async function sumMonth(
  db: Db,
  projectIds: readonly number[],
  month: string,
): Promise<Map<number, number>> {
  const rows: { project_id: number; kind: RequestKind; requests: string }[] = await db(
    'request_usage',
  )
    .whereIn('project_id', [...projectIds])
    .where('day', '>=', month)
    .groupBy('project_id', 'kind')
    .select('project_id', 'kind', db.raw('sum(requests) AS requests'));
  const sums = new Map<number, number>();
  for (const row of rows) {
    const weighted = Number(row.requests) * (WEIGHTS[row.kind] ?? 0);
    sums.set(row.project_id, (sums.get(row.project_id) ?? 0) + weighted);
  }
  return sums;
}
