import type { JsonObject } from '../../common/json.ts';

/** Where the caller runs; null = unknown, which drops client-only and server-only flags. */
export type RequestRuntime = 'all' | 'client' | 'server' | null;

/** What the database knows about the subject of one evaluation. */
export interface StoredData {
  readonly person: { readonly properties: JsonObject; readonly createdAt: Date } | null;
  /** Stored properties by group type index; an unknown group is absent. */
  readonly groups: ReadonlyMap<number, JsonObject>;
  readonly staticCohortIds: ReadonlySet<number>;
  /** Flag key -> identifier kept by experience continuity. */
  readonly hashKeyOverrides: ReadonlyMap<string, string>;
}

/** The subject of one evaluation: what the request says and what is stored about it. */
export interface EvaluationContext {
  readonly distinctId: string;
  readonly deviceId: string | null;
  readonly anonDistinctId: string | null;
  /** Sent with the request; they win over stored properties. */
  readonly personProperties: JsonObject;
  /** Group type name -> group key, any JSON values; only non-empty strings and numbers are keys. */
  readonly groups: JsonObject;
  /** Group type name -> properties sent with the request. */
  readonly groupProperties: Readonly<Record<string, JsonObject>>;
  readonly runtime: RequestRuntime;
  readonly evaluationContexts: readonly string[];
  /** null = not looked up, treated as nothing stored. */
  readonly stored: StoredData | 'unavailable' | null;
}
