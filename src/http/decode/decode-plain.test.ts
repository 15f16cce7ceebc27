import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { boundsOf, decode } from '../../../test/decoding.ts';
import { EMPTY_REQUEST } from '../../../test/http-pipelines.ts';
import { managementStyle } from '../styles/management-style.ts';
import { DecodeFault } from './decode-fault.ts';
import { decodeJson, decodeText, ignoreBody } from './decode-plain.ts';

const VALUE = { event: 'x', text: 'ü+/ = &' };
const JSON_TEXT = JSON.stringify(VALUE);
const BOUNDS = boundsOf('json');

/** A few thousand bytes that inflate to more than any limit. */
const BOMB = gzipSync(Buffer.alloc(BOUNDS.maxUnpackedBytes + 1, ' '));

describe('decodeJson', () => {
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
  ])('reads %s', async (_what, headers, payload) => {
    expect(await decode(decodeJson, headers, Buffer.from(payload))).toEqual(VALUE);
  });

  it('has no value for an empty body, whatever its type', async () => {
    const headers = { 'content-type': 'text/html' };
    expect(await decode(decodeJson, headers, Buffer.alloc(0))).toBeUndefined();
  });

  it.each(['text/html', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'refuses the media type %s',
    async (mediaType) => {
      const headers = { 'content-type': mediaType };
      await expect(decode(decodeJson, headers, Buffer.from(JSON_TEXT))).rejects.toMatchObject({
        kind: 'media_type',
        reason: `Unsupported media type "${mediaType}" in request.`,
      });
    },
  );

  it.each([
    ['text that is no JSON', Buffer.from('{"a":'), 'syntax'],
    ['two values', Buffer.from('1 2'), 'syntax'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'encoding'],
    ['gzip that is cut off', gzipSync(JSON_TEXT).subarray(0, -6), 'encoding'],
    ['gzip of text that is no JSON', gzipSync('hello'), 'syntax'],
  ])('refuses %s as malformed', async (_what, payload, kind) => {
    const error = await decode(decodeJson, json, payload).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DecodeFault);
    expect(error).toMatchObject({ kind });
    if (!(error instanceof DecodeFault)) throw new Error('Nothing was refused.');
    expect(managementStyle.wordFault(error, { ...EMPTY_REQUEST, payload })).toMatchObject({
      kind: 'malformed',
      code: 'parse_error',
      detail: expect.stringMatching(/^JSON parse error - ./),
    });
  });

  it('refuses a small body that inflates to many times its size', async () => {
    expect(BOMB.length).toBeLessThan(10_000);
    await expect(decode(decodeJson, json, BOMB)).rejects.toMatchObject({
      kind: 'too_large',
      reason: 'the body unpacks to more than 100 times its size',
    });
  });

  it('refuses a body that inflates beyond the limit, and names the limit', async () => {
    const noise = randomBytes(100_000).toString('latin1');
    const payload = gzipSync(noise + ' '.repeat(BOUNDS.maxUnpackedBytes));
    const error = await decode(decodeJson, json, payload).catch((thrown: unknown) => thrown);
    if (!(error instanceof DecodeFault)) throw new Error('Nothing was refused.');
    expect(managementStyle.wordFault(error)).toMatchObject({
      kind: 'too_large',
      detail: 'The request body is larger than 4194304 bytes.',
    });
  });

  it('inflates a body up to the very limit', async () => {
    const noise = randomBytes(BOUNDS.maxUnpackedBytes / 8).toString('hex');
    const text = `"${noise.padEnd(BOUNDS.maxUnpackedBytes - 2, 'x')}"`;
    expect(await decode(decodeJson, json, gzipSync(text))).toHaveLength(
      BOUNDS.maxUnpackedBytes - 2,
    );
  });

  it('keeps a key called __proto__ as data', async () => {
    const payload = Buffer.from('{"__proto__": {"admin": true}}');
    expect(await decode(decodeJson, json, payload)).not.toHaveProperty('admin');
  });

  it.each([
    ['values', `[${'1,'.repeat(BOUNDS.maxValues)}1]`, 'too_large', /more than 50000 values/],
    [
      'keys',
      `[${'{},'.repeat(BOUNDS.maxKeys)}{}]`,
      'too_large',
      /more than 10000 objects and keys/,
    ],
    ['levels', '['.repeat(129) + ']'.repeat(129), 'encoding', /nested too deeply/],
  ])('refuses JSON of too many %s', async (_what, text, kind, reason) => {
    await expect(decode(decodeJson, json, Buffer.from(text))).rejects.toMatchObject({
      kind,
      reason: expect.stringMatching(reason),
    });
  });
});

describe('decodeText', () => {
  const csv = { 'content-type': 'text/csv; charset=utf-8' };

  it.each([
    ['text', Buffer.from('a,ü\n')],
    ['text with a byte order mark', Buffer.from('\uFEFFa,ü\n')],
    ['gzip of it', gzipSync('a,ü\n')],
  ])('reads %s', async (_what, payload) => {
    expect(await decode(decodeText('text/csv'), csv, payload)).toBe('a,ü\n');
  });

  it.each([
    ['another media type', { 'content-type': 'text/plain' }, Buffer.from('a'), 'media_type'],
    ['no media type', {}, Buffer.from('a'), 'media_type'],
    ['bytes that are not UTF-8', csv, Buffer.from([0xff]), 'encoding'],
    ['damaged gzip', csv, gzipSync('a').subarray(0, -2), 'encoding'],
    ['what unpacks to too much', csv, BOMB, 'too_large'],
  ])('refuses %s', async (_what, headers, payload, kind) => {
    await expect(decode(decodeText('text/csv'), headers, payload)).rejects.toMatchObject({ kind });
  });
});

describe('ignoreBody', () => {
  it('takes no notice of the body', async () => {
    expect(await decode(ignoreBody, {}, Buffer.from('{'))).toBeUndefined();
  });
});
