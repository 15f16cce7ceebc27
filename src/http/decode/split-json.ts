import { DecodeFault } from './decode-fault.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The bytes from `from` up to `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The part of the span between its blank ends. */
export function trimSpan(bytes: Uint8Array, { from, to }: Span): Span {
  let start = from;
  let end = to;
  while (start < end && isBlank(bytes[start])) start += 1;
  while (end > start && isBlank(bytes[end - 1])) end -= 1;
  return { from: start, to: end };
}

/** Whether the trimmed span is an array or an object, as far as its ends tell. */
export function containerOf(bytes: Uint8Array, { from, to }: Span): 'array' | 'object' | null {
  if (to - from < 2) return null;
  const first = bytes[from];
  const last = bytes[to - 1];
  if (first === OPEN_LIST && last === CLOSE_LIST) return 'array';
  return first === OPEN_OBJECT && last === CLOSE_OBJECT ? 'object' : null;
}

/**
 * The members of an array or object, between its brackets, in groups of about `groupBytes`: members
 * that stand side by side are one span, commas between them included. One that is larger stands
 * alone. What is between the commas is not looked at.
 */
export function* groupMembers(
  bytes: Uint8Array,
  inside: Span,
  groupBytes: number,
): Generator<Span & { readonly isLarge: boolean }> {
  let groupFrom = inside.from;
  let memberFrom = inside.from;
  for (;;) {
    const memberTo = endOfMember(bytes, memberFrom, inside.to);
    const isLarge = memberTo - memberFrom > groupBytes;
    if (isLarge) {
      if (memberFrom > groupFrom) yield { from: groupFrom, to: memberFrom - 1, isLarge: false };
      yield { from: memberFrom, to: memberTo, isLarge };
      groupFrom = memberTo + 1;
    } else if (memberTo - groupFrom >= groupBytes || memberTo === inside.to) {
      yield { from: groupFrom, to: memberTo, isLarge };
      groupFrom = memberTo + 1;
    }
    if (memberTo === inside.to) return;
    memberFrom = memberTo + 1;
  }
}

/** Where the member that starts at `from` ends: at the next comma of its level, or at `to`. */
function endOfMember(bytes: Uint8Array, from: number, to: number): number {
  let depth = 0;
  for (let at = from; at < to; at += 1) {
    const code = bytes[at];
    if (code === QUOTE) at = endOfText(bytes, at, to);
    else if (code === COMMA) {
      if (depth === 0) return at;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth -= 1;
      if (depth < 0) throw new DecodeFault('syntax', 'a bracket is closed that was not opened');
    }
  }
  return to;
}

/** Where the quote is that closes the one at `from`; `to` when there is none. */
function endOfText(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from + 1; at < to; at += 1) {
    const code = bytes[at];
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return to;
}

/** The key and the value of one member of an object; throws when there is no colon between them. */
export function splitMember(bytes: Uint8Array, member: Span): { key: Span; value: Span } {
  const { from, to } = trimSpan(bytes, member);
  const keyEnd = bytes[from] === QUOTE ? endOfText(bytes, from, to) + 1 : to;
  let colon = keyEnd;
  while (colon < to && isBlank(bytes[colon])) colon += 1;
  if (colon >= to || bytes[colon] !== COLON) {
    throw new DecodeFault('syntax', 'a member of an object has no key');
  }
  return { key: { from, to: keyEnd }, value: { from: colon + 1, to } };
}

function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
