import { invalidField } from '../../domain/common/refusal.ts';
import type { Db } from '../../domain/database/db.ts';
import {
  listRequestCounts,
  readMonthlyUse,
} from '../../domain/usage/requests/request-usage-queries.ts';
import type { Handlers } from '../../operations/operation.ts';
import { offsetLinks, pageSize } from '../common/pagination.ts';

const PAGE_SIZE = 100;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const DAYS_MAX = 366;
const FIRST_DAY = '0001-01-01';

interface UsageHandlersContext {
  readonly db: Db;
  readonly now: () => Date;
}

/** The operations on what a project uses. */
export function createUsageHandlers({
  db,
  now,
}: UsageHandlersContext): Pick<Handlers, 'listRequestUsage'> {
  return {
    async listRequestUsage({ query, access, origin, reply }) {
      const range = readRange(query, now());
      const limit = pageSize(query.limit, PAGE_SIZE);
      const offset = query.offset ?? 0;
      const page = await listRequestCounts(db, access.projectId, { ...range, limit, offset });
      const month = await readMonthlyUse(db, access.projectId, now());
      return reply(200, {
        count: page.count,
        ...offsetLinks(origin, { limit, offset, total: page.count }),
        results: page.counts.map(({ day, kind, sdk, sdkVersion, requests }) => ({
          date: day,
          kind,
          sdk,
          sdk_version: sdkVersion,
          requests,
        })),
        month: { date_from: month.firstDay, used: month.used, quota: month.quota },
      });
    },
  };
}

/** The days that the query asks for; the contract has seen that they are dates. */
function readRange(
  query: { readonly date_from?: string; readonly date_to?: string },
  now: Date,
): { firstDay: string; lastDay: string } {
  const lastDay = query.date_to ?? toDay(now.getTime());
  if (lastDay < FIRST_DAY) throw invalidField('date_to', 'This is no day that can be stored.');
  const firstDay = query.date_from ?? toDay(Date.parse(lastDay) - DEFAULT_DAYS * DAY_MS);
  const days = (Date.parse(lastDay) - Date.parse(firstDay)) / DAY_MS;
  if (days < 0) throw invalidField('date_from', 'The first day must not be after the last one.');
  if (days > DAYS_MAX) {
    throw invalidField('date_from', `At most ${DAYS_MAX} days can be asked for at once.`);
  }
  return { firstDay: firstDay < FIRST_DAY ? FIRST_DAY : firstDay, lastDay };
}

function toDay(instantMs: number): string {
  return new Date(instantMs).toISOString().slice(0, 10);
}
