import { unavailable } from './refusal.ts';

export interface BatchedLookupsOptions {
  /** The pause between queries while most of what is asked for does not exist, in milliseconds. */
  readonly pauseMs?: number;
  /** So many look-ups in vain within a second make such a phase. */
  readonly missesPerSecond?: number;
  /** How many look-ups may wait. */
  readonly maxWaiting?: number;
  /** Milliseconds of any steady clock. */
  readonly now?: () => number;
}

interface Waiting<Value> {
  readonly resolve: (found: Value | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const SECOND_MS = 1_000;

/**
 * Looks things up that anybody may ask for, so that strangers who invent keys do not cost a query
 * each: what is asked for at the same time, or while a query is under way, is one query. While many
 * ask in vain, queries keep a pause between them; whoever asks for something that exists waits for no
 * longer than that.
 */
export class BatchedLookups<Value> {
  readonly #find: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  readonly #options: Required<BatchedLookupsOptions>;
  #waiting = new Map<string, Waiting<Value>[]>();
  #isRunning = false;
  #isScheduled = false;
  /** Whether somebody waits who is not suspect. */
  #isUrgent = false;
  #pause: NodeJS.Timeout | undefined;
  #lastEndedAt = Number.NEGATIVE_INFINITY;
  #misses = 0;
  #missesSince = 0;
  #pacedUntil = Number.NEGATIVE_INFINITY;

  /** `find` gives what exists of the keys, by key. */
  constructor(
    find: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
    options: BatchedLookupsOptions = {},
  ) {
    this.#find = find;
    const defaults = { pauseMs: 100, missesPerSecond: 20, maxWaiting: 5_000 };
    this.#options = { ...defaults, now: () => performance.now(), ...options };
  }

  /**
   * What the key stands for; undefined when it stands for nothing. `isSuspect` asks with the pause,
   * or along with somebody who is not. Rejects with `unavailable` when too many wait, or as `find`
   * does.
   */
  find(key: string, isSuspect = false): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      const others = this.#waiting.get(key);
      if (others !== undefined) others.push({ resolve, reject });
      else if (this.#waiting.size < this.#options.maxWaiting) {
        this.#waiting.set(key, [{ resolve, reject }]);
      } else {
        reject(unavailable('Too many keys are being looked up. Please try again.', undefined));
        return;
      }
      if (!isSuspect) this.#isUrgent = true;
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isRunning || this.#isScheduled || this.#waiting.size === 0) return;
    const { pauseMs, now } = this.#options;
    const isPaced = !this.#isUrgent || now() < this.#pacedUntil;
    const waitMs = isPaced ? this.#lastEndedAt + pauseMs - now() : 0;
    if (waitMs > 0) this.#pause ??= setTimeout(() => this.#run(), waitMs);
    else {
      this.#isScheduled = true;
      queueMicrotask(() => this.#run());
    }
  }

  async #run(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = new Map();
    this.#isScheduled = false;
    this.#isUrgent = false;
    this.#isRunning = true;
    clearTimeout(this.#pause);
    this.#pause = undefined;
    try {
      const found = await this.#find([...batch.keys()]);
      this.#noteMisses([...batch.keys()].filter((key) => !found.has(key)).length);
      for (const [key, asking] of batch) for (const { resolve } of asking) resolve(found.get(key));
    } catch (error) {
      for (const asking of batch.values()) for (const { reject } of asking) reject(error);
    } finally {
      this.#isRunning = false;
      this.#lastEndedAt = this.#options.now();
      this.#schedule();
    }
  }

  /** Counts look-ups in vain by the second; many of them begin or prolong a phase with pauses. */
  #noteMisses(count: number): void {
    if (count === 0) return;
    const now = this.#options.now();
    if (now - this.#missesSince > SECOND_MS) {
      this.#misses = 0;
      this.#missesSince = now;
    }
    this.#misses += count;
    if (this.#misses >= this.#options.missesPerSecond) this.#pacedUntil = now + SECOND_MS;
  }
}
