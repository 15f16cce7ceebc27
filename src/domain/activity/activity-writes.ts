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

/** Entries in one statement, far below the limit on bound parameters. */
const ENTRIES_PER_INSERT = 1_000;

/** Writes one entry of the activity log, in the transaction of the change that it records. */
export async function writeActivity(tx: Tx, entry: NewActivity): Promise<void> {
  await writeActivities(tx, [entry]);
}

/** Writes entries of the activity log, in the transaction of the changes that they record. */
export async function writeActivities(tx: Tx, entries: readonly NewActivity[]): Promise<void> {
  for (let from = 0; from < entries.length; from += ENTRIES_PER_INSERT) {
    const rows = entries.slice(from, from + ENTRIES_PER_INSERT).map((entry) => ({
      project_id: entry.projectId,
      user_id: entry.userId,
      activity: entry.activity,
      scope: entry.scope,
      item_id: entry.itemId,
      detail: JSON.stringify({ name: entry.name, changes: entry.changes }),
    }));
    await tx('activity_log').insert(rows);
  }
}
