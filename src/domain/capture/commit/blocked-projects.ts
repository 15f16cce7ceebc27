import { Refusal } from '../../common/refusal.ts';
import { isLockTimeout } from '../../database/database-error.ts';
import { BLOCKED_PROJECT_LOCK_MS } from '../../database/deadlines.ts';
import type { CommitRequests, RequestOutcome } from './commit-requests.ts';
import type { CaptureRequest } from './request-queue.ts';

/** How long a project counts as blocked after it was last found so. */
const BLOCKED_FOR_MS = 10_000;

/** After so many projects that are blocked, the cause is not theirs, and the rest is not tried. */
const BLOCKED_MAX = 8;

/**
 * Commits requests so that a project that is blocked, because somebody else holds its locks, does not
 * keep the others from being stored:
 *
 * 1. Everything but projects that are known to be blocked is committed together, with all the time
 *    that the limits allow for locks.
 * 2. When that timed out on a lock, nobody says whose it was: each project of it is tried alone.
 * 3. Projects that were known to be blocked are tried last, alone as well.
 *
 * In 2 and 3 a lock is waited for `BLOCKED_PROJECT_LOCK_MS`. Which project had to be given up is
 * remembered for `BLOCKED_FOR_MS`; one whose events could be stored is forgotten at once.
 */
export function isolateBlockedProjects(
  commit: CommitRequests,
  now: () => number,
): (requests: readonly CaptureRequest[]) => Promise<RequestOutcome[]> {
  const blockedUntil = new Map<number, number>();
  const isKnown = (request: CaptureRequest): boolean =>
    (blockedUntil.get(projectOf(request)) ?? Number.NEGATIVE_INFINITY) > now();

  async function commitOneByOne(requests: readonly CaptureRequest[]): Promise<RequestOutcome[]> {
    const outcomes: RequestOutcome[] = [];
    let blocked = 0;
    let refusal: unknown;
    for (const [projectId, own] of groupByProject(requests)) {
      if (blocked >= BLOCKED_MAX) {
        outcomes.push(...own.map((request) => ({ request, refusal })));
        continue;
      }
      const tried = await commit(own, BLOCKED_PROJECT_LOCK_MS);
      const timedOut = tried.find(isTimedOutOnLock);
      if (timedOut === undefined) blockedUntil.delete(projectId);
      else {
        blocked += 1;
        refusal = timedOut.refusal;
        blockedUntil.set(projectId, now() + BLOCKED_FOR_MS);
      }
      outcomes.push(...tried);
    }
    return outcomes;
  }

  return async (requests) => {
    const others = requests.filter((request) => !isKnown(request));
    const outcomes = others.length === 0 ? [] : await commit(others, Number.POSITIVE_INFINITY);
    const timedOut = outcomes.filter(isTimedOutOnLock).map(({ request }) => request);
    const done = outcomes.filter((outcome) => !isTimedOutOnLock(outcome));
    return done.concat(await commitOneByOne([...timedOut, ...requests.filter(isKnown)]));
  };
}

function isTimedOutOnLock({ refusal }: RequestOutcome): boolean {
  return isLockTimeout(refusal instanceof Refusal ? refusal.cause : refusal);
}

function groupByProject(requests: readonly CaptureRequest[]): Map<number, CaptureRequest[]> {
  const groups = new Map<number, CaptureRequest[]>();
  for (const request of requests) {
    const group = groups.get(projectOf(request));
    if (group === undefined) groups.set(projectOf(request), [request]);
    else group.push(request);
  }
  return groups;
}

/** All events of a request are of one project. */
function projectOf({ events }: CaptureRequest): number {
  return events[0]?.projectId ?? 0;
}
