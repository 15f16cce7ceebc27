import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type BodyBounds, UNPACKED_FREE_BYTES } from './body-bounds.ts';
import {
  ACCEPTED_ENCODINGS,
  inflate,
  isAcceptedEncoding,
  isGzip,
  removeEncoding,
} from './unpack.ts';

const BOUNDS: BodyBounds = {
  maxBytes: 4_000_000,
  maxUnpackedBytes: 2_000_000,
  maxRatio: 100,
  maxValues: 1,
  maxKeys: 1,
  maxDepth: 1,
};

/** Newer versions of Node.js have it. */
/** Node.js 22 gives what a cut zstd frame holds; as JSON, that is refused a step later. */
const FINDS_CUT_ZSTD = Number(process.versions.node.split('.')[0]) > 22;

const zstd: unknown = Reflect.get(zlib, 'zstdCompressSync');

type Pack = (bytes: Buffer) => unknown;
const PACKINGS: readonly (readonly [string, Pack])[] = [
  ['gzip', (bytes) => zlib.gzipSync(bytes)],
  ['deflate', (bytes) => zlib.deflateSync(bytes)],
  ['br', (bytes) => zlib.brotliCompressSync(bytes, QUICK)],
  ...(typeof zstd === 'function'
    ? [['zstd', (bytes: Buffer): unknown => zstd(bytes)] as const]
    : []),
];
const QUICK = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } };

function packed(pack: Pack, bytes: Buffer): Buffer {
  const result = pack(bytes);
  if (!Buffer.isBuffer(result)) throw new Error('Nothing was packed.');
  return result;
}

/** Takes an encoding off, and tells how often a turn for large work was asked for. */
async function unpack(encoding: string, bytes: Buffer, bounds: Partial<BodyBounds> = {}) {
  let turns = 0;
  const enterLargeWork = async () => {
    turns += 1;
  };
  const unpacking = { bounds: { ...BOUNDS, ...bounds }, enterLargeWork };
  const unpacked = await removeEncoding(encoding, bytes, unpacking);
  return { unpacked, turns };
}

describe.each(PACKINGS)('the encoding %s', (encoding, pack) => {
  it.each([
    ['a little, at once', 10, 0],
    ['as much as takes a moment, at once', 262_144, 0],
    ['more than that, in its turn', 262_145, 1],
    ['as much as it may, in its turn', BOUNDS.maxUnpackedBytes, 1],
  ])('is taken off %s', async (_what, size, turns) => {
    const bytes = randomBytes(Math.ceil(size / 8))
      .toString('hex')
      .repeat(4)
      .slice(0, size);
    const result = await unpack(encoding, packed(pack, Buffer.from(bytes)));
    expect(result.unpacked.toString()).toBe(bytes);
    expect(result.turns).toBe(turns);
  });

  it('may unpack to more than the ratio as long as that is little', async () => {
    const dense = packed(pack, Buffer.alloc(UNPACKED_FREE_BYTES));
    expect((await unpack(encoding, dense)).unpacked).toHaveLength(UNPACKED_FREE_BYTES);
  });

  it('is refused when it unpacks to many times its size', async () => {
    const dense = packed(pack, Buffer.alloc(UNPACKED_FREE_BYTES + 1));
    await expect(unpack(encoding, dense)).rejects.toMatchObject({
      kind: 'too_large',
      reason: 'the body unpacks to more than 100 times its size',
    });
  });

  it('is refused when it unpacks beyond the limit', async () => {
    const noise = Buffer.concat([randomBytes(50_000), Buffer.alloc(BOUNDS.maxUnpackedBytes)]);
    await expect(unpack(encoding, packed(pack, noise))).rejects.toMatchObject({
      kind: 'too_large',
      reason: 'the body is larger than 2000000 bytes',
    });
    const few = packed(pack, Buffer.alloc(1_001));
    await expect(unpack(encoding, few, { maxUnpackedBytes: 1_000 })).rejects.toMatchObject({
      reason: 'the body is larger than 1000 bytes',
    });
  });

  it.each([
    ['small', 1_000],
    ['large', 1_000_000],
  ])('is refused when it is damaged or cut off, %s', async (_size, size) => {
    const whole = packed(pack, randomBytes(size));
    const cut = whole.subarray(0, whole.length - 5);
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, 0, 4);
    for (const bytes of FINDS_CUT_ZSTD || encoding !== 'zstd' ? [cut, damaged] : [damaged]) {
      await expect(unpack(encoding, bytes)).rejects.toMatchObject({
        kind: 'encoding',
        reason: `the ${encoding} data is damaged`,
      });
    }
  });

  it('is among those that are accepted', () => {
    expect(isAcceptedEncoding(encoding)).toBe(true);
    expect(ACCEPTED_ENCODINGS.split(', ')).toContain(encoding);
  });
});

describe('the size that gzip tells', () => {
  const lying = (bytes: Buffer, told: number) => {
    const liar = zlib.gzipSync(bytes);
    liar.writeUInt32LE(told, liar.length - 4);
    return liar;
  };
  const unpacking = { bounds: BOUNDS, enterLargeWork: () => undefined };

  it.each([
    ['little', 0],
    ['much', 0xffffffff],
  ])('is not believed when it says %s', async (_what, told) => {
    const run = async (size: number) => inflate(lying(Buffer.alloc(size), told), unpacking);
    await expect(run(1_000)).rejects.toMatchObject({ kind: 'encoding' });
    await expect(run(20_000_000)).rejects.toMatchObject({ kind: 'too_large' });
  });
});

describe('what has no encoding', () => {
  it.each(['', 'identity', 'something'])('stays as it is: %j', async (encoding) => {
    const bytes = Buffer.from('text');
    expect((await unpack(encoding, bytes)).unpacked).toBe(bytes);
  });

  it('is accepted, and an unknown encoding is not', () => {
    expect(['', 'identity', 'something', 'GZIP'].map(isAcceptedEncoding)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('is told from gzip by its first bytes', () => {
    expect(isGzip(zlib.gzipSync(''))).toBe(true);
    expect(isGzip(Buffer.from([0x1f, 0x8b]))).toBe(false);
    expect(isGzip(Buffer.from('{}'))).toBe(false);
  });
});
