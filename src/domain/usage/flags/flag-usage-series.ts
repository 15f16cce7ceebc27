import type { Statements } from '../../database/pipeline.ts';
import { type FlagUse, OTHER_VARIANTS, USE_EVENTS } from './flag-use.ts';
import type { FullProjects } from './full-projects.ts';
import { type DayOf, dayOfZone } from './project-day.ts';

/**
 * How many variants of a flag are distinguished under one event; later ones are counted together.
 * Anybody with the public key can name variants, so their number is limited.
 */
export const VARIANTS_MAX = 100;

/**
 * How many keys that no flag of the project has are counted, for each project: a flag may be made
 * later, but anybody with the public key can name keys as well.
 */
export const UNKNOWN_KEYS_MAX = 1_000;

/** Where the uses of one flag and variant are counted, and how to tell their day. */
export interface Series {
  readonly id: number;
  readonly dayOf: DayOf;
}

interface UseInProject {
  readonly projectId: number;
  readonly use: FlagUse;
}

/**
 * Finds or makes the series of the uses. A use in a project that is gone has none, nor has one of a
 * key beyond the limit.
 */
export async function resolveSeries(
  tx: Statements,
  uses: readonly UseInProject[],
  full: FullProjects,
): Promise<(use: UseInProject) => Series | undefined> {
  const wanted = new Map<string, UseInProject>();
  for (const use of uses) wanted.set(toKey(use), use);
  const found = new Map<string, Series>();
  await find(tx, wanted, found);
  const missing = missingOf(wanted, found);
  if (missing.size > 0) {
    await add(tx, missing, full);
    await find(tx, missing, found);
  }
  // What is missing still found its flag full.
  const rest = missingOf(wanted, found);
  if (rest.size > 0) {
    const others = new Map([...rest.values()].map((use) => [toKey(toOther(use)), toOther(use)]));
    await find(tx, others, found);
    for (const [key, { projectId }] of others) if (!found.has(key)) full.note(projectId);
  }
  return (use) => found.get(toKey(use)) ?? found.get(toKey(toOther(use)));
}

type Uses = ReadonlyMap<string, UseInProject>;

async function find(tx: Statements, wanted: Uses, found: Map<string, Series>): Promise<void> {
  const keys = [...wanted.keys()];
  const result: { rows: { position: number; id: number; timezone: string }[] } = await tx.raw(
    `SELECT w.position, s.id, p.timezone
     FROM unnest(?::int[], ?::text[], ?::text[], ?::text[]) WITH ORDINALITY
       AS w (project_id, event, flag_key, variant, position)
     JOIN flag_usage_series s USING (project_id, event, flag_key, variant)
     JOIN projects p ON p.id = w.project_id`,
    toColumns(wanted),
  );
  for (const { position, id, timezone } of result.rows) {
    found.set(keys[position - 1] ?? '', { id, dayOf: dayOfZone(timezone) });
  }
}

/**
 * Adds series, up to the most that a flag may have, and one for all others beside them; for keys that
 * are neither a flag's nor counted already, up to the most of those.
 */
async function add(tx: Statements, missing: Uses, full: FullProjects): Promise<void> {
  const fullIds = [...missing.values()].map(({ projectId }) => projectId).filter(full.isFull, full);
  await tx.raw(
    `WITH named AS (
       SELECT w.*,
              EXISTS (SELECT FROM feature_flags f WHERE f.project_id = w.project_id
                        AND f.key = w.flag_key AND NOT f.deleted)
              OR EXISTS (SELECT FROM flag_usage_series s WHERE s.project_id = w.project_id
                           AND s.event = ANY (?::text[]) AND s.flag_key = w.flag_key) AS is_known
       FROM unnest(?::int[], ?::text[], ?::text[], ?::text[]) WITH ORDINALITY
         AS w (project_id, event, flag_key, variant, position)
       JOIN projects p ON p.id = w.project_id
     ), room AS (
       SELECT n.project_id, ? - (
                SELECT count(DISTINCT s.flag_key) FROM flag_usage_series s
                WHERE s.project_id = n.project_id AND NOT EXISTS (
                  SELECT FROM feature_flags f
                  WHERE f.project_id = s.project_id AND f.key = s.flag_key AND NOT f.deleted
                )
              ) AS keys
       FROM (
         SELECT DISTINCT project_id FROM named WHERE NOT is_known AND project_id <> ALL (?::int[])
       ) AS n
     ), wanted AS (
       SELECT n.*, row_number() OVER (PARTITION BY project_id, event, flag_key ORDER BY position)
         AS place
       FROM (
         SELECT *, dense_rank() OVER (PARTITION BY project_id, is_known ORDER BY first_position)
           AS key_place
         FROM (
           SELECT *, min(position) OVER (PARTITION BY project_id, flag_key) AS first_position
           FROM named
         ) AS n
       ) AS n
       LEFT JOIN room r USING (project_id)
       WHERE n.is_known OR n.key_place <= r.keys
     ), placed AS (
       SELECT project_id, event, flag_key, variant, place + (
                SELECT count(*) FROM flag_usage_series s
                WHERE s.project_id = w.project_id AND s.event = w.event
                  AND s.flag_key = w.flag_key AND s.variant <> ?
              ) AS place
       FROM wanted w
     )
     INSERT INTO flag_usage_series (project_id, event, flag_key, variant)
     SELECT DISTINCT project_id, event, flag_key, CASE WHEN place <= ? THEN variant ELSE ? END
     FROM placed
     ON CONFLICT DO NOTHING`,
    [
      [...USE_EVENTS],
      ...toColumns(missing),
      UNKNOWN_KEYS_MAX,
      [...new Set(fullIds)],
      OTHER_VARIANTS,
      VARIANTS_MAX,
      OTHER_VARIANTS,
    ],
  );
}

function missingOf(wanted: Uses, found: ReadonlyMap<string, Series>): Uses {
  return new Map([...wanted].filter(([key]) => !found.has(key)));
}

function toColumns(uses: Uses): [number[], string[], string[], string[]] {
  const rows = [...uses.values()];
  return [
    rows.map(({ projectId }) => projectId),
    rows.map(({ use }) => use.event),
    rows.map(({ use }) => use.flagKey),
    rows.map(({ use }) => use.variant),
  ];
}

function toOther({ projectId, use }: UseInProject): UseInProject {
  return { projectId, use: { ...use, variant: OTHER_VARIANTS } };
}

function toKey({ projectId, use }: UseInProject): string {
  return `${projectId} ${use.event} ${use.flagKey} ${use.variant}`;
}
