import { invalidField } from '../errors.ts';
import type { FeatureFlagInput } from './flag.ts';

/** The state that a write would leave behind, as far as rules between fields look at it. */
interface Outlook {
  readonly tags: readonly string[];
  readonly bucketingIdentifier: string;
  readonly ensureExperienceContinuity: boolean;
}

/** Checks the rules between fields of a flag. `current` is the stored flag, or its defaults. */
export function validateFlagFields(input: FeatureFlagInput, current: Outlook): void {
  validateEvaluationTags(input, current);
  validateContinuity(input, current);
  validateDashboards(input);
}

function validateEvaluationTags(input: FeatureFlagInput, current: Outlook): void {
  const tags = new Set(input.tags ?? current.tags);
  const strangers = (input.evaluationTags ?? []).filter((tag) => !tags.has(tag));
  if (strangers.length === 0) return;
  throw invalidField(
    null,
    `Evaluation tags must be a subset of tags. Invalid evaluation tags: ${strangers.join(', ')}`,
  );
}

/** Only a write that newly combines the two is refused, so that stored flags stay editable. */
function validateContinuity(input: FeatureFlagInput, current: Outlook): void {
  const bucketing = input.bucketingIdentifier ?? current.bucketingIdentifier;
  const isContinuous = input.ensureExperienceContinuity ?? current.ensureExperienceContinuity;
  const isCombined = bucketing === 'device_id' && isContinuous;
  const wasCombined =
    current.bucketingIdentifier === 'device_id' && current.ensureExperienceContinuity;
  if (!isCombined || wasCombined) return;
  throw invalidField(
    null,
    "Cannot enable 'persist across authentication steps' when using device ID bucketing. " +
      'These features are incompatible.',
  );
}

/** No dashboard exists yet, so every id names one that does not. */
function validateDashboards(input: FeatureFlagInput): void {
  const [id] = input.analyticsDashboards ?? [];
  if (id === undefined) return;
  throw invalidField(
    'analytics_dashboards',
    `Invalid pk "${id}" - object does not exist.`,
    'does_not_exist',
  );
}
