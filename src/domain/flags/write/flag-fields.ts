import type { JsonValue } from '../../common/json.ts';
import type { FeatureFlagRow } from '../../database/tables.ts';
import type { FeatureFlag, FeatureFlagInput } from '../model/flag.ts';
import { openPayloads } from '../payloads/encrypted-payloads.ts';

type WritableColumns = Partial<Omit<FeatureFlagRow, 'id' | 'project_id' | 'created_by'>>;

const WIRE_NAMES: Readonly<Record<keyof FeatureFlagInput, string>> = {
  key: 'key',
  name: 'name',
  filters: 'filters',
  active: 'active',
  deleted: 'deleted',
  createdAt: 'created_at',
  ensureExperienceContinuity: 'ensure_experience_continuity',
  rollbackConditions: 'rollback_conditions',
  performedRollback: 'performed_rollback',
  tags: 'tags',
  evaluationTags: 'evaluation_tags',
  evaluationContexts: 'evaluation_contexts',
  analyticsDashboards: 'analytics_dashboards',
  hasEnrichedAnalytics: 'has_enriched_analytics',
  creationContext: 'creation_context',
  isRemoteConfiguration: 'is_remote_configuration',
  hasEncryptedPayloads: 'has_encrypted_payloads',
  evaluationRuntime: 'evaluation_runtime',
  bucketingIdentifier: 'bucketing_identifier',
  lastCalledAt: 'last_called_at',
  createInFolder: '_create_in_folder',
  shouldCreateUsageDashboard: '_should_create_usage_dashboard',
};

const WIRE_NAME_OF: ReadonlyMap<string, string> = new Map(Object.entries(WIRE_NAMES));

/** The name that clients know a field of the input by. */
export function wireNameOf(field: string): string {
  return WIRE_NAME_OF.get(field) ?? field;
}

/** The columns that the input sets, jsonb still as values. */
export function toColumns(input: FeatureFlagInput): WritableColumns {
  const columns: { [Column in keyof WritableColumns]: WritableColumns[Column] | undefined } = {
    key: input.key,
    name: input.name,
    filters: input.filters,
    active: input.active,
    deleted: input.deleted,
    created_at: input.createdAt,
    ensure_experience_continuity: input.ensureExperienceContinuity,
    rollback_conditions: input.rollbackConditions,
    performed_rollback: input.performedRollback,
    tags: input.tags === undefined ? undefined : [...new Set(input.tags)],
    evaluation_tags:
      input.evaluationTags === undefined ? undefined : [...new Set(input.evaluationTags)],
    analytics_dashboards:
      input.analyticsDashboards === undefined ? undefined : [...new Set(input.analyticsDashboards)],
    has_enriched_analytics: input.hasEnrichedAnalytics,
    creation_context: input.creationContext,
    is_remote_configuration: input.isRemoteConfiguration,
    has_encrypted_payloads: input.hasEncryptedPayloads,
    evaluation_runtime: input.evaluationRuntime,
    bucketing_identifier: input.bucketingIdentifier,
    last_called_at: input.lastCalledAt,
    create_in_folder: input.createInFolder,
    should_create_usage_dashboard: input.shouldCreateUsageDashboard,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/**
 * The fields whose changes the activity log tells, under the names of the wire. Secret payloads are
 * covered by their marker; `isSecret` also covers the other side of a change that makes them so.
 */
export function loggedFields(
  flag: FeatureFlag,
  isSecret = flag.hasEncryptedPayloads,
): Record<string, JsonValue> {
  return {
    key: flag.key,
    name: flag.name,
    // A ciphertext is nobody's news, and must not outlive its key in a log.
    filters: openPayloads({ filters: flag.filters, hasEncryptedPayloads: isSecret }, null),
    active: flag.active,
    deleted: flag.deleted,
    version: flag.version,
    ensure_experience_continuity: flag.ensureExperienceContinuity,
    rollback_conditions: flag.rollbackConditions,
    performed_rollback: flag.performedRollback,
    tags: flag.tags,
    evaluation_tags: flag.evaluationTags,
    has_enriched_analytics: flag.hasEnrichedAnalytics,
    creation_context: flag.creationContext,
    is_remote_configuration: flag.isRemoteConfiguration,
    has_encrypted_payloads: flag.hasEncryptedPayloads,
    evaluation_runtime: flag.evaluationRuntime,
    bucketing_identifier: flag.bucketingIdentifier,
  };
}
