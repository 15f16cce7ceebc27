import zlib from 'node:zlib';
import { packLz } from './pack-lz.ts';

/** A body as it goes over the wire, and what a request says about it. */
export interface Packed {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

export type Pack = (text: Buffer) => Packed;

const JSON_TYPE = { 'content-type': 'application/json' };
const TEXT_TYPE = { 'content-type': 'text/plain' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

/** A window as large as the text, so that a text that repeats itself becomes next to nothing. */
const BROTLI = {
  params: {
    [zlib.constants.BROTLI_PARAM_QUALITY]: 5,
    [zlib.constants.BROTLI_PARAM_LGWIN]: 24,
  },
};
const gzip = (bytes: Buffer) => zlib.gzipSync(bytes, { level: 9 });
const base64 = (bytes: Buffer) => Buffer.from(bytes.toString('base64'));
const form = (data: Buffer | string) => Buffer.from(`data=${encodeURIComponent(String(data))}`);

/** Gzip of many members, each of which is a body of its own. */
function gzipInMembers(text: Buffer): Buffer {
  const member = 65_536;
  const parts: Buffer[] = [];
  for (let at = 0; at < text.length; at += member) parts.push(gzip(text.subarray(at, at + member)));
  return Buffer.concat(parts);
}

/** What capture and evaluation take off by themselves. */
export const INGEST_PACKINGS = {
  plain: (text) => ({ body: text, headers: JSON_TYPE }),
  gzip: (text) => ({ body: gzip(text), headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }),
  'gzip that is not announced': (text) => ({ body: gzip(text), headers: TEXT_TYPE }),
  'gzip by the query': (text) => ({
    body: gzip(text),
    headers: TEXT_TYPE,
    query: { compression: 'gzip-js' },
  }),
  'gzip in members': (text) => ({ body: gzipInMembers(text), headers: TEXT_TYPE }),
  'gzip in gzip': (text) => ({ body: gzip(gzip(text)), headers: { 'content-encoding': 'gzip' } }),
  base64: (text) => ({ body: base64(text), headers: TEXT_TYPE }),
  'base64 of gzip': (text) => ({ body: base64(gzip(text)), headers: TEXT_TYPE }),
  'base64 twice': (text) => ({ body: base64(base64(gzip(text))), headers: TEXT_TYPE }),
  'gzip of base64': (text) => ({ body: gzip(base64(text)), headers: TEXT_TYPE }),
  'gzip of base64 of gzip': (text) => ({ body: gzip(base64(gzip(text))), headers: TEXT_TYPE }),
  lz64: (text) => ({
    body: Buffer.from(packLz(text)),
    headers: TEXT_TYPE,
    query: { compression: 'lz64' },
  }),
  'form of base64 of gzip': (text) => ({ body: form(base64(gzip(text))), headers: FORM_TYPE }),
  'form of lz64': (text) => ({
    body: Buffer.concat([form(packLz(text)), Buffer.from('&compression=lz64')]),
    headers: FORM_TYPE,
  }),
  'gzip of a form': (text) => ({ body: gzip(form(text)), headers: FORM_TYPE }),
} satisfies Record<string, Pack>;

/**
 * How much of a bound is left for the text in packings that make it longer before it is made
 * shorter, so that not the bound on bytes refuses it.
 */
export const TEXT_SHARES: Readonly<Record<string, number>> = {
  base64: 0.74,
  'gzip of base64': 0.74,
  'gzip of a form': 0.33,
};

/** The packings that make no text shorter. */
export const LONG_PACKINGS: ReadonlySet<string> = new Set(['plain', 'base64']);

const zstd: unknown = Reflect.get(zlib, 'zstdCompressSync');

/** What `Content-Encoding` can name; the second generation of capture takes off one of these. */
export const ENCODINGS: Readonly<Record<string, Pack>> = {
  gzip: (text) => encoded('gzip', gzip(text)),
  deflate: (text) => encoded('deflate', zlib.deflateSync(text, { level: 9 })),
  br: (text) => encoded('br', zlib.brotliCompressSync(text, BROTLI)),
  ...(typeof zstd === 'function'
    ? { zstd: (text: Buffer) => encoded('zstd', Buffer.from(zstd(text))) }
    : {}),
  'gzip in gzip': (text) => encoded('gzip', gzip(gzip(text))),
  'gzip, gzip': (text) => encoded('gzip, gzip', gzip(gzip(text))),
  'br in br': (text) =>
    encoded('br', zlib.brotliCompressSync(zlib.brotliCompressSync(text, BROTLI), BROTLI)),
};

function encoded(encoding: string, body: Buffer): Packed {
  return { body, headers: { ...JSON_TYPE, 'content-encoding': encoding } };
}
