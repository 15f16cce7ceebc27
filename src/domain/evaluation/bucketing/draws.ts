import { hash } from './hash.ts';
import { type Lane, type LaneGroup, type Salt, Sha1Lanes } from './sha1-lanes.ts';
import { LANES } from './sha1-lanes-wasm.ts';

/** One for the process: evaluation is synchronous, so that nobody else uses it meanwhile. */
const SHARED_LANES = Sha1Lanes.create();
const USUAL_IDENTIFIER_BYTES = 36;
const ONE_BLOCK_BYTES = 55;

/** What identifiers draw: the hash of a prefix, the identifier, and a salt. */
export interface Draw {
  /** A number in [0, 1]. */
  hash(identifier: string): number;
}

/** Hashes each text alone. */
class PlainDraw implements Draw {
  readonly #prefix: string;
  readonly #salt: Salt;

  constructor(prefix: string, salt: Salt) {
    this.#prefix = prefix;
    this.#salt = salt;
  }

  hash(identifier: string): number {
    return hash(this.#prefix + identifier + this.#salt);
  }
}

/** Has its texts hashed together with those of its neighbours, unless they are too long for it. */
class LaneDraw implements Draw, Lane {
  readonly serial: number;
  readonly index: number;
  readonly prefixLength: number;
  readonly salt: Salt;
  readonly group: LaneGroup;
  readonly #lanes: Sha1Lanes;

  constructor(lanes: Sha1Lanes, lane: Lane) {
    this.serial = lane.serial;
    this.index = lane.index;
    this.prefixLength = lane.prefixLength;
    this.salt = lane.salt;
    this.group = lane.group;
    this.#lanes = lanes;
  }

  hash(identifier: string): number {
    return (
      this.#lanes.hash(this, identifier) ??
      hash(this.group.prefixes[this.index] + identifier + this.salt)
    );
  }
}

/**
 * Makes draws, four to a group. The hashes of a group are computed together, so that draws which
 * are likely to be needed together, for the same identifier, should be of one kind.
 */
export class DrawMaker {
  readonly #lanes: Sha1Lanes | null;
  readonly #draws = new Map<string, Draw>();
  readonly #open = new Map<string, LaneGroup>();

  /** Without lanes each hash is computed alone. */
  constructor(lanes: Sha1Lanes | null = SHARED_LANES) {
    this.#lanes = lanes;
  }

  /** The same draw each time for the same arguments. A prefix has to end in ASCII. */
  make(prefix: string, salt: Salt, kind: string): Draw {
    const name = `${kind} ${salt} ${prefix}`;
    const known = this.#draws.get(name);
    if (known !== undefined) return known;
    const made = this.#createInLane(prefix, salt, kind) ?? new PlainDraw(prefix, salt);
    this.#draws.set(name, made);
    return made;
  }

  #createInLane(prefix: string, salt: Salt, kind: string): Draw | null {
    const lanes = this.#lanes;
    if (lanes === null) return null;
    // Texts of two blocks take twice as long, and one in a group is enough.
    const isShort = prefix.length + USUAL_IDENTIFIER_BYTES + salt.length <= ONE_BLOCK_BYTES;
    const name = `${kind} ${salt} ${isShort}`;
    const group = this.#open.get(name) ?? lanes.createGroup(salt);
    const lane = lanes.addPrefix(group, prefix);
    if (lane === null) return null;
    if (group.prefixes.length < LANES) this.#open.set(name, group);
    else this.#open.delete(name);
    return new LaneDraw(lanes, lane);
  }
}
