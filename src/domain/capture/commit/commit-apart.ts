import { Refusal } from '../../common/refusal.ts';
import { isLockTimeout } from '../../database/database-error.ts';
import type { CommitRequests, RequestOutcome } from './commit-requests.ts';
import type { CaptureRequest } from './request-queue.ts';

/** How long a project is waited for whose locks somebody holds: all others wait meanwhile. */
const HELD_LOCK_MS = 250;

/** How long a project counts as held after it was last found so. */
const HELD_FOR_MS = 10_000;

/** After so many projects that are held, the trouble is not theirs, and the rest is not tried. */
const HELD_AT_ONCE = 8;

/**
 * Commits requests so that a project whose persons somebody else holds does not keep the others from
 * being stored: once that was found out, it is tried last, alone, and for a moment only.
 */
export function createCommitApart(
  commit: CommitRequests,
  now: () => number,
): (requests: readonly CaptureRequest[]) => Promise<RequestOutcome[]> {
  const heldUntil = new Map<number, number>();
  const isHeld = (request: CaptureRequest): boolean =>
    (heldUntil.get(projectOf(request)) ?? Number.NEGATIVE_INFINITY) > now();

  /** Tries the projects one by one. */
  async function commitEach(requests: readonly CaptureRequest[]): Promise<RequestOutcome[]> {
    const outcomes: RequestOutcome[] = [];
    let held = 0;
    let refusal: unknown;
    for (const [projectId, own] of groupByProject(requests)) {
      if (held >= HELD_AT_ONCE) {
        outcomes.push(...own.map((request) => ({ request, refusal })));
        continue;
      }
      const tried = await commit(own, HELD_LOCK_MS);
      const stuck = tried.find(isStuck);
      if (stuck === undefined) heldUntil.delete(projectId);
      else {
        held += 1;
        refusal = stuck.refusal;
        heldUntil.set(projectId, now() + HELD_FOR_MS);
      }
      outcomes.push(...tried);
    }
    return outcomes;
  }

  return async (requests) => {
    const others = requests.filter((request) => !isHeld(request));
    const outcomes = others.length === 0 ? [] : await commit(others, Number.POSITIVE_INFINITY);
    const stuck = outcomes.filter(isStuck).map(({ request }) => request);
    const done = outcomes.filter((outcome) => !isStuck(outcome));
    // Whose lock it was nobody says: one of several projects, so each is tried alone.
    return done.concat(await commitEach([...stuck, ...requests.filter(isHeld)]));
  };
}

/** Whether a lock was waited for in vain. */
function isStuck({ refusal }: RequestOutcome): boolean {
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
