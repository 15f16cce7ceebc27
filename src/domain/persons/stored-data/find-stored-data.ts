import type { Db } from '../../database/db.ts';
import type { StoredDataNeeds } from '../../evaluation/match/stored-data.ts';
import type { EvaluationContext, StoredData } from '../../evaluation/model/context.ts';
import type { Snapshot } from '../../evaluation/model/snapshot.ts';
import { writeHashKeyOverrides } from '../write/hash-key-overrides-writes.ts';
import type { FoundPerson, LoadStoredData } from './stored-data-loader.ts';

export interface StoredDataSource {
  readonly db: Db;
  readonly load: LoadStoredData;
}

const NO_COHORTS: ReadonlySet<number> = new Set();
const NO_OVERRIDES: ReadonlyMap<string, string> = new Map();

/** Whether a first request under a new identifier may store the one that it had before. */
export interface StoredDataOptions {
  readonly mayWrite: boolean;
}

/**
 * What is stored about the subject of an evaluation, in one round trip; in two when experience
 * continuity has an identifier to keep for the first time. Throws `unavailable`.
 */
export async function findStoredData(
  source: StoredDataSource,
  snapshot: Snapshot,
  context: EvaluationContext,
  needs: StoredDataNeeds,
  options: StoredDataOptions,
): Promise<StoredData> {
  const { distinctId, anonDistinctId } = context;
  const hasEarlierId =
    needs.hashKeyOverrides && anonDistinctId !== null && anonDistinctId !== distinctId;
  const found = await source.load({
    projectId: snapshot.projectId,
    distinctIds: hasEarlierId ? [distinctId, anonDistinctId] : [distinctId],
    groups: needs.groups,
    staticCohortIds: needs.staticCohortIds,
    wantsOverrides: needs.hashKeyOverrides,
  });
  const [person = null] = found.persons;
  const overrides =
    hasEarlierId && options.mayWrite
      ? await keepIdentifier(source.db, snapshot, found.persons, anonDistinctId)
      : joinOverrides(found.persons);
  return {
    person,
    groups: found.groups,
    staticCohortIds: person?.cohortIds ?? NO_COHORTS,
    hashKeyOverrides: overrides,
  };
}

/** Keeps the earlier identifier for every continuous flag and person that has none kept yet. */
async function keepIdentifier(
  db: Db,
  snapshot: Snapshot,
  found: readonly (FoundPerson | null)[],
  hashKey: string,
): Promise<ReadonlyMap<string, string>> {
  const persons = found.filter((person) => person !== null);
  const flagKeys = snapshot.continuityFlagKeys;
  const isComplete = persons.every((person) => flagKeys.every((key) => person.overrides.has(key)));
  if (isComplete) return joinOverrides(persons);
  const personIds = [...new Set(persons.map((person) => person.id))];
  const written = await writeHashKeyOverrides(db, { personIds, flagKeys, hashKey });
  return joinOverrides(
    persons.map((person) => ({ ...person, overrides: written.get(person.id) ?? new Map() })),
  );
}

/** The subject's own kept identifiers go before those of the person it was before. */
function joinOverrides(found: readonly (FoundPerson | null)[]): ReadonlyMap<string, string> {
  const [own = null, earlier = null] = found;
  if (earlier === null) return own?.overrides ?? NO_OVERRIDES;
  return new Map([...earlier.overrides, ...(own?.overrides ?? [])]);
}
