import { WasmFunction } from './wasm-module.ts';

/** Digests computed side by side, one in each 32-bit lane of a vector. */
export const LANES = 4;
/** Bytes of one SHA-1 block. */
export const BLOCK_BYTES = 64;

/** Where the parts of a record are, and how long it is; `sha1-lanes.ts` has a drawing. */
export const RECORD = { lengths: 256, digests: 272, bytes: 304 } as const;

const WORDS = 16;
const WORD_BYTES = 4;
const VECTOR_BYTES = 16;
/** Text that fits into one block beside the closing bit and the 64-bit length. */
const ONE_BLOCK_TEXT = 55;
const BYTES_TO_BITS_SHIFT = 3;

// FIPS 180-4, sections 4.2.1 and 5.3.1.
const ROUND_CONSTANTS = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6];
const INITIAL_STATE = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
const ROUNDS_PER_CONSTANT = 20;

/** The locals of the function that is being written. */
interface Locals {
  readonly prefix: number;
  /** Per lane: where the last word of the current block has its part of the suffix. */
  readonly lanes: readonly number[];
  readonly isSecondBlock: number;
  readonly words: readonly number[];
  readonly sums: readonly number[];
  readonly bitLengths: number;
  /** All bits set in the lanes whose text needs a second block. */
  readonly isLong: number;
  /** What the current block has of the text's length. */
  readonly closing: number;
  readonly shortDigests: readonly number[];
  readonly scratch: number;
}

const RECORD_PARAMETER = 0;
const SUFFIX_PARAMETER = 1;
const LENGTH_PARAMETER = 2;

/**
 * A module whose function `run(record, suffix, length)` computes the first 64 bits of the SHA-1 of
 * four texts, each a prefix of the record followed by the one suffix, of one or two blocks.
 *
 * `suffix` is the address of the suffix's first byte. The suffix lies *backwards* in memory, its
 * closing bit (0x80) after it and zeros on both sides: a little-endian load, at whatever alignment,
 * then gives a big-endian word of the text, wherever the prefix ends. `zeros` is the address of 16
 * vectors of zero, the part that a prefix has of the second block.
 */
export function emitSha1Lanes(zeros: number): Uint8Array<ArrayBuffer> {
  const code = new WasmFunction(3);
  const many = (count: number, type: 'i32' | 'v128') =>
    Array.from({ length: count }, () => code.local(type));
  const locals: Locals = {
    prefix: code.local('i32'),
    lanes: many(LANES, 'i32'),
    isSecondBlock: code.local('i32'),
    words: many(WORDS, 'v128'),
    sums: many(INITIAL_STATE.length, 'v128'),
    bitLengths: code.local('v128'),
    isLong: code.local('v128'),
    closing: code.local('v128'),
    shortDigests: many(2, 'v128'),
    scratch: code.local('v128'),
  };
  emitStart(code, locals);
  code.op('loop');
  emitWords(code, locals);
  emitRounds(code, locals, many(INITIAL_STATE.length, 'v128'));
  emitNextBlock(code, locals, zeros);
  code.op('end');
  emitDigests(code, locals);
  return code.toModule();
}

function emitStart(code: WasmFunction, locals: Locals): void {
  code.get(RECORD_PARAMETER).set(locals.prefix);
  for (const [lane, address] of locals.lanes.entries()) {
    // The suffix runs backwards: the last word has the lowest address.
    code
      .get(SUFFIX_PARAMETER)
      .i32(BLOCK_BYTES - 1)
      .op('i32.sub');
    code.get(RECORD_PARAMETER).memory('i32.load', RECORD.lengths + lane * WORD_BYTES);
    code.op('i32.add').set(address);
  }
  code.get(RECORD_PARAMETER).memory('v128.load', RECORD.lengths);
  code.get(LENGTH_PARAMETER).vector('i32x4.splat', 'i32x4.add').tee(locals.scratch);
  code.i32x4(ONE_BLOCK_TEXT).vector('i32x4.gt_s').set(locals.isLong);
  code.get(locals.scratch).i32(BYTES_TO_BITS_SHIFT).vector('i32x4.shl').tee(locals.bitLengths);
  code.get(locals.isLong).vector('v128.andnot').set(locals.closing);
  for (const [at, sum] of locals.sums.entries()) code.i32x4(INITIAL_STATE[at] ?? 0).set(sum);
}

/** A word is the prefix's bytes and the suffix's, of which either or both can be zero. */
function emitWords(code: WasmFunction, locals: Locals): void {
  for (const [at, word] of locals.words.entries()) {
    const offset = (WORDS - 1 - at) * WORD_BYTES;
    code.get(locals.prefix).memory('v128.load', at * VECTOR_BYTES);
    // Addresses wait on the stack, the one that is used last lowest.
    code.get(...locals.lanes.toReversed()).memory('v128.load32_zero', offset);
    for (let lane = 1; lane < LANES; lane++) code.loadLane(lane, offset);
    code.vector('v128.or').set(word);
  }
  const last = locals.words[WORDS - 1] ?? 0;
  code.get(last, locals.closing).vector('v128.or').set(last);
}

/** The 80 rounds, unrolled; the message schedule is kept in a ring of 16 words. */
function emitRounds(code: WasmFunction, locals: Locals, state: readonly number[]): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
  for (const [at, sum] of locals.sums.entries()) code.get(sum).set(state[at] ?? 0);
  for (let round = 0; round < ROUND_CONSTANTS.length * ROUNDS_PER_CONSTANT; round++) {
    const phase = Math.floor(round / ROUNDS_PER_CONSTANT);
    const word = emitSchedule(code, locals, round);
    // e + word + constant + f(b, c, d) + rotl(a, 5) becomes the next a, and b is rotated.
    code.get(e, word).vector('i32x4.add');
    code.i32x4(ROUND_CONSTANTS[phase] ?? 0).vector('i32x4.add');
    if (phase === 0) {
      code.get(c, d).vector('v128.xor').get(b).vector('v128.and').get(d).vector('v128.xor');
    } else if (phase === 2) {
      code.get(d, b, b, c).vector('v128.xor', 'v128.bitselect');
    } else {
      code.get(b, c).vector('v128.xor').get(d).vector('v128.xor');
    }
    code.vector('i32x4.add');
    emitRotation(code, a, 5);
    code.vector('i32x4.add').set(e);
    emitRotation(code, b, 30);
    code.set(b);
    [a, b, c, d, e] = [e, a, b, c, d];
  }
  for (const [at, local] of [a, b, c, d, e].entries()) {
    const sum = locals.sums[at] ?? 0;
    code.get(sum, local).vector('i32x4.add').set(sum);
  }
}

/** The local with this round's word of the message schedule. */
function emitSchedule(code: WasmFunction, { words, scratch }: Locals, round: number): number {
  const wordAt = (at: number) => words[at % WORDS] ?? 0;
  const word = wordAt(round);
  if (round < WORDS) return word;
  code.get(wordAt(round - 3), wordAt(round - 8)).vector('v128.xor');
  code
    .get(wordAt(round - 14))
    .vector('v128.xor')
    .get(word)
    .vector('v128.xor')
    .set(scratch);
  emitRotation(code, scratch, 1);
  code.set(word);
  return word;
}

function emitRotation(code: WasmFunction, local: number, bits: number): void {
  code.get(local);
  // Doubling is a rotation's cheaper half.
  if (bits === 1) code.get(local).vector('i32x4.add');
  else code.i32(bits).vector('i32x4.shl');
  code
    .get(local)
    .i32(32 - bits)
    .vector('i32x4.shr_u', 'v128.or');
}

/** Goes round once more when a text is longer than one block. */
function emitNextBlock(code: WasmFunction, locals: Locals, zeros: number): void {
  code.get(locals.isSecondBlock).op('i32.eqz').op('if');
  for (const [at, digest] of locals.shortDigests.entries()) {
    code.get(locals.sums[at] ?? 0).set(digest);
  }
  code.get(locals.isLong).vector('v128.any_true').op('if');
  code.i32(1).set(locals.isSecondBlock);
  code.i32(zeros).set(locals.prefix);
  for (const lane of locals.lanes) code.get(lane).i32(BLOCK_BYTES).op('i32.sub').set(lane);
  code.get(locals.bitLengths).set(locals.closing);
  code.branch(2).op('end').op('end');
}

function emitDigests(code: WasmFunction, locals: Locals): void {
  for (const [at, short] of locals.shortDigests.entries()) {
    code.get(RECORD_PARAMETER, locals.sums[at] ?? 0, short, locals.isLong);
    code.vector('v128.bitselect').memory('v128.store', RECORD.digests + at * VECTOR_BYTES);
  }
}
