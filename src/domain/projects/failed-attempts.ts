import { BoundedCache } from '../common/bounded-cache.ts';

/** How many bad keys an address may send in a window before it is suspect. */
const SUSPECT_FROM = 20;
const WINDOW_MS = 10_000;

/** More addresses than this are not told apart. */
const ADDRESSES_MAX = 10_000;

interface Attempts {
  readonly since: number;
  count: number;
}

/** Counts the bad keys that each address sends. Nobody is locked out: good keys work as ever. */
export class FailedAttempts {
  readonly #byAddress = new BoundedCache<string, Attempts>(ADDRESSES_MAX);
  readonly #now: () => number;

  /** `now` gives milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes that a key from the address opened nothing. */
  note(address: string): void {
    const attempts = this.#current(address);
    if (attempts === undefined) this.#byAddress.set(address, { since: this.#now(), count: 1 });
    else attempts.count += 1;
  }

  /** Whether the address has sent many bad keys of late. */
  isSuspect(address: string): boolean {
    return (this.#current(address)?.count ?? 0) >= SUSPECT_FROM;
  }

  #current(address: string): Attempts | undefined {
    const attempts = this.#byAddress.get(address);
    return attempts === undefined || this.#now() - attempts.since > WINDOW_MS
      ? undefined
      : attempts;
  }
}
