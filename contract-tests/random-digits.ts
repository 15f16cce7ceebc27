import { randomBytes } from 'node:crypto';

/** So many random zeros and ones, which gzip packs about six times. */
export function randomDigits(length: number): string {
  let digits = '';
  for (const byte of randomBytes(Math.ceil(length / 8)))
    digits += byte.toString(2).padStart(8, '0');
  return digits.slice(0, length);
}
