import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../common/json.ts';
import type { FeatureFlag } from '../model/flag-fields.ts';
import { openPayloads, sealPayloads } from './encrypted-payloads.ts';
import { createPayloadCipher, REDACTED_PAYLOAD } from './payload-encryption.ts';

function cipherOf(...keys: string[]) {
  const cipher = createPayloadCipher(keys);
  if (cipher === null) throw new Error('There is no cipher.');
  return cipher;
}

const OLD_KEY = 'a-key-of-more-than-20-characters';
const CIPHER = cipherOf(OLD_KEY);
const STRANGER = cipherOf('another-key-of-20-characters');
const GROUPS = [{ properties: [], rollout_percentage: 100 }];
const VARIANTS = { variants: ['true', 'blue', 'green'].map((key) => ({ key })) };
const CIPHERTEXT = expect.stringMatching(/^burgee-enc-1:/);

/** A stored remote configuration with these payloads as they are stored. */
function aStoredFlag(payloads: JsonObject, hasEncryptedPayloads = true): FeatureFlag {
  return {
    id: 1,
    projectId: 1,
    key: 'a-flag',
    name: '',
    filters: { groups: GROUPS, payloads },
    active: true,
    deleted: false,
    version: 1,
    ensureExperienceContinuity: false,
    rollbackConditions: null,
    performedRollback: false,
    tags: [],
    evaluationTags: [],
    analyticsDashboards: [],
    usageDashboard: null,
    hasEnrichedAnalytics: false,
    creationContext: 'feature_flags',
    isRemoteConfiguration: true,
    hasEncryptedPayloads,
    evaluationRuntime: 'all',
    bucketingIdentifier: 'distinct_id',
    lastCalledAt: null,
    createInFolder: null,
    shouldCreateUsageDashboard: true,
    createdById: null,
    lastModifiedById: null,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
}

const WRITE = {
  isEncrypted: true,
  isRemoteConfiguration: true,
  before: null,
  hasSentFilters: true,
};

/** The payloads that are stored after a write with these. */
function seal(payloads: JsonObject, partial: object = {}, cipher: typeof CIPHER | null = CIPHER) {
  const filters = { groups: GROUPS, multivariate: VARIANTS, payloads };
  const sealed = sealPayloads({ ...WRITE, filters, ...partial }, cipher);
  expect(sealed.groups).toBe(GROUPS);
  return Object(sealed.payloads);
}

describe('sealPayloads', () => {
  it('encrypts every payload, and leaves the filters around them', () => {
    const sealed = seal({ true: '{"a":1}', blue: '"b"' });
    expect(sealed).toEqual({ true: CIPHERTEXT, blue: CIPHERTEXT });
    expect(CIPHER.decrypt(sealed.true)).toBe('{"a":1}');
    expect(CIPHER.decrypt(sealed.blue)).toBe('"b"');
  });

  it('encrypts what is not text as its JSON', () => {
    expect(CIPHER.decrypt(seal({ true: { a: [1] } }).true)).toBe('{"a":[1]}');
  });

  it('leaves the filters of a flag alone that is not secret and was not', () => {
    const filters = { groups: GROUPS, payloads: { true: REDACTED_PAYLOAD } };
    const write = { ...WRITE, filters, isEncrypted: false };
    expect(sealPayloads(write, null)).toBe(filters);
    expect(sealPayloads({ ...write, before: aStoredFlag({}, false) }, null)).toBe(filters);
  });

  describe('of a flag that is secret already', () => {
    const kept = CIPHER.encrypt('"kept"');
    const before = aStoredFlag({ true: kept, blue: CIPHER.encrypt('"b"') });

    it.each<[string, JsonObject]>([
      ['the marker', { true: REDACTED_PAYLOAD }],
      ['no payload', {}],
      ['the ciphertext itself', { true: kept }],
    ])('keeps what is stored when the write has %s, even without a key', (_name, payloads) => {
      expect(seal(payloads, { before }, null)).toEqual(before.filters.payloads);
    });

    it('encrypts only what is new', () => {
      const sealed = seal({ true: '"new"', green: '"g"' }, { before });
      expect(sealed.blue).toBe(Object(before.filters.payloads).blue);
      expect(CIPHER.decrypt(sealed.true)).toBe('"new"');
      expect(CIPHER.decrypt(sealed.green)).toBe('"g"');
    });

    it('drops the payload of a variant that is gone', () => {
      const multivariate = { variants: [{ key: 'blue' }] };
      const filters = { groups: GROUPS, multivariate, payloads: { blue: REDACTED_PAYLOAD } };
      const sealed = sealPayloads({ ...WRITE, filters, before }, CIPHER);
      expect(Object.keys(Object(sealed.payloads))).toEqual(['blue']);
      const boolean = { groups: GROUPS, payloads: {} };
      const single = sealPayloads({ ...WRITE, filters: boolean, before }, CIPHER);
      expect(single.payloads).toEqual({ true: kept });
    });

    it('drops a marker that stands for nothing', () => {
      expect(Object.keys(seal({ green: REDACTED_PAYLOAD }, { before }))).toEqual(['true', 'blue']);
    });

    it('drops all of it once the flag is no longer secret, except what is new', () => {
      const payloads = { true: kept, blue: REDACTED_PAYLOAD, green: '"public"' };
      expect(seal(payloads, { before, isEncrypted: false })).toEqual({ green: '"public"' });
    });
  });

  it('encrypts what was stored in clear when the flag becomes secret', () => {
    const before = aStoredFlag({ true: '"clear"' }, false);
    const sealed = seal({ true: '"clear"' }, { before, hasSentFilters: false });
    expect(CIPHER.decrypt(sealed.true)).toBe('"clear"');
  });

  it.each<[string, JsonObject, object, typeof CIPHER | null, RegExp]>([
    ['without a key', { true: '1' }, {}, null, /set BURGEE_ENCRYPTION_KEYS/],
    ['without a payload', {}, {}, CIPHER, /An encrypted payload is required/],
    ['with a marker for nothing', { true: REDACTED_PAYLOAD }, {}, CIPHER, /payload is required/],
    [
      'for a flag that is not a remote configuration',
      { true: '1' },
      { isRemoteConfiguration: false },
      CIPHER,
      /require the flag to be a remote configuration/,
    ],
  ])('refuses to seal %s', (_name, payloads, partial, cipher, message) => {
    expect(() => seal(payloads, partial, cipher)).toThrow(message);
  });
});

describe('openPayloads', () => {
  it('decrypts every payload, by whichever key fits', () => {
    const flag = aStoredFlag({ true: CIPHER.encrypt('1'), blue: STRANGER.encrypt('"b"') });
    const both = cipherOf('another-key-of-20-characters', OLD_KEY);
    expect(openPayloads(flag, both)).toEqual({
      groups: GROUPS,
      payloads: { true: '1', blue: '"b"' },
    });
  });

  it('puts a marker in the place of what may not or cannot be read', () => {
    const flag = aStoredFlag({ true: CIPHER.encrypt('1'), blue: STRANGER.encrypt('2') });
    const marker = REDACTED_PAYLOAD;
    expect(openPayloads(flag, null).payloads).toEqual({ true: marker, blue: marker });
    expect(openPayloads(flag, CIPHER).payloads).toEqual({ true: '1', blue: marker });
    expect(JSON.parse(marker)).toBe('********* (encrypted)');
  });

  it('leaves the filters of a flag alone that is not secret', () => {
    const flag = aStoredFlag({ true: '1' }, false);
    expect(openPayloads(flag, CIPHER)).toBe(flag.filters);
  });
});
