import type { JsonValue } from '../common/json.ts';
import type { Db } from '../database/db.ts';
import type { Activity, ActivityKind, Change } from './activity.ts';

export interface ActivityPage {
  readonly entries: readonly Activity[];
  readonly totalCount: number;
}

export interface ActivityQuery {
  readonly projectId: number;
  readonly scope: string;
  /** Only entries of this thing; absent means of every thing of the scope. */
  readonly itemId?: string;
  readonly limit: number;
  readonly offset: number;
}

interface ActivityRowWithUser {
  id: string;
  email: string | null;
  activity: ActivityKind;
  scope: string;
  item_id: string;
  detail: { name: string | null; changes: (Change & { [key: string]: JsonValue })[] };
  created_at: Date;
}

/** One page of the activity log, newest first, and how many entries there are in all. */
export async function listActivity(db: Db, query: ActivityQuery): Promise<ActivityPage> {
  const filter = {
    project_id: query.projectId,
    scope: query.scope,
    ...(query.itemId === undefined ? {} : { item_id: query.itemId }),
  };
  const [total] = await db('activity_log').where(filter).count({ total: '*' });
  const rows: ActivityRowWithUser[] = await db('activity_log')
    .where(filter)
    .leftJoin('users', 'users.id', 'activity_log.user_id')
    .select(
      'activity_log.id',
      'users.email',
      'activity',
      'scope',
      'item_id',
      'detail',
      'activity_log.created_at',
    )
    .orderBy('sequence', 'desc')
    .limit(query.limit)
    .offset(query.offset);
  return {
    totalCount: Number(total?.total ?? 0),
    entries: rows.map((row) => ({
      id: row.id,
      userEmail: row.email,
      activity: row.activity,
      scope: row.scope,
      itemId: row.item_id,
      name: row.detail.name,
      changes: row.detail.changes,
      createdAt: row.created_at,
    })),
  };
}
