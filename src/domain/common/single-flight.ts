/**
 * Runs work once for all callers that ask for the same key while it runs.
 *
 * Bounded by the number of different keys that are in flight. A rejection reaches all of them and
 * is then forgotten, so a later caller tries again.
 */
export class SingleFlight<Key, Result> {
  readonly #running = new Map<Key, Promise<Result>>();

  /** The result of the run that is under way for the key, or of a new one. */
  run(key: Key, work: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const started = work().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}
