import type { PropertyMatcher } from '../model/property-matcher.ts';
import type { GroupFilter, PersonCreatedAtFilter, PersonFilter } from '../model/snapshot.ts';
import {
  type PropertyValue,
  type RequestView,
  toVerdict,
  UNAVAILABLE,
  type Verdict,
} from './request-view.ts';

/** Compares one property of the person or of a group. */
export function matchProperty(
  filter: PersonFilter | PersonCreatedAtFilter | GroupFilter,
  view: RequestView,
): Verdict {
  switch (filter.kind) {
    case 'person':
      return matchValue(filter.matcher, view.readPerson(filter), view);
    case 'group':
      return matchValue(filter.matcher, view.readGroup(filter.groupTypeIndex, filter.key), view);
    case 'person_created_at':
      return matchValue(filter.matcher, view.readPersonCreatedAt(), view);
  }
}

function matchValue(matcher: PropertyMatcher, value: PropertyValue, view: RequestView): Verdict {
  if (value === undefined) return toVerdict(matcher.whenMissing);
  if (value === UNAVAILABLE) return view.doubt('database_unavailable');
  return toVerdict(matcher.matches(value, view));
}
