import type { StartedBurgee } from './start-burgee.ts';

/** What is written in the background, whoever asks for what. */
const BACKGROUND_TABLES = ['request_usage', 'jobs'];
const BACKGROUND_COLUMNS = ['count', 'last_calculation', 'last_called_at'];

/** What project 1 consists of, apart from what goes on by itself: a digest of its rows by table. */
export async function readProject(burgee: StartedBurgee): Promise<unknown> {
  digest ??= await buildDigest(burgee);
  return (await burgee.db.raw<{ rows: unknown }>(digest)).rows;
}

let digest: string | null = null;

async function buildDigest(burgee: StartedBurgee): Promise<string> {
  const { rows } = await burgee.db.raw<{ rows: { name: string }[] }>(
    `SELECT c.table_name AS name FROM information_schema.columns c
     JOIN pg_class p ON p.oid = c.table_name::regclass AND NOT p.relispartition
     WHERE c.table_schema = 'public' AND c.column_name = 'project_id'
       AND c.table_name <> ALL(?)`,
    [BACKGROUND_TABLES],
  );
  const names = rows.map(({ name }) => name);
  for (const name of ['feature_flags', 'persons', 'events']) {
    if (!names.includes(name)) throw new Error(`There is no table ${name}.`);
  }
  const digestOf = (name: string, column: string) =>
    `SELECT '${name}' AS name, md5(string_agg(row::text, '' ORDER BY row::text)) AS digest
     FROM ${name} t, LATERAL (SELECT to_jsonb(t) - '{${BACKGROUND_COLUMNS}}'::text[]) made(row)
     WHERE ${column} = 1`;
  const parts = [digestOf('projects', 'id'), ...names.map((name) => digestOf(name, 'project_id'))];
  return parts.join(' UNION ALL ');
}
