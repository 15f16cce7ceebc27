import { isJsonObject, type JsonObject } from '../../common/json.ts';
import { invalidField, type Refusal } from '../../common/refusal.ts';
import { variantsOf } from '../model/flag.ts';
import type { FeatureFlag } from '../model/flag-fields.ts';
import { type PayloadCipher, REDACTED_PAYLOAD } from './payload-encryption.ts';

/** What a write leaves behind, as far as secret payloads are concerned. */
interface PayloadWrite {
  /** The filters after the merge, payloads still as the client sent them. */
  readonly filters: JsonObject;
  readonly isEncrypted: boolean;
  readonly isRemoteConfiguration: boolean;
  /** The stored flag; null when it is created. */
  readonly before: FeatureFlag | null;
  /** Whether the client sent filters at all. */
  readonly hasSentFilters: boolean;
}

/**
 * The filters to store. A payload that comes back as the redaction marker, or not at all, keeps what
 * is stored; any other text is encrypted anew. Throws 400 when that cannot be done.
 */
export function sealPayloads(write: PayloadWrite, cipher: PayloadCipher | null): JsonObject {
  const stored = payloadsOf(write.before?.filters);
  const wasEncrypted = write.before?.hasEncryptedPayloads === true;
  if (!write.isEncrypted) {
    return wasEncrypted ? dropCiphertexts(write.filters, stored) : write.filters;
  }
  if (!write.isRemoteConfiguration) {
    throw invalidField(null, 'Encrypted payloads require the flag to be a remote configuration.');
  }
  const kept = wasEncrypted ? stored : {};
  const payloads: Record<string, string> = {};
  for (const [key, payload] of Object.entries({ ...kept, ...payloadsOf(write.filters) })) {
    // A payload goes with its variant; kept without one it would break every later write.
    if (!hasPlaceFor(key, write.filters)) continue;
    const isKept = payload === REDACTED_PAYLOAD || payload === kept[key];
    const ciphertext = isKept ? kept[key] : seal(cipher, payload);
    if (typeof ciphertext === 'string') payloads[key] = ciphertext;
  }
  if (Object.keys(payloads).length === 0 && write.hasSentFilters) {
    throw invalidField(
      'filters',
      'An encrypted payload is required when has_encrypted_payloads is true.',
    );
  }
  return { ...write.filters, payloads };
}

/**
 * The filters with payloads readable. A marker stands for those that may not be read (there is no
 * cipher) or cannot be (their key is gone), so that one of them does not make a whole list fail.
 */
export function openPayloads(
  flag: Pick<FeatureFlag, 'filters' | 'hasEncryptedPayloads'>,
  cipher: PayloadCipher | null,
): JsonObject {
  if (!flag.hasEncryptedPayloads) return flag.filters;
  const payloads = Object.fromEntries(
    Object.entries(payloadsOf(flag.filters)).map(([key, payload]) => [
      key,
      typeof payload === 'string' ? (cipher?.decrypt(payload) ?? REDACTED_PAYLOAD) : payload,
    ]),
  );
  return { ...flag.filters, payloads };
}

function hasPlaceFor(key: string, filters: JsonObject): boolean {
  const variants = variantsOf(filters);
  return variants.length === 0 ? key === 'true' : variants.some((variant) => variant.key === key);
}

/** The payloads of a flag that is no longer secret must not be ciphertexts. */
function dropCiphertexts(filters: JsonObject, stored: JsonObject): JsonObject {
  const payloads = Object.fromEntries(
    Object.entries(payloadsOf(filters)).filter(
      ([key, payload]) => payload !== stored[key] && payload !== REDACTED_PAYLOAD,
    ),
  );
  return { ...filters, payloads };
}

function seal(cipher: PayloadCipher | null, payload: unknown): string {
  if (cipher === null) throw noKey();
  return cipher.encrypt(typeof payload === 'string' ? payload : JSON.stringify(payload));
}

function noKey(): Refusal {
  return invalidField(
    'has_encrypted_payloads',
    'Encrypted payloads need an encryption key: set BURGEE_ENCRYPTION_KEYS.',
  );
}

function payloadsOf(filters: JsonObject | undefined): JsonObject {
  return isJsonObject(filters?.payloads) ? filters.payloads : {};
}
