import type { FeatureFlag } from '../../domain/flags/model/flag-fields.ts';

/** A flag as SDKs need it in order to evaluate it themselves. */
export function toCompactFlagBody(flag: FeatureFlag) {
  return {
    id: flag.id,
    team_id: flag.projectId,
    name: flag.name,
    key: flag.key,
    filters: flag.filters,
    deleted: flag.deleted,
    active: flag.active,
    ensure_experience_continuity: flag.ensureExperienceContinuity,
    has_encrypted_payloads: flag.hasEncryptedPayloads,
    version: flag.version,
    evaluation_runtime: flag.evaluationRuntime,
    bucketing_identifier: flag.bucketingIdentifier,
    evaluation_tags: [...flag.evaluationTags],
    evaluation_contexts: [...flag.evaluationTags],
  };
}
