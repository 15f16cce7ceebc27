import { BoundedCache } from '../../common/bounded-cache.ts';

const PROJECTS_MAX = 10_000;
const FULL_FOR_MS = 60_000;

/**
 * The projects that recently had no room for another key that belongs to no flag. To check that reads
 * all series of a project, and anybody with the public key could force a check in every commit.
 */
export class FullProjects {
  readonly #until = new BoundedCache<number, number>(PROJECTS_MAX);
  readonly #now: () => number;

  /** `now` is any steady clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  isFull(projectId: number): boolean {
    return (this.#until.get(projectId) ?? Number.NEGATIVE_INFINITY) > this.#now();
  }

  /** Records that the project has no room; it is checked again a minute later. */
  note(projectId: number): void {
    this.#until.set(projectId, this.#now() + FULL_FOR_MS);
  }
}
