import type {
  CohortFilter,
  DependencyFilter,
  PreparedCondition,
  PreparedFilter,
} from '../model/snapshot.ts';
import { matchCohort } from './match-cohort.ts';
import { matchProperty } from './match-property.ts';
import {
  MATCH,
  MISS,
  negate,
  type RequestView,
  toVerdict,
  UNKNOWN,
  type Verdict,
} from './request-view.ts';

/**
 * Whether all filters of a condition match. Stops at the first miss, but not at an unknown: a later
 * miss outweighs it. `view.failure` is set when a filter fails the whole flag.
 */
export function matchCondition(condition: PreparedCondition, view: RequestView): Verdict {
  let isOpen = false;
  for (const filter of condition.filters) {
    const verdict = matchFilter(filter, view);
    if (verdict === MISS) return MISS;
    if (verdict === UNKNOWN) isOpen = true;
  }
  return isOpen ? UNKNOWN : MATCH;
}

function matchFilter(filter: PreparedFilter, view: RequestView): Verdict {
  switch (filter.kind) {
    case 'person':
    case 'group':
    case 'person_created_at':
      return matchProperty(filter, view);
    case 'flag':
      return matchDependency(filter, view);
    case 'cohort':
      return matchCohortFilter(filter, view);
    case 'never':
      return MISS;
  }
}

/** A dependency that was not evaluated (inactive, filtered out) has the value false. */
function matchDependency(filter: DependencyFilter, view: RequestView): Verdict {
  const outcome = view.dependencyOutcomes.get(filter.flagId);
  if (outcome === undefined) return toVerdict(filter.expected === false);
  if (outcome.failed) return filter.isContradicted ? MISS : view.doubt('dependency_failed');
  if (typeof filter.expected === 'string') {
    return toVerdict(outcome.enabled && outcome.variant === filter.expected);
  }
  return toVerdict(outcome.enabled === filter.expected);
}

function matchCohortFilter(filter: CohortFilter, view: RequestView): Verdict {
  if (filter.failure !== null) {
    view.failure = filter.failure;
    return UNKNOWN;
  }
  const verdict = matchCohort(filter.cohortId, view);
  return filter.isNegated ? negate(verdict) : verdict;
}
