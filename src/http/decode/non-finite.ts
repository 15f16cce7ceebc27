const NON_FINITE = /-?\b(?:NaN|Infinity)\b/y;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const CAPITAL_N = 0x4e;
const CAPITAL_I = 0x49;
const SMALL_A = 0x61;
const SMALL_N = 0x6e;

/**
 * JSON text in which numbers that JSON does not have, as some languages print them, are null; what
 * stands inside of texts stays. One pass, however the text is built: anybody may send it.
 */
export function replaceNonFinite(text: string): string {
  if (!text.includes('NaN') && !text.includes('Infinity')) return text;
  const parts: string[] = [];
  let from = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    else if (mayBegin(code, text.charCodeAt(at + 1))) {
      NON_FINITE.lastIndex = at;
      const found = NON_FINITE.exec(text)?.[0];
      if (found === undefined) continue;
      parts.push(text.slice(from, at), 'null');
      from = at + found.length;
      at = from - 1;
    }
  }
  return parts.join('') + text.slice(from);
}

/** Whether such a number may begin with these two characters; the pattern costs more to ask. */
function mayBegin(code: number, next: number): boolean {
  if (code === CAPITAL_N) return next === SMALL_A;
  if (code === CAPITAL_I) return next === SMALL_N;
  return code === MINUS && (next === CAPITAL_N || next === CAPITAL_I);
}
