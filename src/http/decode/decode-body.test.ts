import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../domain/common/refusal.ts';
import { BodyTooLargeError, DecodeError } from './body-parts.ts';
import { decodeIngestBody } from './decode-body.ts';
import { decodeManagementBody, MANAGEMENT_MAX_BYTES } from './decode-management-body.ts';

const VALUE = { event: 'x', text: 'ü+/ = &' };
const JSON_TEXT = JSON.stringify(VALUE);
const BASE64 = Buffer.from(JSON_TEXT).toString('base64');
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const LIMITS = { inflatedMaxBytes: 1_000_000 };

/** A few hundred bytes that inflate to more than any limit. */
const BOMB = gzipSync(Buffer.alloc(MANAGEMENT_MAX_BYTES + 1, ' '));

function failureOf(decode: () => unknown): unknown {
  try {
    return decode();
  } catch (error) {
    return error;
  }
}

describe('decodeManagementBody', () => {
  const json = { 'content-type': 'application/json' };

  it.each([
    ['JSON', json, Buffer.from(JSON_TEXT)],
    ['JSON without a media type', {}, Buffer.from(JSON_TEXT)],
    ['JSON with a charset', { 'content-type': 'Application/JSON; charset=utf-8' }, JSON_TEXT],
    ['JSON of a special kind', { 'content-type': 'application/merge-patch+json' }, JSON_TEXT],
    ['JSON with a byte order mark', json, `\uFEFF${JSON_TEXT}`],
    ['gzip that is announced', { ...json, 'content-encoding': 'gzip' }, gzipSync(JSON_TEXT)],
    ['gzip that is not announced', json, gzipSync(JSON_TEXT)],
    [
      'JSON that a proxy has inflated on the way',
      { ...json, 'content-encoding': 'gzip' },
      JSON_TEXT,
    ],
  ])('reads %s', (_what, headers, payload) => {
    expect(decodeManagementBody(headers, Buffer.from(payload))).toEqual(VALUE);
  });

  it('has no value for an empty body, whatever its type', () => {
    expect(decodeManagementBody({ 'content-type': 'text/html' }, Buffer.alloc(0))).toBeUndefined();
  });

  it.each(['text/html', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'refuses the media type %s',
    (mediaType) => {
      const headers = { 'content-type': mediaType };
      const error = failureOf(() => decodeManagementBody(headers, Buffer.from(JSON_TEXT)));
      expect(error).toMatchObject({
        kind: 'unsupported_media_type',
        detail: `Unsupported media type "${mediaType}" in request.`,
      });
    },
  );

  it.each([
    ['text that is no JSON', Buffer.from('{"a":')],
    ['two values', Buffer.from('1 2')],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['gzip that is cut off', gzipSync(JSON_TEXT).subarray(0, -6)],
    ['gzip of text that is no JSON', gzipSync('hello')],
  ])('refuses %s as malformed', (_what, payload) => {
    const error = failureOf(() => decodeManagementBody(json, payload));
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({
      kind: 'malformed',
      code: 'parse_error',
      detail: expect.stringMatching(/^JSON parse error - ./),
    });
  });

  it('refuses a small body that inflates beyond the limit', () => {
    expect(BOMB.length).toBeLessThan(10_000);
    expect(failureOf(() => decodeManagementBody(json, BOMB))).toMatchObject({
      kind: 'too_large',
      detail: 'The request body is larger than 4194304 bytes.',
    });
  });

  it('inflates a body up to the very limit', () => {
    const text = `"${'x'.repeat(MANAGEMENT_MAX_BYTES - 2)}"`;
    expect(decodeManagementBody(json, gzipSync(text))).toHaveLength(MANAGEMENT_MAX_BYTES - 2);
  });

  it('keeps a key called __proto__ as data', () => {
    const value = decodeManagementBody(json, Buffer.from('{"__proto__": {"admin": true}}'));
    expect(value).not.toHaveProperty('admin');
  });
});

describe('decodeIngestBody', () => {
  it.each([
    ['JSON', { 'content-type': 'application/json' }, JSON_TEXT],
    ['JSON without a media type', {}, JSON_TEXT],
    ['JSON sent as text', { 'content-type': 'text/plain;charset=UTF-8' }, JSON_TEXT],
    ['JSON with a byte order mark', {}, `\uFEFF${JSON_TEXT}`],
    ['JSON sent as a form', FORM, encodeURIComponent(JSON_TEXT)],
    ['gzip', { 'content-encoding': 'gzip' }, gzipSync(JSON_TEXT)],
    ['gzip that is not announced', { 'content-type': 'text/plain' }, gzipSync(JSON_TEXT)],
    ['gzip of JSON with a byte order mark', {}, gzipSync(`\uFEFF${JSON_TEXT}`)],
    ['base64', { 'content-type': 'text/plain' }, BASE64],
    ['base64 without its padding', {}, BASE64.replace(/=+$/, '')],
    ['base64 of the URL alphabet', {}, Buffer.from(JSON_TEXT).toString('base64url')],
    ['base64 of gzip', {}, gzipSync(JSON_TEXT).toString('base64')],
    [
      'base64 of JSON with a byte order mark',
      {},
      Buffer.from(`\uFEFF${JSON_TEXT}`).toString('base64'),
    ],
    ['a form of base64', FORM, `data=${encodeURIComponent(BASE64)}`],
    ['a form of base64 that nobody escaped', FORM, `data=${BASE64}`],
    ['a form of JSON', FORM, `data=${encodeURIComponent(JSON_TEXT)}`],
    [
      'a form of base64 of gzip',
      FORM,
      `data=${encodeURIComponent(gzipSync(JSON_TEXT).toString('base64'))}`,
    ],
    [
      'a form whose data comes late',
      FORM,
      `ver=1.2&compression=base64&data=${encodeURIComponent(BASE64)}&ip=1`,
    ],
    ['a form sent as text', { 'content-type': 'text/plain' }, `data=${encodeURIComponent(BASE64)}`],
    ['a form in gzip', FORM, gzipSync(`data=${encodeURIComponent(BASE64)}`)],
  ])('reads %s', (_what, headers, payload) => {
    expect(decodeIngestBody(headers, Buffer.from(payload), LIMITS)).toEqual(VALUE);
  });

  it('reads base64 whose plus signs became spaces on the way', () => {
    const value = { text: '>>>???~~~' };
    const base64 = Buffer.from(JSON.stringify(value)).toString('base64');
    expect(base64).toContain('+');
    const body = `data=${base64.replaceAll('+', '%20')}`;
    expect(decodeIngestBody(FORM, Buffer.from(body), LIMITS)).toEqual(value);
  });

  it('reads numbers that JSON does not have as null, but not inside of texts', () => {
    const text = '{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \\" Infinity", "d": 1}';
    const value = { a: null, b: [null, null], c: 'NaN " Infinity', d: 1 };
    for (const payload of [text, gzipSync(text), Buffer.from(text).toString('base64')]) {
      expect(decodeIngestBody({}, Buffer.from(payload), LIMITS)).toEqual(value);
    }
  });

  it.each([
    ['texts that never end', `NaN${'"\\'.repeat(400_000)}`],
    ['quotes without an end', `NaN${'"'.repeat(999_999)}`],
    ['signs', `NaN${'-'.repeat(900_000)}`],
  ])('refuses %s as quickly as any other text', (_name, hostile) => {
    const error = failureOf(() => decodeIngestBody({}, Buffer.from(hostile), LIMITS));
    expect(error).toBeInstanceOf(DecodeError);
  });

  it('takes a very long text beside a number that JSON does not have', () => {
    const word = 'x'.repeat(9_000_000);
    const payload = Buffer.from(`{"a": NaN, "b": "${word}"}`);
    const large = { ...LIMITS, inflatedMaxBytes: 20_000_000 };
    expect(decodeIngestBody({}, payload, large)).toEqual({ a: null, b: word });
  });

  it('replaces bytes that are not UTF-8 instead of losing the request', () => {
    const payload = Buffer.from([0x22, 0xff, 0x22]);
    expect(decodeIngestBody({}, payload, LIMITS)).toBe('\uFFFD');
  });

  it.each([
    ['an empty body', {}, '', true, /./],
    ['text that is no JSON', {}, '{"a":', true, /./],
    ['base64 of text that is no JSON', {}, 'aGVsbG8=', true, /./],
    ['gzip of text that is no JSON', {}, gzipSync('hello there'), true, /./],
    [
      'gzip that is cut off',
      {},
      gzipSync(JSON_TEXT).subarray(0, -6),
      false,
      /gzip data is damaged/,
    ],
    [
      'gzip that is nothing but its first bytes',
      {},
      Buffer.from([0x1f, 0x8b, 8]),
      false,
      /gzip data is damaged/,
    ],
    [
      'another media type',
      { 'content-type': 'text/html' },
      JSON_TEXT,
      false,
      /^unsupported content type: text\/html$/,
    ],
    ['a form without data', FORM, 'ver=1&ip=0', false, /expected form data/],
    ['a form with broken escapes', FORM, 'data=%E0%A4', false, /Invalid UTF-8 in form data/],
  ])('refuses %s', (_what, headers, payload, isSyntax, reason) => {
    const error = failureOf(() => decodeIngestBody(headers, Buffer.from(payload), LIMITS));
    expect(error).toBeInstanceOf(DecodeError);
    expect(error).toMatchObject({ isSyntax, reason: expect.stringMatching(reason) });
  });

  it.each([
    ['gzip', {}, BOMB],
    ['base64 of gzip', {}, Buffer.from(BOMB.toString('base64'))],
    ['a form of gzip', FORM, Buffer.from(`data=${encodeURIComponent(BOMB.toString('base64'))}`)],
  ])(
    'refuses %s that inflates beyond the limit, and names the limit',
    (_what, headers, payload) => {
      const error = failureOf(() => decodeIngestBody(headers, payload, LIMITS));
      expect(error).toBeInstanceOf(BodyTooLargeError);
      expect(error).toMatchObject({ limitBytes: 1_000_000 });
    },
  );
});
