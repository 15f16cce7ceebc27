import { toFraction } from './hash.ts';
import { BLOCK_BYTES, emitSha1Lanes, LANES, RECORD } from './sha1-lanes-wasm.ts';
import { type Suffix, SuffixPlaces } from './suffix-places.ts';

/** Prefixes may fill one block. */
export const PREFIX_BYTES_MAX = BLOCK_BYTES;
/** What fits into two blocks beside the closing bit and the 64-bit length. */
export const TEXT_BYTES_MAX = 2 * BLOCK_BYTES - 9;

/**
 * The memory, in bytes:
 *
 *     0      zeros, 256: what prefixes have of a second block
 *     256    8 suffix places of 192, 4 for each salt
 *     1792   4096 records of 304
 *
 * A record holds four prefixes, one in each 32-bit lane of a 128-bit vector. A word of a prefix is
 * stored as a number, so that its first byte is at the highest of four addresses:
 *
 *            lane 0    lane 1    lane 2    lane 3
 *     +0     word 0    word 0    word 0    word 0      16 vectors: the first block
 *     +16    word 1    word 1    word 1    word 1
 *     ...
 *     +240   word 15   word 15   word 15   word 15
 *     +256   length    length    length    length      of the prefixes
 *     +272   bits of digests, the first 32
 *     +288   bits of digests, the next 32
 *
 * A suffix place holds the identifier, the salt and the closing bit *backwards* from its byte 127,
 * between zeros:
 *
 *     +0 ... 0 | 0x80 | salt, identifier | 0 ... +191
 *                last byte      first byte ^ +127
 *
 * So word w of a text is the word of its prefix, OR the four bytes of the suffix place that begin
 * `4 * w + 3 - length` below its first byte, where `length` is the prefix's: whatever the alignment,
 * and without shifting. Word 0 of `ab.u1`, where the prefix is `ab.` and the suffix `u1`:
 *
 *     address        low         high
 *     prefix          0   .   b   a      stored as a number: a b . 0
 *     suffix + 0..3   u   0   0   0      loaded as a number: 0 0 0 u
 *     OR                                                    a b . u
 */
const ZEROS_ADDRESS = 0;
const SUFFIXES_ADDRESS = ZEROS_ADDRESS + RECORD.lengths;
const SUFFIX_BYTES = 3 * BLOCK_BYTES;
/** Below it there are zeros for a text of two blocks, above it for the longest prefix. */
const SUFFIX_START = 2 * BLOCK_BYTES - 1;
const SUFFIX_PLACES = 8;
const RECORDS_ADDRESS = SUFFIXES_ADDRESS + SUFFIX_PLACES * SUFFIX_BYTES;
/** Room for the records of 16,384 prefixes: about 1.2 MB, of which only what is used is taken. */
const RECORD_PLACES = 4096;
const PAGE_BYTES = 65_536;
const PAGES = Math.ceil((RECORDS_ADDRESS + RECORD_PLACES * RECORD.bytes) / PAGE_BYTES);
const CLOSING_BIT = 0x80;
const LAST_ASCII = 0x7f;
const WORD_BYTES = 4;
const VECTOR_BYTES = 16;
/** The number of no group and no suffix. */
const NONE = -1;

/** What follows the identifier in a text. */
export type Salt = '' | 'variant';

/** Up to four prefixes whose texts are hashed together, all with the same salt. */
export interface LaneGroup {
  /** Different for each group ever made. */
  readonly serial: number;
  readonly salt: Salt;
  prefixes: readonly string[];
}

/** One prefix of a group. */
export interface Lane {
  readonly serial: number;
  readonly index: number;
  readonly prefixLength: number;
  readonly salt: Salt;
  readonly group: LaneGroup;
}

type Run = (record: number, suffix: number, length: number) => void;

/**
 * Hashes four short texts at a time. Its memory is a cache of fixed size, for prefixes as for
 * digests: nothing in it has to be given back, and a group whose place was taken by another one is
 * written again. A digest is only read for the very group and identifier that it was computed for.
 */
export class Sha1Lanes {
  readonly #run: Run;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #encoder = new TextEncoder();
  readonly #encoded = new Uint8Array(TEXT_BYTES_MAX);
  /** Serial of the group that each record describes, and stamp of what its digests are of. */
  readonly #owners = new Float64Array(RECORD_PLACES).fill(NONE);
  readonly #digested = new Float64Array(RECORD_PLACES).fill(NONE);
  readonly #plain: SuffixPlaces;
  readonly #salted: SuffixPlaces;
  #groups = 0;
  #stamps = 0;

  private constructor(run: Run, buffer: ArrayBuffer) {
    this.#run = run;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Int32Array(buffer);
    const addresses = Array.from(
      { length: SUFFIX_PLACES },
      (_, at) => SUFFIXES_ADDRESS + at * SUFFIX_BYTES + SUFFIX_START,
    );
    this.#plain = new SuffixPlaces(addresses.slice(0, SUFFIX_PLACES / 2));
    this.#salted = new SuffixPlaces(addresses.slice(SUFFIX_PLACES / 2));
  }

  /** null where the runtime has no WebAssembly with vectors, or no memory for it. */
  static create(): Sha1Lanes | null {
    try {
      const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
      const module = new WebAssembly.Module(emitSha1Lanes(ZEROS_ADDRESS));
      const { run } = new WebAssembly.Instance(module, { env: { memory } }).exports;
      return isRun(run) ? new Sha1Lanes(run, memory.buffer) : null;
    } catch {
      return null;
    }
  }

  /** A group without prefixes yet. */
  createGroup(salt: Salt): LaneGroup {
    const serial = this.#groups;
    this.#groups += 1;
    return { serial, salt, prefixes: [] };
  }

  /** Adds a prefix to a group that has room for one; null when it is too long for a lane. */
  addPrefix(group: LaneGroup, prefix: string): Lane | null {
    const prefixLength = this.#encoder.encode(prefix).length;
    if (prefixLength > PREFIX_BYTES_MAX) return null;
    const { serial, salt } = group;
    const place = serial % RECORD_PLACES;
    // A record without this prefix is out of date.
    if (this.#owners[place] === serial) this.#owners[place] = NONE;
    const index = group.prefixes.length;
    group.prefixes = [...group.prefixes, prefix];
    return { serial, index, prefixLength, salt, group };
  }

  /**
   * The hash of a lane's prefix, followed by the identifier and the salt; null when this text is
   * too long. The group's other hashes are computed with it and kept for later.
   */
  hash(lane: Lane, identifier: string): number | null {
    const suffix = this.#findSuffix(lane.salt, identifier);
    if (lane.prefixLength + suffix.length > TEXT_BYTES_MAX) return null;
    const place = lane.serial % RECORD_PLACES;
    const record = RECORDS_ADDRESS + place * RECORD.bytes;
    if (this.#digested[place] !== suffix.stamp || this.#owners[place] !== lane.serial) {
      if (this.#owners[place] !== lane.serial) this.#writeRecord(record, lane.group.prefixes);
      this.#run(record, suffix.address, suffix.length);
      this.#owners[place] = lane.serial;
      this.#digested[place] = suffix.stamp;
    }
    const digest = (record + RECORD.digests) / WORD_BYTES + lane.index;
    return toFraction(this.#words[digest] ?? 0, this.#words[digest + LANES] ?? 0);
  }

  #findSuffix(salt: Salt, identifier: string): Suffix {
    const places = salt === '' ? this.#plain : this.#salted;
    return places.find(identifier) ?? this.#loadSuffix(places.takeOldest(), identifier, salt);
  }

  /** Texts are written backwards: see the drawing of the memory. */
  #loadSuffix(suffix: Suffix, identifier: string, salt: Salt): Suffix {
    const start = suffix.address;
    this.#bytes.fill(0, start - SUFFIX_START, start + 1);
    suffix.length = this.#writeBackwards(start, identifier + salt);
    suffix.identifier = identifier;
    suffix.stamp = this.#stamps;
    this.#stamps += 1;
    return suffix;
  }

  /** The length in bytes, or more than any text may have when it does not fit. */
  #writeBackwards(start: number, text: string): number {
    if (text.length > TEXT_BYTES_MAX) return TEXT_BYTES_MAX + 1;
    let written = 0;
    while (written < text.length) {
      const code = text.charCodeAt(written);
      if (code > LAST_ASCII) return this.#encodeBackwards(start, text);
      this.#bytes[start - written] = code;
      written += 1;
    }
    this.#bytes[start - written] = CLOSING_BIT;
    return written;
  }

  #encodeBackwards(start: number, text: string): number {
    const { read, written } = this.#encoder.encodeInto(text, this.#encoded);
    if (read < text.length) return TEXT_BYTES_MAX + 1;
    for (let at = 0; at < written; at++) this.#bytes[start - at] = this.#encoded[at] ?? 0;
    this.#bytes[start - written] = CLOSING_BIT;
    return written;
  }

  #writeRecord(record: number, prefixes: readonly string[]): void {
    this.#bytes.fill(0, record, record + RECORD.bytes);
    for (const [lane, prefix] of prefixes.entries()) {
      const { written } = this.#encoder.encodeInto(prefix, this.#encoded);
      for (let at = 0; at < written; at++) {
        const word = record + Math.floor(at / WORD_BYTES) * VECTOR_BYTES + lane * WORD_BYTES;
        this.#bytes[word + WORD_BYTES - 1 - (at % WORD_BYTES)] = this.#encoded[at] ?? 0;
      }
      this.#words[(record + RECORD.lengths) / WORD_BYTES + lane] = written;
    }
  }
}

function isRun(value: unknown): value is Run {
  return typeof value === 'function';
}
