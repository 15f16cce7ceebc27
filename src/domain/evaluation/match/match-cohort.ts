import type { CohortNode } from '../model/snapshot.ts';
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

/** Whether the person is in a cohort: listed in a static one, or matching a dynamic one's tree. */
export function matchCohort(cohortId: number, view: RequestView): Verdict {
  const known = view.cohortVerdicts.get(cohortId);
  if (known !== undefined) {
    // Membership is unknown only where stored data is missing.
    return known === UNKNOWN ? view.doubt('database_unavailable') : known;
  }
  const verdict = decide(cohortId, view);
  view.cohortVerdicts.set(cohortId, verdict);
  return verdict;
}

function decide(cohortId: number, view: RequestView): Verdict {
  const cohort = view.snapshot.cohorts.get(cohortId);
  if (cohort === undefined) return MISS;
  if (cohort.isStatic) return view.matchStaticCohort(cohortId);
  return cohort.root === null ? MISS : matchNode(cohort.root, view);
}

function matchNode(node: CohortNode, view: RequestView): Verdict {
  const verdict = matchPositive(node, view);
  return node.isNegated ? negate(verdict) : verdict;
}

function matchPositive(node: CohortNode, view: RequestView): Verdict {
  switch (node.kind) {
    case 'group':
      return matchGroup(node.children, node.isAny, view);
    case 'property':
      return matchProperty(node.filter, view);
    case 'cohort':
      return matchCohort(node.cohortId, view);
    case 'never':
      return MISS;
  }
}

/** AND or OR of the children; one decisive child is enough, even when others are unknown. */
function matchGroup(children: readonly CohortNode[], isAny: boolean, view: RequestView): Verdict {
  const decisive = isAny ? MATCH : MISS;
  let isOpen = false;
  for (const child of children) {
    const verdict = matchNode(child, view);
    if (verdict === decisive) return decisive;
    if (verdict === UNKNOWN) isOpen = true;
  }
  return isOpen ? UNKNOWN : toVerdict(!isAny);
}
