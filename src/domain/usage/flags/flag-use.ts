import type { JsonObject, JsonValue } from '../../common/json.ts';

/** What SDKs send when code asks for a flag. */
export const FLAG_CALLED = '$feature_flag_called';
/** Sent when a part of a page that a flag guards comes into view. */
export const FEATURE_VIEW = '$feature_view';
/** Sent when somebody clicks into such a part. */
export const FEATURE_INTERACTION = '$feature_interaction';

/** The events that use flags. */
export const USE_EVENTS = [FLAG_CALLED, FEATURE_VIEW, FEATURE_INTERACTION] as const;

/** Stands for "no variant": the flag had no value, or the event does not tell variants apart. */
export const NO_VARIANT = '$$_posthog_breakdown_null_$$';
/** Stands for all variants that are not shown on their own. */
export const OTHER_VARIANTS = '$$_posthog_breakdown_other_$$';

/** One use of a flag, as an event reports it. */
export interface FlagUse {
  readonly event: string;
  readonly flagKey: string;
  readonly variant: string;
}

/** No flag has another key, and no variant a longer one. */
const FLAG_KEY = /^[a-zA-Z0-9_-]{1,400}$/;
const VARIANT_MAX_LENGTH = 400;

/** The use that the event reports; null when it reports none, or one of something else than a flag. */
export function readFlagUse({
  event,
  properties,
}: {
  readonly event: string;
  readonly properties: JsonObject;
}): FlagUse | null {
  switch (event) {
    case FLAG_CALLED:
      return toUse(event, properties.$feature_flag, toVariant(properties.$feature_flag_response));
    case FEATURE_VIEW:
    case FEATURE_INTERACTION:
      return toUse(event, properties.feature_flag, NO_VARIANT);
    default:
      return null;
  }
}

function toUse(event: string, flagKey: JsonValue | undefined, variant: string): FlagUse | null {
  if (typeof flagKey !== 'string' || !FLAG_KEY.test(flagKey)) return null;
  return { event, flagKey, variant };
}

function toVariant(response: JsonValue | undefined): string {
  if (response === undefined || response === null || response === '') return NO_VARIANT;
  const text = typeof response === 'string' ? response : JSON.stringify(response);
  return text.length <= VARIANT_MAX_LENGTH ? text : OTHER_VARIANTS;
}
