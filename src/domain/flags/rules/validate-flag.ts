import { invalidField } from '../../common/refusal.ts';
import type { FeatureFlagInput } from '../model/flag-fields.ts';

/** The fields of a flag that rules between fields look at. */
interface Outlook {
  readonly bucketingIdentifier: string;
  readonly ensureExperienceContinuity: boolean;
}

/** Validates the rules between fields of a flag. `current` is the stored flag, or its defaults. */
export function validateFlagFields(input: FeatureFlagInput, current: Outlook): void {
  validateContinuity(input, current);
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
