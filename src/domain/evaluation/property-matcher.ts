import type { JsonValue } from '../json.ts';
import type { DateClock } from './relative-date.ts';

/** One comparison, prepared from operator and filter value. */
export interface PropertyMatcher {
  /** The answer when the property is not there. */
  readonly whenMissing: boolean;
  /** The answer for a property that is there; an incomparable value is no match. */
  matches(value: JsonValue, clock: DateClock): boolean;
}
