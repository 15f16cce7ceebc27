import { describe, expect, it } from 'vitest';
import { compilePattern } from './patterns.ts';

describe('compilePattern', () => {
  it.each([
    ['@example\\.com$', 'ann@example.com', true],
    ['@example\\.com$', 'ann@example.community', false],
    ['^a|b$', 'xxb', true],
    ['example', 'an example in the middle', true],
    ['(?i)EXAMPLE', 'example', true],
    ['a(?i)B', 'ab', true],
    ['a(?i)B', 'Ab', false],
    ['(?s)a.b', 'a\nb', true],
    ['a.b', 'a\nb', false],
    ['(?m)^b$', 'a\nb', true],
    ['^b$', 'a\nb', false],
    ['(?P<year>\\d{4})', '2026', true],
    ['^\\p{L}+$', 'Zoë', true],
    ['^.$', '😀', true],
    ['', 'anything', true],
    ['^$', '', true],
  ])('matches %s against %j: %s', (pattern, text, expected) => {
    expect(compilePattern(pattern)?.test(text)).toBe(expected);
  });

  it.each([
    ['look-ahead', 'a(?=b)'],
    ['negative look-ahead', 'a(?!b)'],
    ['look-behind', '(?<=a)b'],
    ['negative look-behind', '(?<!a)b'],
    ['a back-reference', '(a)\\1'],
    ['a named back-reference', '(?P<x>a)(?P=x)'],
    ['a parenthesis that is not closed', '(a'],
    ['a bracket that is not closed', '[a'],
    ['nothing to repeat', '*a'],
    ['a range the wrong way round', '[z-a]'],
    ['a repetition without end', 'a{1001}'],
    ['a pattern that is too long', 'a'.repeat(10_001)],
  ])('does not know %s', (_what, pattern) => {
    expect(compilePattern(pattern)).toBeNull();
  });

  it('takes a pattern that is just not too long', () => {
    expect(compilePattern('a'.repeat(10_000))).not.toBeNull();
  });

  it.each(['(a+)+$', '^(a|a)*$', '(.*a){12}$', '^([a-z]+)*$'])(
    'comes to an end with %s, which hangs a backtracking engine',
    (pattern) => {
      const text = `${'a'.repeat(20_000)}!`;
      expect(compilePattern(pattern)?.test(text)).toBe(false);
    },
  );

  it('matches again and again without remembering the last match', () => {
    const compiled = compilePattern('a');
    expect([compiled?.test('a'), compiled?.test('a'), compiled?.test('b')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
