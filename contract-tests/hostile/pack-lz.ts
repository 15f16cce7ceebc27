const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BITS_PER_DIGIT = 6;

/** Codes that stand for no phrase. */
const NEW_8 = 0;
const END = 2;
const FIRST_PHRASE = 3;

/** Room for a character beside the code of the phrase before it. */
const CHARACTERS = 256;

/**
 * Packs Latin-1 text as very old browser clients do: LZ-string in its base64 form. A text that
 * repeats itself becomes about as long as the root of its length.
 */
export function packLz(text: Buffer): string {
  const bits = createBitWriter();
  /** The codes of phrases by the code of all but the last character, and that character. */
  const phrases = new Map<number, number>();
  const codes = new Map<number, number>();
  let size = FIRST_PHRASE;
  let width = 2;
  let room = 2;
  let unsent = -1;
  let phrase = -1;
  const count = () => {
    room -= 1;
    if (room > 0) return;
    room = 2 ** width;
    width += 1;
  };
  const emit = () => {
    if (unsent === -1) bits.write(phrase, width);
    else {
      bits.write(NEW_8, width);
      bits.write(unsent, 8);
      count();
      unsent = -1;
    }
    count();
  };
  for (const character of text) {
    const isNew = !codes.has(character);
    const code = codes.get(character) ?? size;
    if (isNew) {
      codes.set(character, code);
      size += 1;
    }
    const longer = phrases.get(phrase * CHARACTERS + character);
    if (phrase !== -1 && longer !== undefined) {
      phrase = longer;
      continue;
    }
    if (phrase !== -1) {
      emit();
      phrases.set(phrase * CHARACTERS + character, size);
      size += 1;
    }
    phrase = code;
    if (isNew) unsent = character;
  }
  if (phrase !== -1) emit();
  bits.write(END, width);
  return bits.end();
}

/** Writes numbers with their lowest bit first. */
function createBitWriter() {
  const digits: string[] = [];
  let value = 0;
  let filled = 0;
  const push = (bit: number) => {
    value = value * 2 + bit;
    filled += 1;
    if (filled < BITS_PER_DIGIT) return;
    digits.push(DIGITS.charAt(value));
    value = 0;
    filled = 0;
  };
  return {
    write(number: number, width: number): void {
      for (let bit = 0; bit < width; bit += 1) push((number >> bit) & 1);
    },
    end(): string {
      while (filled > 0) push(0);
      return digits.join('');
    },
  };
}
