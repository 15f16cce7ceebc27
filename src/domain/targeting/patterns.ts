import { createRequire } from 'node:module';
import type { CompiledPattern } from '../evaluation/model/definitions.ts';

/** The longest regular expression that a flag may hold, in characters. */
const PATTERN_MAX_LENGTH = 10_000;

const require = createRequire(import.meta.url);

/**
 * Compiles a regular expression of the RE2 dialect, which matches in linear time: a pattern that a
 * person wrote can never hang evaluation. Null for what the dialect does not know, look-around and
 * back-references among it.
 */
export function compilePattern(pattern: string): CompiledPattern | null {
  if (pattern.length > PATTERN_MAX_LENGTH) return null;
  // Loaded with the first pattern: it is large, and many installations have none.
  const { RE2JS }: typeof import('re2js') = require('re2js');
  try {
    const compiled = RE2JS.compile(pattern);
    return { test: (text) => compiled.matcher(text).find() };
  } catch {
    return null;
  }
}
