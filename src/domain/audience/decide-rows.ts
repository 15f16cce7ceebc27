import type { EvaluationContext } from '../evaluation/context.ts';
import { matchCondition } from '../evaluation/match-condition.ts';
import { MATCH, RequestView } from '../evaluation/request-view.ts';
import type { PreparedCondition, Snapshot } from '../evaluation/snapshot.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { membershipSql, storedSql } from './condition-sql.ts';
import { joinSql, type Sql, sql } from './sql.ts';

/** What the engine has to know of a subject in order to decide one condition. */
export interface SubjectReads {
  /** Keys of properties. */
  readonly keys: readonly string[];
  readonly staticCohortIds: readonly number[];
  readonly needsCreatedAt: boolean;
  readonly needsDistinctId: boolean;
}

/** Decides rows of subjects by the engine. */
export interface Decider {
  /** The four columns that a row has to have, before `n`, the number of subjects that share them. */
  readonly columns: Sql;
  /** How many of the row's subjects match: all or none. */
  countMatches(row: unknown): number;
}

/** Creates the decider of one condition. */
export function createDecider(
  condition: PreparedCondition,
  snapshot: Snapshot,
  now: Date,
  reads: SubjectReads,
): Decider {
  const groupKeyPlace = condition.groupTypeIndex !== null;
  return {
    columns: sql`${columnOf(
      reads.keys.map((key) => sql`${storedSql(key)}::text`),
      'text',
    )} AS properties, ${
      reads.needsCreatedAt ? sql`s.created_at` : sql`NULL::timestamptz`
    } AS created_at, ${subjectIdSql(reads, groupKeyPlace)} AS subject_id, ${columnOf(
      reads.staticCohortIds.map(membershipSql),
      'boolean',
    )} AS memberships`,
    countMatches(row) {
      const { context, n } = readRow(row, condition, snapshot, reads);
      const view = new RequestView(snapshot, context, now);
      return matchCondition(condition, view) === MATCH ? n : 0;
    },
  };
}

function columnOf(elements: readonly Sql[], type: 'text' | 'boolean'): Sql {
  const list = joinSql(elements, ', ');
  return type === 'text' ? sql`ARRAY[${list}]::text[]` : sql`ARRAY[${list}]::boolean[]`;
}

function subjectIdSql(reads: SubjectReads, isGroup: boolean): Sql {
  if (isGroup) return reads.keys.includes('$group_key') ? sql`s.group_key` : sql`'-'::text`;
  return reads.needsDistinctId ? sql`principal.distinct_id` : sql`''::text`;
}

function readRow(
  row: unknown,
  { groupTypeIndex }: PreparedCondition,
  snapshot: Snapshot,
  reads: SubjectReads,
): { context: EvaluationContext; n: number } {
  const { properties, created_at: createdAt, subject_id: subjectId, memberships, n } = cellsOf(row);
  const stored = pairUp(reads.keys, properties);
  const groupName =
    groupTypeIndex === null ? undefined : snapshot.groupTypeNames.get(groupTypeIndex);
  return {
    n,
    context: {
      distinctId: groupTypeIndex === null ? subjectId : '',
      deviceId: null,
      anonDistinctId: null,
      personProperties: {},
      groups: groupName === undefined ? {} : { [groupName]: subjectId },
      groupProperties: {},
      runtime: 'all',
      evaluationContexts: [],
      stored: {
        person:
          groupTypeIndex === null
            ? { properties: stored, createdAt: createdAt ?? new Date(Number.NaN) }
            : null,
        groups: new Map(groupTypeIndex === null ? [] : [[groupTypeIndex, stored]]),
        staticCohortIds: new Set(reads.staticCohortIds.filter((_, at) => memberships[at] === true)),
        hashKeyOverrides: new Map(),
      },
    },
  };
}

/** The columns of a row, as `pg` returns them. */
function cellsOf(row: unknown) {
  const cells: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.entries(typeof row === 'object' && row !== null ? row : {}),
  );
  return {
    properties: Array.isArray(cells.properties) ? cells.properties : [],
    created_at: cells.created_at instanceof Date ? cells.created_at : null,
    subject_id: String(cells.subject_id),
    memberships: Array.isArray(cells.memberships) ? cells.memberships : [],
    n: Number(cells.n),
  };
}

function pairUp(keys: readonly string[], texts: readonly unknown[]): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [at, key] of keys.entries()) {
    const text = texts[at];
    if (typeof text === 'string') entries.push([key, JSON.parse(text)]);
  }
  const properties: unknown = Object.fromEntries(entries);
  return isJsonObject(properties) ? properties : {};
}
