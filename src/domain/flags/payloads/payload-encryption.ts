import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts payloads of flags, and decrypts what any of the keys has encrypted. */
export interface PayloadCipher {
  encrypt(plaintext: string): string;
  /** Null when none of the keys fits, or the text was changed. */
  decrypt(ciphertext: string): string | null;
}

/**
 * What stands for an encrypted payload where it may not be read: JSON text that is itself a string,
 * as clients know it.
 */
export const REDACTED_PAYLOAD = '"********* (encrypted)"';

const PREFIX = 'burgee-enc-1';
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface DerivedKey {
  /** Says which key encrypted a text, without saying anything about the key. */
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * A cipher for these keys: the first one encrypts, all of them decrypt, so a key is replaced by
 * putting the new one in front. AES-256 in GCM, with a key that HKDF derives from each text.
 * Null when there is no key.
 */
export function createPayloadCipher(keys: readonly string[]): PayloadCipher | null {
  const derived = keys.map(deriveKey);
  const [first] = derived;
  if (first === undefined) return null;
  return {
    encrypt(plaintext) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, first.bytes, nonce);
      const sealed = Buffer.concat([
        nonce,
        cipher.update(plaintext, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `${PREFIX}:${first.id}:${sealed.toString('base64url')}`;
    },
    decrypt(ciphertext) {
      const [prefix, id, sealed] = ciphertext.split(':');
      const key = derived.find((candidate) => candidate.id === id);
      if (prefix !== PREFIX || key === undefined || sealed === undefined) return null;
      return open(key, Buffer.from(sealed, 'base64url'));
    },
  };
}

function deriveKey(text: string): DerivedKey {
  const bytes = Buffer.from(hkdfSync('sha256', text, '', `${PREFIX} payload`, KEY_BYTES));
  const id = createHash('sha256').update(`${PREFIX} id`).update(bytes).digest('hex').slice(0, 8);
  return { id, bytes };
}

function open(key: DerivedKey, sealed: Buffer): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(ALGORITHM, key.bytes, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
