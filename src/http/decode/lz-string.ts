const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BITS_PER_DIGIT = 6;

/** What each digit is worth, by its character code; everything else is no digit. */
const NO_DIGIT = 255;
const DIGIT_VALUES = new Uint8Array(128).fill(NO_DIGIT);
for (let value = 0; value < ALPHABET.length; value += 1) {
  DIGIT_VALUES[ALPHABET.charCodeAt(value)] = value;
}

/** The codes below the dictionary's own: a new character of 8 or 16 bits, and the end. */
const NEW_8 = 0;
const NEW_16 = 1;
const END = 2;
const FIRST_ENTRY = 3;

/** Text that is no LZ data, and text that would become longer than is allowed. */
export type LzFailure = 'damaged' | 'too long';

function withoutPadding(base64: string): string {
  let end = base64.length;
  while (end > 0 && base64[end - 1] === '=') end -= 1;
  return base64.slice(0, end);
}

/**
 * Unpacks what very old browser clients send as `lz64`: the base64 form of LZ-string. At most
 * `maxLength` characters are built, so a small body cannot become a huge one.
 */
export function decompressLz(
  base64: string,
  maxLength: number,
): { readonly text: string } | { readonly failure: LzFailure } {
  const digits = withoutPadding(base64.trim());
  const readBits = createBitReader(digits);
  const dictionary: string[] = ['', '', ''];
  const parts: string[] = [];
  let length = 0;
  let width = 2;
  // How many entries may still be added before codes get a bit longer.
  let room = 1;
  let previous: string | null = null;
  const add = (entry: string): void => {
    dictionary.push(entry);
    room -= 1;
    if (room > 0) return;
    room = 2 ** width;
    width += 1;
  };
  for (;;) {
    let code = readBits(width);
    if (code === null) return { failure: 'damaged' };
    if (code === END) return { text: parts.join('') };
    if (code === NEW_8 || code === NEW_16) {
      const character = readBits(code === NEW_8 ? 8 : 16);
      if (character === null) return { failure: 'damaged' };
      code = dictionary.length;
      add(String.fromCharCode(character));
    }
    const entry = entryOf(dictionary, code, previous);
    if (entry === null) return { failure: 'damaged' };
    length += entry.length;
    if (length > maxLength) return { failure: 'too long' };
    parts.push(entry);
    if (previous !== null) add(previous + entry.charAt(0));
    previous = entry;
  }
}

/** The text of a code; a code one past the end means the text before it and its first character. */
function entryOf(
  dictionary: readonly string[],
  code: number,
  previous: string | null,
): string | null {
  if (code < FIRST_ENTRY) return null;
  const entry = dictionary[code];
  if (entry !== undefined) return entry;
  if (code !== dictionary.length || previous === null) return null;
  return previous + previous.charAt(0);
}

/** Reads numbers whose lowest bit comes first; null at the end and at what is no digit. */
function createBitReader(digits: string): (count: number) => number | null {
  let index = 0;
  let value = 0;
  let left = 0;
  return (count) => {
    let number = 0;
    for (let bit = 0; bit < count; bit += 1) {
      if (left === 0) {
        value =
          index < digits.length ? (DIGIT_VALUES[digits.charCodeAt(index)] ?? NO_DIGIT) : NO_DIGIT;
        if (value === NO_DIGIT) return null;
        index += 1;
        left = BITS_PER_DIGIT;
      }
      left -= 1;
      number |= ((value >> left) & 1) << bit;
    }
    return number;
  };
}
