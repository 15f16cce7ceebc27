import { unavailable } from './refusal.ts';

export interface LargeWorkOptions {
  /** How many large bodies are worked on at a time. */
  readonly atOnce: number;
  /** How many may wait for their turn. */
  readonly maxWaiting: number;
  /** How long one waits at most, in milliseconds. */
  readonly maxWaitMs: number;
  /** How long nothing large may have come before `onIdle` is called, in milliseconds. */
  readonly idleAfterMs: number;
  /** Called once after large work, when it is over: what it took can be given back. */
  readonly onIdle: () => void;
}

const DEFAULTS: LargeWorkOptions = {
  atOnce: 1,
  maxWaiting: 100,
  maxWaitMs: 10_000,
  idleAfterMs: 1_000,
  onIdle() {},
};

interface Waiting {
  readonly holder: object;
  readonly isGone: () => boolean;
  readonly admit: () => void;
  readonly refuse: () => void;
}

const NEVER = () => false;

/**
 * Turns for what takes many turns of the event loop and many times its bytes of memory: one large
 * body at a time is unpacked and read, in the order of arrival, so that a dozen of them take no more
 * memory than one and others are served between its slices.
 */
export class LargeWork {
  readonly #options: LargeWorkOptions;
  readonly #holders = new Set<object>();
  readonly #waiting = new Set<Waiting>();
  #idle: NodeJS.Timeout | undefined;

  constructor(options: Partial<LargeWorkOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /**
   * Resolves when it is the holder's turn; at once when it has it already. Rejects with
   * `unavailable` when too many wait, or after too long a wait. `isGone` says whether nobody wants the
   * result any more: such a holder gets no turn.
   */
  enter(holder: object, isGone: () => boolean = NEVER): Promise<void> {
    const { atOnce, maxWaiting, maxWaitMs } = this.#options;
    if (this.#holders.has(holder)) return Promise.resolve();
    if (this.#holders.size < atOnce && this.#waiting.size === 0) {
      this.#holders.add(holder);
      return Promise.resolve();
    }
    if (this.#waiting.size >= maxWaiting) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const refuse = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        reject(busy());
      };
      const admit = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        this.#holders.add(holder);
        resolve();
      };
      const waiting: Waiting = { holder, isGone, admit, refuse };
      const timer = setTimeout(refuse, maxWaitMs);
      this.#waiting.add(waiting);
    });
  }

  /** Gives the holder's turn to the next; nothing happens when it had none. */
  leave(holder: object): void {
    if (!this.#holders.delete(holder)) return;
    for (const next of this.#waiting) {
      if (!next.isGone()) {
        next.admit();
        return;
      }
      next.refuse();
    }
    const { idleAfterMs, onIdle } = this.#options;
    this.#idle ??= setTimeout(() => {
      this.#idle = undefined;
      onIdle();
    }, idleAfterMs).unref();
    this.#idle.refresh();
  }
}

function busy() {
  return unavailable(
    'Too many large requests are being read. Please try again shortly.',
    undefined,
  );
}
