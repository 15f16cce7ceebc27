import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const BYTES_EACH = 16;

/** One call to the system's generator for so many uuids: it costs more than all the rest of one. */
const POOL = new Uint8Array(256 * BYTES_EACH);
const WORDS = new DataView(POOL.buffer);
let next = POOL.length;

/** The millisecond of the last uuid, and its count within that, which begins at a random number. */
const last = { msecs: 0, seq: 0 };

/**
 * A uuid of version 7, for an event whose client gave none. Each sorts behind the one before it, so
 * that events of one instant are listed in the order in which they came.
 */
export function newUuid(): string {
  if (next === POOL.length) {
    randomFillSync(POOL);
    next = 0;
  }
  const now = Date.now();
  if (now > last.msecs) {
    last.msecs = now;
    // Half of the numbers are left to count up to.
    last.seq = WORDS.getUint32(next) >>> 1;
  } else last.seq += 1;
  const random = POOL.subarray(next, next + BYTES_EACH);
  next += BYTES_EACH;
  return v7({ random, msecs: last.msecs, seq: last.seq });
}
