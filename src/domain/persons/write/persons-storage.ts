import { v7 } from 'uuid';
import type { JsonObject, JsonValue } from '../../common/json.ts';
import { toPlainArray, toTextArray } from '../../database/column-literals.ts';
import { type Sent, type Statements, sendWith } from '../../database/pipeline.ts';
import { preparedOnce } from '../../database/prepared-statements.ts';
import { adoptVisitorUsage } from '../../usage/flags/flag-usage-writes.ts';
import type { PersonChange } from '../model/person-changes.ts';
import {
  createPersonLedger,
  findSurvivor,
  type LedgerEntry,
  type PersonDraft,
  type PersonLedger,
  requireId,
} from '../model/person-ledger.ts';
import { findCarriers, writeMerges } from './persons-merge.ts';

/** One event's change of a project's persons. */
export interface PersonEntry extends LedgerEntry {
  readonly projectId: number;
}

/** A ledger per project id. */
export type PersonLedgers = Map<number, PersonLedger>;

interface LoadedRow {
  readonly project_id: number;
  readonly distinct_id: string;
  readonly id: number;
  readonly is_identified: boolean;
  readonly created_at: Date;
  /** Null when no entry can change them: most events only need the id. */
  readonly properties: JsonObject | null;
}

/** Loads every person that the entries name, with one statement, into one ledger per project. */
export async function loadPersonLedgers(
  tx: Statements,
  entries: readonly PersonEntry[],
): Promise<PersonLedgers> {
  const ledgers: PersonLedgers = new Map();
  const rows = await loadRows(tx, entries);
  for (const { projectId } of entries) {
    if (!ledgers.has(projectId)) ledgers.set(projectId, createPersonLedger());
  }
  const drafts = new Map<number, PersonDraft>();
  for (const row of rows) {
    const draft = drafts.get(row.id) ?? toDraft(row);
    drafts.set(row.id, draft);
    if (row.properties !== null && draft.properties.size === 0) {
      draft.properties = new Map(Object.entries(row.properties));
    }
    ledgers.get(row.project_id)?.byDistinctId.set(row.distinct_id, draft);
  }
  return ledgers;
}

/**
 * Writes what changed in the ledgers, with one statement per kind of change, but for merges: see
 * `writeMerges`. Persons that are new have their ids when it returns.
 */
export async function writePersonLedgers(
  tx: Statements,
  ledgers: PersonLedgers,
): Promise<Sent<void>> {
  await insertPersons(tx, ledgers);
  // One round trip: those who are updated are not among those that a merge deletes.
  const updates = sendWith(undefined, updatePersons(tx, ledgers));
  await insertDistinctIds(tx, ledgers);
  await writeMerges(
    tx,
    [...ledgers].map(([projectId, { merges }]) => ({ projectId, merges })),
  );
  return updates;
}

const FIND_PERSONS = preparedOnce(
  'find-persons',
  `
    SELECT d.project_id, d.distinct_id, p.id, p.is_identified, p.created_at,
           CASE WHEN k.needs_properties THEN p.properties END AS properties
    FROM unnest(?::int[], ?::text[], ?::boolean[]) AS k (project_id, distinct_id, needs_properties)
    CROSS JOIN LATERAL (
      SELECT i.project_id, i.distinct_id, i.person_id FROM person_distinct_ids AS i
      WHERE i.project_id = k.project_id AND i.distinct_id = k.distinct_id
      LIMIT 1
    ) AS d
    CROSS JOIN LATERAL (
      SELECT i.id, i.is_identified, i.created_at, i.properties FROM persons AS i
      WHERE i.id = d.person_id
      LIMIT 1
    ) AS p`,
);

async function loadRows(
  tx: Statements,
  entries: readonly PersonEntry[],
): Promise<readonly LoadedRow[]> {
  const wanted = new Map<number, Map<string, boolean>>();
  const want = (projectId: number, distinctId: string, needsProperties: boolean): void => {
    const ids = wanted.get(projectId) ?? new Map<string, boolean>();
    wanted.set(projectId, ids);
    ids.set(distinctId, needsProperties || ids.get(distinctId) === true);
  };
  for (const { projectId, distinctId, change } of entries) {
    want(projectId, distinctId, canChangeProperties(change));
    if (change.merge !== null) want(projectId, change.merge.otherDistinctId, true);
  }
  const rows = [...wanted].flatMap(([projectId, ids]) =>
    [...ids].map(([distinctId, needsProperties]) => ({ projectId, distinctId, needsProperties })),
  );
  const result: { rows: LoadedRow[] } = await tx.raw(FIND_PERSONS, [
    toPlainArray(rows.map((row) => row.projectId)),
    toTextArray(rows.map((row) => row.distinctId)),
    toPlainArray(rows.map((row) => (row.needsProperties ? 't' : 'f'))),
  ]);
  return result.rows;
}

function canChangeProperties({ merge, set, setOnce, mapped, unset }: PersonChange): boolean {
  return merge !== null || unset.length > 0 || hasKeys(set) || hasKeys(setOnce) || hasKeys(mapped);
}

function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

function toDraft(row: LoadedRow): PersonDraft {
  return {
    id: row.id,
    properties: new Map(),
    isIdentified: row.is_identified,
    createdAt: row.created_at,
    isChanged: false,
    mergedInto: null,
  };
}

async function insertPersons(tx: Statements, ledgers: PersonLedgers): Promise<void> {
  const projectIds: number[] = [];
  const byUuid = new Map<string, PersonDraft>();
  for (const [projectId, { created, merges }] of ledgers) {
    const carriers = findCarriers(merges);
    for (const person of created) {
      if (person.mergedInto !== null && !carriers.has(person)) continue;
      projectIds.push(projectId);
      byUuid.set(v7(), person);
    }
  }
  if (byUuid.size === 0) return;
  const persons = [...byUuid.values()];
  const result: { rows: { id: number; uuid: string }[] } = await tx.raw(
    `INSERT INTO persons (project_id, uuid, properties, is_identified, created_at)
     SELECT * FROM unnest(?::int[], ?::uuid[], ?::jsonb[], ?::boolean[], ?::timestamptz[])
     RETURNING id, uuid`,
    [projectIds, [...byUuid.keys()], ...toColumns(persons)],
  );
  for (const { id, uuid } of result.rows) {
    const person = byUuid.get(uuid);
    if (person !== undefined) person.id = id;
  }
}

async function insertDistinctIds(tx: Statements, ledgers: PersonLedgers): Promise<void> {
  const rows = [...ledgers].flatMap(([projectId, { attached }]) =>
    attached.map(({ distinctId, person }) => ({
      projectId,
      distinctId,
      personId: requireId(findSurvivor(person)),
    })),
  );
  if (rows.length === 0) return;
  const projectIds = rows.map((row) => row.projectId);
  const distinctIds = rows.map((row) => row.distinctId);
  const personIds = rows.map((row) => row.personId);
  await Promise.all([
    tx.raw(
      `INSERT INTO person_distinct_ids (project_id, distinct_id, person_id)
       SELECT * FROM unnest(?::int[], ?::text[], ?::bigint[])`,
      [projectIds, distinctIds, personIds],
    ),
    adoptVisitorUsage(tx, { projectIds, distinctIds, personIds }),
  ]);
}

const UPDATE_PERSONS = `
    UPDATE persons AS p
    SET properties = c.properties, is_identified = c.is_identified, created_at = c.created_at
    FROM unnest(?::bigint[], ?::jsonb[], ?::boolean[], ?::timestamptz[])
      AS c (id, properties, is_identified, created_at)
    WHERE p.id = c.id`;

async function updatePersons(tx: Statements, ledgers: PersonLedgers): Promise<void> {
  const changed = new Set<PersonDraft>();
  for (const { byDistinctId } of ledgers.values()) {
    for (const person of byDistinctId.values()) {
      const survivor = findSurvivor(person);
      if (survivor.isChanged) changed.add(survivor);
    }
  }
  if (changed.size === 0) return;
  const persons = [...changed];
  await tx.raw(UPDATE_PERSONS, [persons.map(requireId), ...toColumns(persons)]);
}

function toColumns(persons: readonly PersonDraft[]): [string[], boolean[], Date[]] {
  return [
    persons.map((person) => JSON.stringify(Object.fromEntries<JsonValue>(person.properties))),
    persons.map((person) => person.isIdentified),
    persons.map((person) => person.createdAt),
  ];
}
