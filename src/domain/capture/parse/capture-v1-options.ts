import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';

/** What the options of an event mean. */
export interface CaptureV1Options {
  /** The properties by which older clients say the same. */
  readonly properties: JsonObject;
  /** The client vouches for its clock. */
  readonly isSkewKept: boolean;
}

interface Option {
  readonly name: string;
  readonly property: string | null;
  readonly type: 'boolean' | 'string';
}

const SKEW = 'disable_skew_correction';

const OPTIONS: readonly Option[] = [
  { name: 'process_person_profile', property: '$process_person_profile', type: 'boolean' },
  { name: 'cookieless_mode', property: '$cookieless_mode', type: 'boolean' },
  { name: 'product_tour_id', property: '$product_tour_id', type: 'string' },
  { name: SKEW, property: null, type: 'boolean' },
];

/** Reads the options of an event; null when one has the wrong type. Unknown ones are ignored. */
export function readCaptureV1Options(value: JsonValue | undefined): CaptureV1Options | null {
  const options = value ?? {};
  if (!isJsonObject(options)) return null;
  const properties: Record<string, JsonValue> = {};
  for (const { name, property, type } of OPTIONS) {
    const option = options[name];
    if (option === undefined || option === null) continue;
    if (typeof option !== type) return null;
    if (property !== null) properties[property] = option;
  }
  return { properties, isSkewKept: options[SKEW] === true };
}
