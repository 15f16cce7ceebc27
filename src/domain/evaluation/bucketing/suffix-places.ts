/** The part of texts that follows their prefix: an identifier and a salt; and where it lies. */
export interface Suffix {
  identifier: string;
  /** Different for each text ever loaded; negative = none was. */
  stamp: number;
  /** Bytes in UTF-8; more than any text may have when it does not fit. */
  length: number;
  readonly address: number;
}

/** The identifiers hashed last: one evaluation can need several, each for many flags. */
export class SuffixPlaces {
  readonly #places: readonly Suffix[];
  #latest: Suffix;
  #next = 0;

  constructor(addresses: readonly number[]) {
    const [first, ...others] = addresses.map(createPlace);
    if (first === undefined) throw new Error('There is no place for a suffix.');
    this.#latest = first;
    this.#places = [first, ...others];
  }

  /** The suffix of an identifier; null when it is not, or no longer, in a place. */
  find(identifier: string): Suffix | null {
    const latest = this.#latest;
    // Nearly always: an evaluation hashes the same identifier again and again.
    return isOf(latest, identifier) ? latest : this.#search(identifier);
  }

  /** The place to be used next; the text in it is lost. */
  takeOldest(): Suffix {
    const place = this.#places[this.#next] ?? this.#latest;
    this.#next = (this.#next + 1) % this.#places.length;
    this.#latest = place;
    return place;
  }

  #search(identifier: string): Suffix | null {
    for (const place of this.#places) {
      if (isOf(place, identifier)) {
        this.#latest = place;
        return place;
      }
    }
    return null;
  }
}

function isOf(place: Suffix, identifier: string): boolean {
  return place.identifier === identifier && place.stamp >= 0;
}

function createPlace(address: number): Suffix {
  return { identifier: '', stamp: -1, length: 0, address };
}
