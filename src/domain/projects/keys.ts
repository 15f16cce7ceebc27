import { hash, randomBytes } from 'node:crypto';

/** `phc_` is public and names a project; `phx_` belongs to a person; `phs_` to a project. */
export type KeyPrefix = 'phc_' | 'phx_' | 'phs_';

const KEY_BYTES = 32;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(ALPHABET.length);

/** A new key: the prefix and 32 random bytes in base 62. */
export function generateKey(prefix: KeyPrefix): string {
  let rest = BigInt(`0x${randomBytes(KEY_BYTES).toString('hex')}`);
  let text = '';
  while (rest > 0n) {
    text = ALPHABET.charAt(Number(rest % BASE)) + text;
    rest /= BASE;
  }
  return prefix + text;
}

/**
 * What is stored of a secret key. One round of SHA-256 is enough, because a key holds 256 random
 * bits and cannot be guessed from a list.
 */
export function hashKey(key: string): string {
  return `sha256$${hash('sha256', key)}`;
}

/** The end of a key, by which a person recognises it in a list. */
export function hintOfKey(key: string): string {
  return `${key.slice(0, 4)}...${key.slice(-4)}`;
}
