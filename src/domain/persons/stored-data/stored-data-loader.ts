import type { Client } from 'pg';
import type { JsonObject } from '../../common/json.ts';
import { unavailable } from '../../common/refusal.ts';
import { withConnection, withDeadline } from '../../database/connection.ts';
import { toRefusal } from '../../database/database-error.ts';
import type { Db } from '../../database/db.ts';
import { STORED_DATA_ANSWER_MS } from '../../database/deadlines.ts';
import { queryStoredData, type StoredLookup, type StoredRow } from './stored-data-query.ts';

/** One person as a look-up found it. */
export interface FoundPerson {
  readonly id: number;
  readonly properties: JsonObject;
  readonly createdAt: Date;
  /** Of the static cohorts that were asked for. */
  readonly cohortIds: ReadonlySet<number>;
  readonly overrides: ReadonlyMap<string, string>;
}

export interface FoundData {
  /** In the order of the look-up's distinct ids; null where nobody is stored. */
  readonly persons: readonly (FoundPerson | null)[];
  readonly groups: ReadonlyMap<number, JsonObject>;
}

/** Looks stored data up. Rejects with `unavailable` when the database is away. */
export type LoadStoredData = (lookup: StoredLookup) => Promise<FoundData>;

interface Waiting {
  readonly lookup: StoredLookup;
  readonly resolve: (found: FoundData) => void;
  readonly reject: (error: unknown) => void;
}

/** Queries that run at the same time; look-ups that come meanwhile share the next one. */
const QUERIES_MAX = 2;

/** The most look-ups in one query, so that none gets too long. */
const BATCH_MAX = 200;

/** Look-ups that may wait; beyond it the database counts as unavailable. */
const WAITING_MAX = 10_000;

/**
 * Look-ups of concurrent evaluations that share queries. An idle database is asked at once; while
 * it is busy, what comes meanwhile goes together in one query, so the load on it stays the same.
 */
export function createStoredDataLoader(
  db: Db,
  answerMs: number = STORED_DATA_ANSWER_MS,
): LoadStoredData {
  const waiting: Waiting[] = [];
  let running = 0;
  let isScheduled = false;

  /** Answers batches over one connection until nobody waits or one fails; never rejects. */
  async function work(): Promise<void> {
    try {
      // Knex cannot name a statement, so this asks the driver.
      await withConnection(db, async (client) => {
        let isSound = true;
        while (isSound && waiting.length > 0) {
          isSound = await answer(client, waiting.splice(0, BATCH_MAX), answerMs);
        }
      });
    } catch (error) {
      const cause = toRefusal(error);
      for (const { reject } of waiting.splice(0)) reject(cause);
    }
  }

  function schedule(): void {
    if (isScheduled || running >= QUERIES_MAX || waiting.length === 0) return;
    isScheduled = true;
    // Whatever else arrives in this turn of the event loop travels along.
    setImmediate(() => {
      isScheduled = false;
      if (waiting.length === 0) return;
      running += 1;
      void work().finally(() => {
        running -= 1;
        schedule();
      });
      schedule();
    });
  }

  return (lookup) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= WAITING_MAX) {
        reject(unavailable('The database is unavailable. Please try again shortly.', undefined));
        return;
      }
      waiting.push({ lookup, resolve, reject });
      schedule();
    });
}

interface FoundSoFar {
  readonly persons: (FoundPerson | null)[];
  groups: Map<number, JsonObject> | null;
}

const NO_GROUPS: ReadonlyMap<number, JsonObject> = new Map();
const NO_COHORTS: ReadonlySet<number> = new Set();
const NO_OVERRIDES: ReadonlyMap<string, string> = new Map();

/** Runs one query for a batch and hands each look-up its part. Says whether that went well. */
async function answer(
  client: Client,
  batch: readonly Waiting[],
  answerMs: number,
): Promise<boolean> {
  try {
    const found: FoundSoFar[] = batch.map(({ lookup }) => ({
      persons: lookup.distinctIds.map(() => null),
      groups: null,
    }));
    const lookups = batch.map(({ lookup }) => lookup);
    const rows = await withDeadline(client, answerMs, () => queryStoredData(client, lookups));
    for (const row of rows) addRow(found[row.lookup_index], row);
    for (const [index, { resolve }] of batch.entries()) {
      const { persons, groups } = found[index] ?? { persons: [], groups: null };
      resolve({ persons, groups: groups ?? NO_GROUPS });
    }
    return true;
  } catch (error) {
    const cause = toRefusal(error);
    for (const { reject } of batch) reject(cause);
    return false;
  }
}

function addRow(found: FoundSoFar | undefined, row: StoredRow): void {
  if (found === undefined) return;
  if (typeof row.group_type_index === 'number') {
    found.groups ??= new Map();
    found.groups.set(row.group_type_index, row.properties);
    return;
  }
  if (row.id_index === null || row.id === null || row.created_at === null) return;
  const { cohort_ids: cohortIds, overrides } = row;
  found.persons[row.id_index] = {
    id: row.id,
    properties: row.properties,
    createdAt: new Date(row.created_at),
    cohortIds: cohortIds ? new Set(cohortIds) : NO_COHORTS,
    overrides: overrides ? new Map(Object.entries(overrides)) : NO_OVERRIDES,
  };
}
