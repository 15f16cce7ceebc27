import type { JsonValue } from '../common/json.ts';
import type { Db } from '../database/db.ts';

/** Something whose log entries all have its version. */
export interface VersionedItem {
  readonly projectId: number;
  readonly scope: string;
  readonly itemId: string;
}

/** What the log has about one version of a thing. */
export interface LoggedVersion {
  /** When and by whom the version was written; null when the log does not have that entry. */
  readonly written: { readonly at: Date; readonly userId: number | null } | null;
  /** How many of the later versions the log has. */
  readonly laterVersions: number;
  /** The fields that later versions changed, with the values that they had in this one. */
  readonly changedSince: Readonly<Record<string, JsonValue>>;
}

/** Each entry with the version that it led to; creation led to the first. */
const ENTRIES = `SELECT sequence, user_id, created_at, detail,
    CASE activity WHEN 'created' THEN 1
      ELSE (jsonb_path_query_first(detail, '$.changes[*] \\? (@.field == "version").after'))::integer
    END AS version
  FROM activity_log
  WHERE project_id = :projectId AND scope = :scope AND item_id = :itemId`;

/** What the log has about a version. Three queries, to be run in a repeatable-read transaction. */
export async function readLoggedVersion(
  db: Db,
  item: VersionedItem,
  version: number,
): Promise<LoggedVersion> {
  const bindings = { ...item, version };
  const { rows: written }: { rows: { at: Date; userId: number | null }[] } = await db.raw(
    `SELECT created_at AS at, user_id AS "userId" FROM (${ENTRIES}) AS entries
     WHERE version = :version ORDER BY sequence DESC LIMIT 1`,
    bindings,
  );
  const { rows: counted }: { rows: { count: number }[] } = await db.raw(
    `SELECT count(DISTINCT version) FROM (${ENTRIES}) AS entries WHERE version > :version`,
    bindings,
  );
  // The first later change of a field has the value that it had before.
  const { rows: fields }: { rows: { field: string; before: JsonValue }[] } = await db.raw(
    `SELECT DISTINCT ON (field) change ->> 'field' AS field, change -> 'before' AS before
     FROM (${ENTRIES}) AS entries, jsonb_array_elements(detail -> 'changes') AS change
     WHERE version > :version
     ORDER BY field, sequence`,
    bindings,
  );
  return {
    written: written[0] ?? null,
    laterVersions: counted[0]?.count ?? 0,
    changedSince: Object.fromEntries(fields.map(({ field, before }) => [field, before])),
  };
}
