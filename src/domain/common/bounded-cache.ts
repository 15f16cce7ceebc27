/**
 * A cache of at most `maxEntries`, of which the half that was used last is always there. When the
 * newer half is full, the older one is forgotten as a whole: what is in use stays, however much is
 * seen only once, and no entry is looked for in order to drop it. (One Map, and its first key
 * deleted for each new one, costs microseconds: it passes over every key that was deleted before.)
 */
export class BoundedCache<Key, Value> {
  readonly #halfSize: number;
  #newer = new Map<Key, Value>();
  #older = new Map<Key, Value>();

  /** `maxEntries` is at least 2. */
  constructor(maxEntries: number) {
    this.#halfSize = Math.floor(maxEntries / 2);
  }

  get(key: Key): Value | undefined {
    const value = this.#newer.get(key);
    if (value !== undefined) return value;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    if (this.#newer.size >= this.#halfSize && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  delete(key: Key): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }

  clear(): void {
    this.#newer.clear();
    this.#older.clear();
  }
}
