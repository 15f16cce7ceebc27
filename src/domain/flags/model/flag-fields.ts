import type { FeatureFlagRow } from '../../database/tables.ts';

export type EvaluationRuntime = 'all' | 'client' | 'server';
export type BucketingIdentifier = 'distinct_id' | 'device_id';

/** What the code has to know of one field of a flag. */
interface FlagField {
  readonly column: keyof FeatureFlagRow;
  /** The name in the API and in the activity log. */
  readonly name: string;
  /** Whether clients write it; conflicts between two edits are looked for in these fields. */
  readonly isWritable: boolean;
  /**
   * Whether the activity log has its changes. An earlier version of a flag is rebuilt from the log:
   * it has these fields as they were, and all others as they are now.
   */
  readonly isLogged: boolean;
  /** Whether the column is jsonb. */
  readonly isJson: boolean;
}

/** Kept by Burgee. */
const INTERNAL = { isWritable: false, isLogged: false, isJson: false } as const;
const LOGGED = { isWritable: true, isLogged: true, isJson: false } as const;
const LOGGED_JSON = { isWritable: true, isLogged: true, isJson: true } as const;
const UNLOGGED = { isWritable: true, isLogged: false, isJson: false } as const;

function field<Column extends keyof FeatureFlagRow, Kind extends Partial<FlagField>>(
  column: Column,
  kind: Kind,
) {
  return { column, name: column, ...kind };
}

/**
 * The fields of a flag. The types of flags and of inputs, the mapping to columns, the fields of the
 * activity log and of versions and the comparison of conflicting edits follow from this table, and
 * `toFlag` does not compile unless it reads every field. The bodies that clients get and send are in
 * `handlers/feature-flags/flag-body.ts`.
 */
export const FLAG_FIELDS = {
  id: field('id', INTERNAL),
  projectId: field('project_id', INTERNAL),
  key: field('key', LOGGED),
  name: field('name', LOGGED),
  filters: field('filters', LOGGED_JSON),
  active: field('active', LOGGED),
  deleted: field('deleted', LOGGED),
  version: field('version', { ...INTERNAL, isLogged: true }),
  ensureExperienceContinuity: field('ensure_experience_continuity', LOGGED),
  rollbackConditions: field('rollback_conditions', LOGGED_JSON),
  performedRollback: field('performed_rollback', LOGGED),
  tags: field('tags', LOGGED),
  evaluationTags: field('evaluation_tags', LOGGED),
  analyticsDashboards: field('analytics_dashboards', UNLOGGED),
  usageDashboard: field('usage_dashboard', INTERNAL),
  hasEnrichedAnalytics: field('has_enriched_analytics', LOGGED),
  creationContext: field('creation_context', LOGGED),
  isRemoteConfiguration: field('is_remote_configuration', LOGGED),
  hasEncryptedPayloads: field('has_encrypted_payloads', LOGGED),
  evaluationRuntime: field('evaluation_runtime', LOGGED),
  bucketingIdentifier: field('bucketing_identifier', LOGGED),
  lastCalledAt: field('last_called_at', UNLOGGED),
  createInFolder: { ...field('create_in_folder', UNLOGGED), name: '_create_in_folder' },
  shouldCreateUsageDashboard: {
    ...field('should_create_usage_dashboard', UNLOGGED),
    name: '_should_create_usage_dashboard',
  },
  createdById: field('created_by', INTERNAL),
  lastModifiedById: field('last_modified_by', INTERNAL),
  createdAt: field('created_at', UNLOGGED),
  updatedAt: field('updated_at', INTERNAL),
} satisfies Record<string, FlagField>;

type Fields = typeof FLAG_FIELDS;

export type FlagFieldName = keyof Fields;

/** The columns that the table covers: all that a row has. */
export type FlagColumn = Fields[FlagFieldName]['column'];

/** The fields whose traits match. */
type FieldsWith<Traits> = {
  [Name in FlagFieldName]: Fields[Name] extends Traits ? Name : never;
}[FlagFieldName];

export type WritableFieldName = FieldsWith<{ isWritable: true }>;
export type LoggedFieldName = FieldsWith<{ isLogged: true }>;

/** The jsonb columns among those that clients write. */
export type JsonColumn = Fields[FieldsWith<{ isJson: true }>]['column'];
export type WritableColumn = Fields[WritableFieldName]['column'];

/** What the texts of a column are read as, where that is not any text. */
interface ReadAs {
  readonly evaluation_runtime: EvaluationRuntime;
  readonly bucketing_identifier: BucketingIdentifier;
}

type ValueOf<Column extends keyof FeatureFlagRow> = Column extends keyof ReadAs
  ? ReadAs[Column]
  : FeatureFlagRow[Column];

type Immutable<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;

/** A feature flag as it is stored. */
export type FeatureFlag = {
  readonly [Name in FlagFieldName]: Immutable<ValueOf<Fields[Name]['column']>>;
};

/** What a client may write. Absent fields are left alone. */
export type FeatureFlagInput = { readonly [Name in WritableFieldName]?: FeatureFlag[Name] } & {
  /** The newer name of `evaluationTags`; `mergeEvaluationContexts` makes one of the two. */
  readonly evaluationContexts?: readonly string[];
};

const FIELD_NAMES = Object.keys(FLAG_FIELDS).filter(isFieldName);

export const WRITABLE_FIELDS = FIELD_NAMES.filter(
  (name): name is WritableFieldName => FLAG_FIELDS[name].isWritable,
);
/** Every field that an input may have. */
export const INPUT_FIELDS: readonly (keyof FeatureFlagInput)[] = [
  ...WRITABLE_FIELDS,
  'evaluationContexts',
];
export const LOGGED_FIELDS = FIELD_NAMES.filter(
  (name): name is LoggedFieldName => FLAG_FIELDS[name].isLogged,
);

/** The flag of a row. Written out, since a loop over the table takes ten times as long. */
export function toFlag(row: FeatureFlagRow): FeatureFlag {
  return {
    id: row.id,
    projectId: row.project_id,
    key: row.key,
    name: row.name,
    filters: row.filters,
    active: row.active,
    deleted: row.deleted,
    version: row.version,
    ensureExperienceContinuity: row.ensure_experience_continuity,
    rollbackConditions: row.rollback_conditions,
    performedRollback: row.performed_rollback,
    tags: row.tags,
    evaluationTags: row.evaluation_tags,
    analyticsDashboards: row.analytics_dashboards,
    usageDashboard: row.usage_dashboard,
    hasEnrichedAnalytics: row.has_enriched_analytics,
    creationContext: row.creation_context,
    isRemoteConfiguration: row.is_remote_configuration,
    hasEncryptedPayloads: row.has_encrypted_payloads,
    evaluationRuntime: toEvaluationRuntime(row.evaluation_runtime),
    bucketingIdentifier: row.bucketing_identifier === 'device_id' ? 'device_id' : 'distinct_id',
    lastCalledAt: row.last_called_at,
    createInFolder: row.create_in_folder,
    shouldCreateUsageDashboard: row.should_create_usage_dashboard,
    createdById: row.created_by,
    lastModifiedById: row.last_modified_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The name that clients know a field of an input by. */
export function wireNameOf(name: keyof FeatureFlagInput): string {
  return name === 'evaluationContexts' ? 'evaluation_contexts' : FLAG_FIELDS[name].name;
}

/** The runtime that the text names; whatever is unknown means every runtime. */
export function toEvaluationRuntime(text: string | null): EvaluationRuntime {
  return text === 'client' || text === 'server' ? text : 'all';
}

function isFieldName(name: string): name is FlagFieldName {
  return Object.hasOwn(FLAG_FIELDS, name);
}
