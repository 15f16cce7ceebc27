import { isJsonObject, type JsonObject } from '../common/json.ts';
import { matchCondition } from '../evaluation/match/match-condition.ts';
import { MATCH, RequestView } from '../evaluation/match/request-view.ts';
import type { EvaluationContext } from '../evaluation/model/context.ts';
import type { PreparedCondition, Snapshot } from '../evaluation/model/snapshot.ts';
import { membershipSql, type StoredValueSql } from './condition-sql.ts';
import { joinSql, type Sql, sql } from './sql.ts';

/** What the engine has to know of a subject in order to decide one condition. */
export interface SubjectReads {
  /** Keys of properties. */
  readonly keys: readonly string[];
  readonly storedValue: StoredValueSql;
  readonly staticCohortIds: readonly number[];
  readonly needsCreatedAt: boolean;
  readonly needsDistinctId: boolean;
}

/** Decides rows of subjects by the engine. */
export interface Decider {
  /** The four columns that a row has to have, before `n`, the number of subjects that share them. */
  readonly columns: Sql;
  /** How many of the row's subjects match, all or none. The row is the list of its columns. */
  countMatches(row: unknown): number;
}

/** There may be a million rows: what is the same for all of them is created once. */
const NOTHING: JsonObject = {};
const NO_IDS: ReadonlySet<number> = new Set();
const NO_GROUPS: ReadonlyMap<number, JsonObject> = new Map();
const NO_OVERRIDES: ReadonlyMap<string, string> = new Map();
const NEVER = new Date(Number.NaN);

/** Creates the decider of one condition. */
export function createDecider(
  condition: PreparedCondition,
  snapshot: Snapshot,
  now: Date,
  reads: SubjectReads,
): Decider {
  const isGroup = condition.groupTypeIndex !== null;
  const toContext = contextMaker(condition, snapshot, reads);
  return {
    columns: sql`${propertiesSql(reads)} AS properties, ${
      reads.needsCreatedAt ? sql`s.created_at` : sql`NULL::timestamptz`
    } AS created_at, ${subjectIdSql(reads, isGroup)} AS subject_id, ${membershipsSql(reads)} AS memberships`,
    countMatches(row) {
      const subject = readSubject(row);
      const view = new RequestView(snapshot, toContext(subject), now);
      return matchCondition(condition, view) === MATCH ? subject.n : 0;
    },
  };
}

/** The members of a JSON object with the properties that are there, or nothing. */
function propertiesSql({ keys, storedValue }: SubjectReads): Sql {
  if (keys.length === 0) return sql`''::text`;
  const members = keys.map(
    (key) => sql`${`${JSON.stringify(key)}:`}::text || ${storedValue(key)}::text`,
  );
  return sql`array_to_string(ARRAY[${joinSql(members, ', ')}]::text[], ',')`;
}

/** One letter for each static cohort: whether the person is in it. */
function membershipsSql({ staticCohortIds }: SubjectReads): Sql {
  if (staticCohortIds.length === 0) return sql`''::text`;
  const letters = staticCohortIds.map(
    (id) => sql`CASE WHEN ${membershipSql(id)} THEN 'y' ELSE 'n' END`,
  );
  return sql`(${joinSql(letters, ' || ')})`;
}

function subjectIdSql({ keys, needsDistinctId }: SubjectReads, isGroup: boolean): Sql {
  if (isGroup) return keys.includes('$group_key') ? sql`s.group_key` : sql`'-'::text`;
  return needsDistinctId ? sql`s.distinct_id` : sql`''::text`;
}

/** What a row tells of the subjects that share it. */
interface Subject {
  readonly properties: JsonObject;
  readonly createdAt: Date | null;
  readonly id: string;
  readonly memberships: string;
  /** How many they are. */
  readonly n: number;
}

/** A row as `pg` returns it. */
function readSubject(row: unknown): Subject {
  const [properties, createdAt, id, memberships, n]: readonly unknown[] = Array.isArray(row)
    ? row
    : [];
  return {
    properties: parseMembers(properties),
    createdAt: createdAt instanceof Date ? createdAt : null,
    id: String(id),
    memberships: String(memberships),
    n: Number(n),
  };
}

function parseMembers(members: unknown): JsonObject {
  if (typeof members !== 'string' || members === '') return NOTHING;
  const properties: unknown = JSON.parse(`{${members}}`);
  return isJsonObject(properties) ? properties : NOTHING;
}

function contextMaker(
  { groupTypeIndex }: PreparedCondition,
  snapshot: Snapshot,
  { staticCohortIds }: SubjectReads,
): (subject: Subject) => EvaluationContext {
  const same = {
    deviceId: null,
    anonDistinctId: null,
    personProperties: NOTHING,
    groupProperties: {},
    runtime: 'all',
    evaluationContexts: [],
  } as const;
  if (groupTypeIndex === null) {
    return ({ id, properties, createdAt, memberships }) => ({
      ...same,
      distinctId: id,
      groups: {},
      stored: {
        person: { properties, createdAt: createdAt ?? NEVER },
        groups: NO_GROUPS,
        staticCohortIds:
          memberships === ''
            ? NO_IDS
            : new Set(staticCohortIds.filter((_, at) => memberships[at] === 'y')),
        hashKeyOverrides: NO_OVERRIDES,
      },
    });
  }
  const name = snapshot.groupTypeNames.get(groupTypeIndex);
  return ({ id, properties }) => ({
    ...same,
    distinctId: '',
    groups: name === undefined ? {} : { [name]: id },
    stored: {
      person: null,
      groups: new Map([[groupTypeIndex, properties]]),
      staticCohortIds: NO_IDS,
      hashKeyOverrides: NO_OVERRIDES,
    },
  });
}
