import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const BYTES_EACH = 16;

/** One call to the system's generator for so many uuids: it costs more than all the rest of one. */
const POOL = new Uint8Array(256 * BYTES_EACH);
let next = POOL.length;

/** A uuid of version 7, for an event whose client gave none: they sort by the millisecond. */
export function newUuid(): string {
  if (next === POOL.length) {
    randomFillSync(POOL);
    next = 0;
  }
  const random = POOL.subarray(next, next + BYTES_EACH);
  next += BYTES_EACH;
  return v7({ random });
}
