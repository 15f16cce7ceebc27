import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { boundsOf, decode } from '../../../test/decoding.ts';
import { DecodeFault } from './decode-fault.ts';
import { decodeCapture, decodeEvaluation } from './decode-packed.ts';

const VALUE = { event: 'x', text: 'ü+/ = &' };
const JSON_TEXT = JSON.stringify(VALUE);
const BASE64 = Buffer.from(JSON_TEXT).toString('base64');
/** An event called "squeezed", made by lz-string 1.5.0. */
const LZ =
  'N4IghgDglg+g1gUwJ4gFwggCwMY2wewDsAXAJzG2IBUEBnY2gBVPwCsFKBBaAaWQAZBQ4UICMIADQgEANwQk0IWgEcArggQ' +
  'AvBABNJIHVHpRClGFD3p8AGz1SILCAlLEodNKGIIAHsUUAfwBqCQF4NwAA9gAIwKOiYqJAAX3igA=';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** A few thousand bytes that inflate to more than any limit. */
const BOMB = gzipSync(Buffer.alloc(4_194_305, ' '));

function read(headers: IncomingHttpHeaders, payload: string | Buffer, parts = {}) {
  const options = { bounds: boundsOf('evaluation'), ...parts };
  return decode(decodeEvaluation, headers, Buffer.from(payload), options);
}

describe('the body of an evaluation', () => {
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
  ])('reads %s', async (_what, headers, payload) => {
    expect(await read(headers, payload)).toEqual(VALUE);
  });

  it('reads base64 whose plus signs became spaces on the way', async () => {
    const value = { text: '>>>???~~~' };
    const base64 = Buffer.from(JSON.stringify(value)).toString('base64');
    expect(base64).toContain('+');
    const body = `data=${base64.replaceAll('+', '%20')}`;
    expect(await read(FORM, body)).toEqual(value);
  });

  it('reads numbers that JSON does not have as null, but not inside of texts', async () => {
    const text = '{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \\" Infinity", "d": 1}';
    const value = { a: null, b: [null, null], c: 'NaN " Infinity', d: 1 };
    for (const payload of [text, gzipSync(text), Buffer.from(text).toString('base64')]) {
      expect(await read({}, payload)).toEqual(value);
    }
  });

  it.each([
    ['texts that never end', `NaN${'"\\'.repeat(400_000)}`],
    ['quotes without an end', `NaN${'"'.repeat(999_999)}`],
    ['signs', `NaN${'-'.repeat(900_000)}`],
  ])('refuses %s as quickly as any other text', async (_name, hostile) => {
    await expect(read({}, hostile)).rejects.toBeInstanceOf(DecodeFault);
  });

  it('takes a very long text beside a number that JSON does not have', async () => {
    const word = 'x'.repeat(9_000_000);
    const payload = Buffer.from(`{"a": NaN, "b": "${word}"}`);
    const bounds = boundsOf('batch');
    expect(await read({}, payload, { bounds })).toEqual({ a: null, b: word });
  });

  it('replaces bytes that are not UTF-8 instead of losing the request', async () => {
    const payload = Buffer.from([0x22, 0xff, 0x22]);
    expect(await read({}, payload)).toBe('\uFFFD');
  });

  it.each([
    ['an empty body', {}, '', 'syntax', /./],
    ['text that is no JSON', {}, '{"a":', 'syntax', /./],
    ['base64 of text that is no JSON', {}, 'aGVsbG8=', 'syntax', /./],
    ['gzip of text that is no JSON', {}, gzipSync('hello there'), 'syntax', /./],
    [
      'gzip that is cut off',
      {},
      gzipSync(JSON_TEXT).subarray(0, -6),
      'encoding',
      /gzip data is damaged/,
    ],
    [
      'gzip that is nothing but its first bytes',
      {},
      Buffer.from([0x1f, 0x8b, 8]),
      'encoding',
      /gzip data is damaged/,
    ],
    [
      'another media type',
      { 'content-type': 'text/html' },
      JSON_TEXT,
      'encoding',
      /^unsupported content type: text\/html$/,
    ],
    ['a form without data', FORM, 'ver=1&ip=0', 'encoding', /expected form data/],
    ['a form with broken escapes', FORM, 'data=%E0%A4', 'encoding', /Invalid UTF-8 in form data/],
  ])('refuses %s', async (_what, headers, payload, kind, reason) => {
    const error = await read(headers, payload).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DecodeFault);
    expect(error).toMatchObject({ kind, reason: expect.stringMatching(reason) });
  });

  it.each([
    ['gzip', {}, BOMB],
    ['base64 of gzip', {}, BOMB.toString('base64')],
    ['a form of gzip', FORM, `data=${encodeURIComponent(BOMB.toString('base64'))}`],
    ['gzip of base64 of gzip', {}, gzipSync(BOMB.toString('base64'))],
  ])('refuses %s that inflates beyond the limit', async (_what, headers, payload) => {
    await expect(read(headers, payload)).rejects.toMatchObject({
      kind: 'too_large',
      reason: 'the body unpacks to more than 100 times its size',
    });
  });

  it.each([
    [
      'an unknown compression',
      { compression: 'lz64' },
      {},
      JSON_TEXT,
      'Unsupported compression type',
    ],
    [
      'gzip that is said to be inside of a form',
      { compression: 'gzip' },
      FORM,
      `data=${BASE64}`,
      'Gzip compression not supported for form-urlencoded data',
    ],
  ])('refuses %s', async (_what, query, headers, payload, reason) => {
    await expect(read(headers, payload, { query })).rejects.toMatchObject({
      kind: 'encoding',
      reason,
    });
  });
});

describe('the body of a capture', () => {
  const capture = (headers: IncomingHttpHeaders, payload: string | Buffer, parts = {}) =>
    decode(decodeCapture, headers, Buffer.from(payload), { bounds: boundsOf('capture'), ...parts });

  it('may have any media type', async () => {
    expect(await capture({ 'content-type': 'text/html' }, JSON_TEXT)).toEqual(VALUE);
  });

  it('may be in the query, where it goes before the body', async () => {
    const query = { data: BASE64 };
    expect(await capture({}, '{', { query })).toEqual(VALUE);
  });

  it('takes no notice of a compression that it does not know', async () => {
    expect(await capture({}, BASE64, { query: { compression: 'zip' } })).toEqual(VALUE);
  });

  it.each([
    ['the query', { query: { compression: 'lz64' } }, {}, ''],
    ['the query, in another word', { query: { compression: 'LZ-string' } }, {}, ''],
    ['the header', {}, { 'content-encoding': 'lz64' }, ''],
    ['the form', {}, FORM, 'compression=lz64&data='],
  ])('may be LZ-string, where %s says so', async (_what, parts, headers, before) => {
    const body = before + (before === '' ? LZ : encodeURIComponent(LZ));
    expect(await capture(headers, body, parts)).toMatchObject({ event: 'squeezed' });
  });

  it.each([
    ['damaged', '!!!!', 'encoding'],
    ['longer than very old clients send', 'A'.repeat(262_145), 'too_large'],
  ])('is refused as LZ-string that is %s', async (_what, payload, kind) => {
    const headers = { 'content-encoding': 'lz64' };
    await expect(capture(headers, payload)).rejects.toMatchObject({ kind });
  });

  it('is refused as base64 that is larger than clients send', async () => {
    const payload = 'A'.repeat(4_194_305);
    await expect(capture({}, payload, { bounds: boundsOf('batch') })).rejects.toMatchObject({
      kind: 'too_large',
      reason: 'the body is larger than 4194304 bytes',
    });
  });

  it('may be base64 that is worked on in turns', async () => {
    const value = { event: 'x', text: randomBytes(200_000).toString('hex') };
    const payload = Buffer.from(JSON.stringify(value)).toString('base64');
    expect(await capture({}, payload)).toEqual(value);
    expect(await capture(FORM, `data=${encodeURIComponent(payload)}`)).toEqual(value);
  });

  it('is told about its JSON when that is what is wrong inside of base64', async () => {
    const payload = Buffer.from('{"event": }').toString('base64');
    await expect(capture({}, payload)).rejects.toMatchObject({ kind: 'syntax' });
  });
});
