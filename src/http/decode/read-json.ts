import { isUtf8 } from 'node:buffer';
import type { Eventually } from '../../domain/common/eventually.ts';
import { runInSlices } from '../../domain/common/time-slices.ts';
import type { BodyBounds } from './body-bounds.ts';
import { DecodeFault } from './decode-fault.ts';
import { JsonMeter, mayBreakBounds } from './measure-json.ts';
import { replaceNonFinite } from './non-finite.ts';
import { containerOf, groupMembers, type Span, splitMember, trimSpan } from './split-json.ts';

export interface JsonReading {
  readonly bounds: BodyBounds;
  /** Takes bytes that are no UTF-8, and NaN and Infinity as null. */
  readonly isLenient: boolean;
  /** Asked before JSON is read that takes more than one turn of the event loop. */
  readonly enterLargeWork: () => Eventually<void>;
}

/** Up to so many bytes are read at once: a few milliseconds at worst. */
export const AT_ONCE_BYTES = 131_072;

/** So many bytes are handed to JSON.parse at a time. */
const PART_BYTES = 65_536;

/** Containers further inside are not taken apart. */
const SPLIT_LEVELS = 8;

/** A part that is not taken apart any more may have so many bytes. */
const WHOLE_PART_BYTES = 1_048_576;

/** An object may have so many keys: more are slow to add, whatever is done between two of them. */
const KEYS_MAX = 20_000;

/** What is looked at in one step of measuring. */
const STEP_BYTES = 262_144;

/**
 * The value of JSON text in UTF-8, a byte order mark passed over; bounds are looked at before
 * anything is built. Large text is read a few milliseconds at a time. Throws or rejects with
 * DecodeFault.
 */
export function readJson(bytes: Buffer, reading: JsonReading): Eventually<unknown> {
  if (!reading.isLenient && !isUtf8(bytes)) {
    throw new DecodeFault('encoding', 'the body is not UTF-8');
  }
  if (bytes.length > AT_ONCE_BYTES) return readLarge(bytes, reading);
  const from = startOf(bytes);
  if (mayBreakBounds(bytes, reading.bounds)) {
    const fault = new JsonMeter(reading.bounds).feed(bytes, from, bytes.length);
    if (fault !== null) throw fault;
  }
  return parsePart(bytes.toString('utf8', from), reading.isLenient);
}

async function readLarge(bytes: Buffer, reading: JsonReading): Promise<unknown> {
  await reading.enterLargeWork();
  return runInSlices(readInSteps(bytes, reading));
}

function* readInSteps(bytes: Buffer, { bounds, isLenient }: JsonReading): Generator<void, unknown> {
  const meter = new JsonMeter(bounds);
  const start = startOf(bytes);
  for (let from = start; from < bytes.length; from += STEP_BYTES) {
    const fault = meter.feed(bytes, from, Math.min(bytes.length, from + STEP_BYTES));
    if (fault !== null) throw fault;
    yield;
  }
  return yield* build(bytes, { from: start, to: bytes.length }, isLenient, 0);
}

function* build(
  bytes: Buffer,
  span: Span,
  isLenient: boolean,
  level: number,
): Generator<void, unknown> {
  const trimmed = trimSpan(bytes, span);
  const isLarge = trimmed.to - trimmed.from > PART_BYTES;
  const kind = isLarge ? containerOf(bytes, trimmed) : null;
  yield;
  if (kind === null || level === SPLIT_LEVELS) {
    if (kind !== null && trimmed.to - trimmed.from > WHOLE_PART_BYTES) {
      const limit = `${WHOLE_PART_BYTES} bytes below level ${SPLIT_LEVELS}`;
      throw new DecodeFault('too_large', `the JSON has a value of more than ${limit}`);
    }
    // What is large and no container is a text, or no JSON: there are no numbers in it to replace.
    const mayHoldNumbers = kind !== null || !isLarge;
    const text = bytes.toString('utf8', trimmed.from, trimmed.to);
    return parsePart(text, isLenient && mayHoldNumbers);
  }
  const inside = trimSpan(bytes, { from: trimmed.from + 1, to: trimmed.to - 1 });
  if (inside.from === inside.to) return kind === 'array' ? [] : {};
  return kind === 'array'
    ? yield* buildArray(bytes, inside, isLenient, level)
    : yield* buildObject(bytes, inside, isLenient, level);
}

function* buildArray(
  bytes: Buffer,
  inside: Span,
  isLenient: boolean,
  level: number,
): Generator<void, unknown[]> {
  const array: unknown[] = [];
  for (const { from, to, isLarge } of groupMembers(bytes, inside, PART_BYTES)) {
    requireMember(bytes, { from, to });
    if (isLarge) array.push(yield* build(bytes, { from, to }, isLenient, level + 1));
    else {
      const members = parsePart(`[${bytes.toString('utf8', from, to)}]`, isLenient);
      if (Array.isArray(members)) for (const member of members) array.push(member);
    }
    yield;
  }
  return array;
}

function* buildObject(
  bytes: Buffer,
  inside: Span,
  isLenient: boolean,
  level: number,
): Generator<void, object> {
  const object = {};
  let keys = 0;
  for (const { from, to, isLarge } of groupMembers(bytes, inside, PART_BYTES)) {
    requireMember(bytes, { from, to });
    if (keys > KEYS_MAX) throw tooManyInOne();
    if (isLarge) {
      keys += 1;
      const { key, value } = splitMember(bytes, { from, to });
      const name = parsePart(bytes.toString('utf8', key.from, key.to), false);
      setMember(object, String(name), yield* build(bytes, value, isLenient, level + 1));
    } else {
      const members = parsePart(`{${bytes.toString('utf8', from, to)}}`, isLenient);
      if (typeof members === 'object' && members !== null) {
        for (const [name, value] of Object.entries(members)) {
          setMember(object, name, value);
          keys += 1;
        }
      }
    }
    yield;
  }
  return object;
}

function tooManyInOne(): DecodeFault {
  return new DecodeFault('too_large', `an object of the JSON has more than ${KEYS_MAX} keys`);
}

/** As JSON.parse does it: a key that objects have by nature is a key like any other. */
function setMember(object: object, name: string, value: unknown): void {
  if (name === '__proto__') {
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, name, property);
  } else Reflect.set(object, name, value);
}

/** Containers that are taken apart are large, so a blank group is a comma too many. */
function requireMember(bytes: Buffer, span: Span): void {
  const { from, to } = trimSpan(bytes, span);
  if (from === to) throw new DecodeFault('syntax', 'there is nothing between two commas');
}

/** The value of a short text. Throws DecodeFault. */
export function parsePart(text: string, isLenient: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const finite = isLenient ? parseFinite(text) : undefined;
    if (finite !== undefined) return finite;
    throw new DecodeFault('syntax', error instanceof Error ? error.message : 'invalid JSON');
  }
}

/** The value once numbers that JSON does not have are null; undefined when that was not the fault. */
function parseFinite(text: string): unknown {
  const finite = replaceNonFinite(text);
  if (finite === text) return undefined;
  try {
    return JSON.parse(finite);
  } catch {
    return undefined;
  }
}

function startOf(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}
