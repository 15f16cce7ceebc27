/**
 * Remembers what was worked out for a text that comes again and again. Full, it forgets everything:
 * what matters is back after one request, and clients that never repeat themselves cost nothing more.
 */
export class ShortMemory<Key, Value> {
  readonly #values = new Map<Key, Value>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#values.size >= this.#max) this.#values.clear();
    this.#values.set(key, value);
  }
}
