import { describe, expect, it } from 'vitest';
import { judgeStep } from './judge.ts';
import type { Change } from './oasdiff.ts';
import { compareVersions, mayBreak, nextBreakingVersion, parseVersion } from './versions.ts';

describe('a version', () => {
  it('is three numbers', () => {
    expect(parseVersion('1.20.3')).toEqual([1, 20, 3]);
    for (const text of ['1.2', 'v1.2.3', '1.2.3-rc.1', '01.2.3', ''])
      expect(() => parseVersion(text), text).toThrow('no version');
  });

  it('is compared by its numbers, not by its text', () => {
    expect(['0.10.0', '1.0.0', '0.9.1', '0.9.0'].toSorted(compareVersions)).toEqual([
      '0.9.0',
      '0.9.1',
      '0.10.0',
      '1.0.0',
    ]);
    expect(compareVersions('1.2.3', '1.2.3')).toBe(0);
  });

  it.each([
    ['1.2.3', '2.0.0', true],
    ['1.2.3', '1.3.0', false],
    ['1.2.3', '1.2.4', false],
    ['1.2.3', '1.2.3', false],
    ['2.0.0', '1.0.0', false],
    ['0.1.0', '0.2.0', true],
    ['0.1.0', '0.1.1', false],
    ['0.1.0', '1.0.0', true],
    ['0.2.0', '0.1.0', false],
    ['0.0.1', '0.0.2', true],
    ['0.0.0', '0.0.1', true],
  ])('from %s to %s may break clients: %s', (from, to, expected) => {
    expect(mayBreak(from, to)).toBe(expected);
  });

  it.each(['2.7.1', '0.1.4', '0.0.3'])('after %s has a next one that may break', (version) => {
    expect(mayBreak(version, nextBreakingVersion(version))).toBe(true);
  });
});

describe('a step from one contract to the next', () => {
  const added: Change = { id: 'added', text: 'added a field', operation: 'GET /a', breaks: false };
  const gone: Change = { id: 'gone', text: 'removed a field', operation: 'GET /a', breaks: true };
  const judge = (from: string, to: string, changes: readonly Change[]) =>
    judgeStep({ version: from, document: {} }, { version: to, document: {} }, changes);

  it('may add under the same version, and break under the next major', () => {
    expect(judge('1.0.0', '1.0.0', [added])).toBeNull();
    expect(judge('1.0.0', '2.0.0', [added, gone])).toBeNull();
  });

  it('must not break otherwise, and names what does', () => {
    const fault = judge('1.0.0', '1.1.0', [added, gone]);
    expect(fault).toContain('GET /a: removed a field [gone]');
    expect(fault).not.toContain('added a field');
  });

  it('never leads to an older version', () => {
    expect(judge('1.1.0', '1.0.0', [])).toContain('older');
  });
});
