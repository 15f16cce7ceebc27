import { describe, expect, it } from 'vitest';
import { createPayloadCipher } from './payload-encryption.ts';

const OLD_KEY = 'an-old-key-of-twenty-characters';
const NEW_KEY = 'a-new-key-of-twenty-characters!';

function cipherOf(...keys: string[]) {
  const cipher = createPayloadCipher(keys);
  if (cipher === null) throw new Error('There is no cipher.');
  return cipher;
}

describe('createPayloadCipher', () => {
  it('gives none when there is no key', () => {
    expect(createPayloadCipher([])).toBeNull();
  });

  it('decrypts what it encrypted, and encrypts the same text differently each time', () => {
    const cipher = cipherOf(NEW_KEY);
    const first = cipher.encrypt('{"a": "żółć"}');
    expect(first).not.toContain('żółć');
    expect(cipher.encrypt('{"a": "żółć"}')).not.toBe(first);
    expect(cipher.decrypt(first)).toBe('{"a": "żółć"}');
  });

  it('encrypts with the first key and decrypts with every key', () => {
    const before = cipherOf(OLD_KEY).encrypt('1');
    const rotated = cipherOf(NEW_KEY, OLD_KEY);
    expect(rotated.decrypt(before)).toBe('1');
    const after = rotated.encrypt('2');
    expect(cipherOf(OLD_KEY).decrypt(after)).toBeNull();
    expect(cipherOf(NEW_KEY).decrypt(after)).toBe('2');
  });

  it.each([
    ['a flipped bit', (text: string) => `${text.slice(0, -2)}${text.endsWith('AA') ? 'BB' : 'AA'}`],
    ['a shortened text', (text: string) => text.slice(0, -20)],
    ['another prefix', (text: string) => text.replace('burgee', 'durgee')],
    ['nothing after the key', (text: string) => text.split(':').slice(0, 2).join(':')],
    [
      'hardly anything after the key',
      (text: string) => `${text.split(':').slice(0, 2).join(':')}:AA`,
    ],
    ['plain text', () => '{"a": 1}'],
  ])('refuses %s', (_name, damage) => {
    const cipher = cipherOf(NEW_KEY);
    expect(cipher.decrypt(damage(cipher.encrypt('a secret that is long enough')))).toBeNull();
  });
});
