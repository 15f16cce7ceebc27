import type { JsonValue } from '../../common/json.ts';
import type { DateClock } from '../values/relative-date.ts';

/** One comparison, prepared from operator and filter value. */
export interface PropertyMatcher {
  /** The answer when the property is not there. */
  readonly whenMissing: boolean;
  /** The answer for a property that is there; a value that cannot be compared does not match. */
  matches(value: JsonValue, clock: DateClock): boolean;
}
