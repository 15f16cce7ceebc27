import type { Statements } from '../database/pipelined-transaction.ts';
import { type FlagUse, OTHER_VARIANTS } from './flag-use.ts';
import { createDayOf, type DayOf } from './project-day.ts';

/**
 * How many variants of a flag are told apart under one event; later ones are counted together.
 * Anybody with the public key can name variants, so there must be an end to them.
 */
export const VARIANTS_MAX = 100;

/** Where the uses of one flag and variant are counted, and how to tell their day. */
export interface Series {
  readonly id: number;
  readonly dayOf: DayOf;
}

interface UseInProject {
  readonly projectId: number;
  readonly use: FlagUse;
}

/** Finds or makes the series of the uses. A use in a project that is gone has none. */
export async function resolveSeries(
  tx: Statements,
  uses: readonly UseInProject[],
): Promise<(use: UseInProject) => Series | undefined> {
  const wanted = new Map<string, UseInProject>();
  for (const use of uses) wanted.set(toKey(use), use);
  const found = new Map<string, Series>();
  await find(tx, wanted, found);
  const missing = missingOf(wanted, found);
  if (missing.size > 0) {
    await add(tx, missing);
    await find(tx, missing, found);
  }
  // What is missing still found its flag full.
  const rest = missingOf(wanted, found);
  if (rest.size > 0) {
    const others = new Map([...rest.values()].map((use) => [toKey(toOther(use)), toOther(use)]));
    await find(tx, others, found);
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
  const dayOfByZone = new Map<string, DayOf>();
  for (const { position, id, timezone } of result.rows) {
    const dayOf = dayOfByZone.get(timezone) ?? createDayOf(timezone);
    dayOfByZone.set(timezone, dayOf);
    found.set(keys[position - 1] ?? '', { id, dayOf });
  }
}

/** Adds series, up to the most that a flag may have, and one for all others beside them. */
async function add(tx: Statements, missing: Uses): Promise<void> {
  await tx.raw(
    `WITH wanted AS (
       SELECT w.*, row_number() OVER (PARTITION BY project_id, event, flag_key ORDER BY position)
         AS place
       FROM unnest(?::int[], ?::text[], ?::text[], ?::text[]) WITH ORDINALITY
         AS w (project_id, event, flag_key, variant, position)
       JOIN projects p ON p.id = w.project_id
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
    [...toColumns(missing), OTHER_VARIANTS, VARIANTS_MAX, OTHER_VARIANTS],
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
