import { type Caller, hasScope } from '../../domain/common/access.ts';
import { isJson, isJsonObject, type JsonObject, type JsonValue } from '../../domain/common/json.ts';
import { invalidField } from '../../domain/common/refusal.ts';
import { withCohortNames } from '../../domain/flags/model/cohort-names.ts';
import { type DescribedFlag, simpleRollout } from '../../domain/flags/model/flag.ts';
import {
  type FeatureFlagInput,
  toEvaluationRuntime,
} from '../../domain/flags/model/flag-fields.ts';
import { reportFlagStatus } from '../../domain/flags/model/flag-status.ts';
import { openPayloads } from '../../domain/flags/payloads/encrypted-payloads.ts';
import type { PayloadCipher } from '../../domain/flags/payloads/payload-encryption.ts';
import type { Body } from '../../operations/operation.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';
import { toUserBody } from '../common/user-body.ts';

/** The caller's rights as a flag's body tells them. */
export interface Rights {
  readonly canEdit: boolean;
  /** Opens secret payloads; null where the caller gets a marker instead. */
  readonly payloadCipher: PayloadCipher | null;
}

/** What the caller may do with flags. Only people read secret payloads. */
export function rightsOf(caller: Caller, payloadCipher: PayloadCipher | null): Rights {
  return {
    canEdit: hasScope(caller, 'feature_flag:write'),
    payloadCipher: caller.kind === 'user' ? payloadCipher : null,
  };
}

/** A flag as the management API sends it. */
export function toFlagBody(described: DescribedFlag, rights: Rights, now: Date) {
  const { flag } = described;
  const { isSimple, rolloutPercentage } = simpleRollout(flag.filters);
  return {
    id: flag.id,
    name: flag.name,
    key: flag.key,
    filters: withCohortNames(openPayloads(flag, rights.payloadCipher), described.cohortNames),
    deleted: flag.deleted,
    active: flag.active,
    created_by: toUserBody(described.createdBy),
    created_at: flag.createdAt.toISOString(),
    updated_at: flag.updatedAt.toISOString(),
    version: flag.version,
    last_modified_by: toUserBody(described.lastModifiedBy),
    is_simple_flag: isSimple,
    rollout_percentage: rolloutPercentage,
    ensure_experience_continuity: flag.ensureExperienceContinuity,
    experiment_set: '',
    surveys: {},
    features: {},
    rollback_conditions: flag.rollbackConditions,
    performed_rollback: flag.performedRollback,
    can_edit: rights.canEdit,
    tags: [...flag.tags],
    evaluation_tags: [...flag.evaluationTags],
    evaluation_contexts: [...flag.evaluationTags],
    usage_dashboard: flag.usageDashboard,
    analytics_dashboards: [...flag.analyticsDashboards],
    has_enriched_analytics: flag.hasEnrichedAnalytics,
    user_access_level: rights.canEdit ? ('editor' as const) : ('viewer' as const),
    creation_context: flag.creationContext,
    is_remote_configuration: flag.isRemoteConfiguration,
    has_encrypted_payloads: flag.hasEncryptedPayloads,
    status: STATUS_NAMES[reportFlagStatus(flag, now).status],
    evaluation_runtime: flag.evaluationRuntime,
    bucketing_identifier: flag.bucketingIdentifier,
    last_called_at: flag.lastCalledAt?.toISOString() ?? null,
    _create_in_folder: flag.createInFolder,
    _should_create_usage_dashboard: flag.shouldCreateUsageDashboard,
  };
}

const STATUS_NAMES = { active: 'ACTIVE', stale: 'STALE', deleted: 'DELETED' } as const;

type FlagInputBody = NonNullable<Body<'updateFeatureFlag'>>;

/** The fields that a body writes; those that it leaves out stay absent. */
export function toFlagInput(body: FlagInputBody): FeatureFlagInput {
  refuseUnstorableText(body);
  const fields: { [Field in keyof FeatureFlagInput]-?: FeatureFlagInput[Field] | undefined } = {
    key: body.key,
    name: body.name,
    filters: toJsonObject(body.filters),
    active: body.active,
    deleted: body.deleted,
    createdAt: toDate('created_at', body.created_at),
    ensureExperienceContinuity: toBoolean(body.ensure_experience_continuity),
    rollbackConditions: toJson(body.rollback_conditions),
    performedRollback: body.performed_rollback,
    tags: body.tags,
    evaluationTags: body.evaluation_tags,
    evaluationContexts: body.evaluation_contexts,
    analyticsDashboards: body.analytics_dashboards,
    hasEnrichedAnalytics: toBoolean(body.has_enriched_analytics),
    creationContext: body.creation_context,
    isRemoteConfiguration: toBoolean(body.is_remote_configuration),
    hasEncryptedPayloads: toBoolean(body.has_encrypted_payloads),
    evaluationRuntime:
      body.evaluation_runtime === undefined
        ? undefined
        : toEvaluationRuntime(body.evaluation_runtime),
    bucketingIdentifier: toBucketingIdentifier(body.bucketing_identifier),
    lastCalledAt:
      body.last_called_at === null ? null : toDate('last_called_at', body.last_called_at),
    createInFolder: body._create_in_folder,
    shouldCreateUsageDashboard: body._should_create_usage_dashboard,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Null stands for the default, which is false for every one of these fields. */
function toBoolean(value: boolean | null | undefined): boolean | undefined {
  return value === null ? false : value;
}

function toBucketingIdentifier(value: string | null | undefined) {
  if (value === undefined) return undefined;
  return value === 'device_id' ? ('device_id' as const) : ('distinct_id' as const);
}

/** The contract lets through what no Date can say, like a leap second, or not in four digits. */
function toDate(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(text);
  const year = date.getUTCFullYear();
  if (year >= 1 && year <= 9999) return date;
  throw invalidField(field, 'Not a datetime that can be stored.');
}

function toJson(value: unknown): JsonValue | undefined {
  return isJson(value) ? value : undefined;
}

function toJsonObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
