import { getHeapStatistics } from 'node:v8';
import { Refusal } from '../../domain/common/refusal.ts';

/** How much may be under way at a time. */
export interface AdmissionLimits {
  /** Requests that were begun and not answered. */
  readonly maxRequests: number;
  /** Bytes of bodies that arrive or are held. */
  readonly maxBytes: number;
  /** The share of the requests that one address may have, between 0 and 1. */
  readonly addressRequestShare: number;
  /** The share of the bytes that one address may have, between 0 and 1. */
  readonly addressByteShare: number;
}

const MIB = 1024 * 1024;

/** A share of the heap, so that what strangers send never takes all of it. */
const HEAP_SHARE = 0.25;

/** The limits of a process with this much heap, in bytes; the process's own unless it is given. */
export function limitsFor(heapBytes = getHeapStatistics().heap_size_limit): AdmissionLimits {
  const maxBytes = Math.min(512 * MIB, Math.max(48 * MIB, heapBytes * HEAP_SHARE));
  return { maxRequests: 5_000, maxBytes, addressRequestShare: 0.5, addressByteShare: 0.8 };
}

/** What is under way, and how many requests were refused because there was no room. */
export interface Load {
  readonly requests: number;
  /** Of bodies. */
  readonly bytes: number;
  readonly refused: number;
}

/** What one address, or everybody, has under way. */
class Use {
  requests = 0;
  bytes = 0;
  connections = 0;

  add(requests: number, bytes: number): void {
    this.requests += requests;
    this.bytes += bytes;
  }
}

/**
 * Bounds what is under way, for everybody and for one address. Over a bound a request is refused at
 * once with 503 and `Retry-After`, which SDKs follow, instead of making all others slow. The bounds
 * are far above what honest traffic has under way, through one proxy or from behind one NAT too.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #total = new Use();
  #refused = 0;
  readonly #byAddress = new Map<string, Use>();

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** What a new connection from the address will have under way. */
  connect(address: string): Connection {
    let use = this.#byAddress.get(address);
    if (use === undefined) {
      use = new Use();
      this.#byAddress.set(address, use);
    }
    use.connections += 1;
    return new Connection(this, use, address);
  }

  /** Adds to what is under way, or does nothing and returns false when there is no room. */
  tryAdd(use: Use, requests: number, bytes: number): boolean {
    const { maxRequests, maxBytes, addressRequestShare, addressByteShare } = this.#limits;
    const total = this.#total;
    const hasRoom =
      total.requests + requests <= maxRequests &&
      total.bytes + bytes <= maxBytes &&
      use.requests + requests <= maxRequests * addressRequestShare &&
      use.bytes + bytes <= maxBytes * addressByteShare;
    if (hasRoom) this.add(use, requests, bytes);
    else this.#refused += 1;
    return hasRoom;
  }

  /** What is under way now, and how much was refused so far. */
  load(): Load {
    const { requests, bytes } = this.#total;
    return { requests, bytes, refused: this.#refused };
  }

  add(use: Use, requests: number, bytes: number): void {
    use.add(requests, bytes);
    this.#total.add(requests, bytes);
  }

  forget(use: Use, address: string): void {
    use.connections -= 1;
    if (use.connections === 0) this.#byAddress.delete(address);
  }
}

/** A client's connection with what it has under way, which ends with it at the latest. */
export class Connection {
  readonly #admission: Admission;
  readonly #use: Use;
  readonly #address: string;
  readonly #own = new Use();
  #isClosed = false;
  /** Whether anything was asked for on it; Node does not count it as idle before. */
  hasAsked = false;

  constructor(admission: Admission, use: Use, address: string) {
    this.#admission = admission;
    this.#use = use;
    this.#address = address;
  }

  /** Lets a request in that announces a body of so many bytes; false when there is no room. */
  enter(bytes: number): boolean {
    return this.#tryAdd(1, bytes);
  }

  /** Asks for room for more bytes than were announced; false when there is none. */
  addBytes(bytes: number): boolean {
    return this.#tryAdd(0, bytes);
  }

  /** Gives back what a request held, announced and added bytes together. */
  leave(bytes: number): void {
    if (this.#isClosed) return;
    this.#own.add(-1, -bytes);
    this.#admission.add(this.#use, -1, -bytes);
  }

  /** Gives back what is left. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#admission.add(this.#use, -this.#own.requests, -this.#own.bytes);
    this.#admission.forget(this.#use, this.#address);
  }

  #tryAdd(requests: number, bytes: number): boolean {
    if (this.#isClosed || !this.#admission.tryAdd(this.#use, requests, bytes)) return false;
    this.#own.add(requests, bytes);
    return true;
  }
}

/** The refusal of what there is no room for. */
export function overloaded(): Refusal {
  return new Refusal('unavailable', 'Too much is under way. Please try again shortly.', {
    code: 'overloaded',
  });
}
