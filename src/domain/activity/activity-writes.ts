import type { Tx } from '../database/db.ts';
import type { ActivityKind, Change } from './activity.ts';

export interface NewActivity {
  readonly projectId: number;
  readonly userId: number | null;
  readonly activity: ActivityKind;
  readonly scope: string;
  readonly itemId: string;
  readonly name: string;
  readonly changes: readonly Change[];
}

/** Writes one entry of the activity log, in the transaction of the change that it tells of. */
export async function writeActivity(tx: Tx, entry: NewActivity): Promise<void> {
  await tx('activity_log').insert({
    project_id: entry.projectId,
    user_id: entry.userId,
    activity: entry.activity,
    scope: entry.scope,
    item_id: entry.itemId,
    detail: JSON.stringify({ name: entry.name, changes: entry.changes }),
  });
}
