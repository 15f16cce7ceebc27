import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import type { FeatureFlagRow } from '../../database/tables.ts';
import type { User } from '../../projects/project.ts';

export type EvaluationRuntime = 'all' | 'client' | 'server';
export type BucketingIdentifier = 'distinct_id' | 'device_id';

/** A feature flag as it is stored. */
export interface FeatureFlag {
  readonly id: number;
  readonly projectId: number;
  readonly key: string;
  readonly name: string;
  readonly filters: JsonObject;
  readonly active: boolean;
  readonly deleted: boolean;
  readonly version: number;
  readonly ensureExperienceContinuity: boolean;
  readonly rollbackConditions: JsonValue;
  readonly performedRollback: boolean;
  readonly tags: readonly string[];
  readonly evaluationTags: readonly string[];
  readonly analyticsDashboards: readonly number[];
  readonly usageDashboard: number | null;
  readonly hasEnrichedAnalytics: boolean;
  readonly creationContext: string;
  readonly isRemoteConfiguration: boolean;
  readonly hasEncryptedPayloads: boolean;
  readonly evaluationRuntime: EvaluationRuntime;
  readonly bucketingIdentifier: BucketingIdentifier;
  readonly lastCalledAt: Date | null;
  readonly createInFolder: string | null;
  readonly shouldCreateUsageDashboard: boolean;
  readonly createdById: number | null;
  readonly lastModifiedById: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A flag with the users and cohorts that it names. */
export interface DescribedFlag {
  readonly flag: FeatureFlag;
  readonly cohortNames: ReadonlyMap<number, string>;
  readonly createdBy: User | null;
  readonly lastModifiedBy: User | null;
}

/** What a client may write. Absent fields are left alone. */
export interface FeatureFlagInput {
  readonly key?: string;
  readonly name?: string;
  readonly filters?: JsonObject;
  readonly active?: boolean;
  readonly deleted?: boolean;
  readonly createdAt?: Date;
  readonly ensureExperienceContinuity?: boolean;
  readonly rollbackConditions?: JsonValue;
  readonly performedRollback?: boolean;
  readonly tags?: readonly string[];
  readonly evaluationTags?: readonly string[];
  /** The newer name of `evaluationTags`; `settleEvaluationContexts` makes one of the two. */
  readonly evaluationContexts?: readonly string[];
  readonly analyticsDashboards?: readonly number[];
  readonly hasEnrichedAnalytics?: boolean;
  readonly creationContext?: string;
  readonly isRemoteConfiguration?: boolean;
  readonly hasEncryptedPayloads?: boolean;
  readonly evaluationRuntime?: EvaluationRuntime;
  readonly bucketingIdentifier?: BucketingIdentifier;
  readonly lastCalledAt?: Date | null;
  readonly createInFolder?: string | null;
  readonly shouldCreateUsageDashboard?: boolean;
}

/** The flag of a row. */
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

/** The runtime that the text names; whatever is unknown means every runtime. */
export function toEvaluationRuntime(text: string | null): EvaluationRuntime {
  return text === 'client' || text === 'server' ? text : 'all';
}

/** The conditions of a flag's filters; what is no object is left out. */
export function conditionsOf(filters: JsonObject): JsonObject[] {
  return Array.isArray(filters.groups) ? filters.groups.filter(isJsonObject) : [];
}

/** The variants of a flag's filters; what is no object is left out. */
export function variantsOf(filters: JsonObject): JsonObject[] {
  const multivariate = filters.multivariate;
  if (!isJsonObject(multivariate) || !Array.isArray(multivariate.variants)) return [];
  return multivariate.variants.filter(isJsonObject);
}

/** The property filters of a condition; what is no object is left out. */
export function propertiesOf(condition: JsonObject): JsonObject[] {
  return Array.isArray(condition.properties) ? condition.properties.filter(isJsonObject) : [];
}

/**
 * The rollout percentage of a simple flag: one condition without property filters and no variants.
 * Null for every other flag, and for a simple one that states none. The interface has it as a whole
 * number, so a fraction is rounded here; the condition itself keeps it.
 */
export function simpleRollout(filters: JsonObject): {
  isSimple: boolean;
  rolloutPercentage: number | null;
} {
  const [condition, ...others] = conditionsOf(filters);
  const isSimple =
    condition !== undefined &&
    others.length === 0 &&
    propertiesOf(condition).length === 0 &&
    variantsOf(filters).length === 0;
  const percentage = condition?.rollout_percentage;
  return {
    isSimple,
    rolloutPercentage: isSimple && typeof percentage === 'number' ? Math.round(percentage) : null,
  };
}
