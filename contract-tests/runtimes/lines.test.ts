import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pickText } from '../read.ts';
import { LTS_LINES, QUICK_TESTS } from './lines.ts';

const engines = pickText(JSON.parse(readFileSync('package.json', 'utf8')), 'engines', 'node');

/** Whether the package allows this version; knows the two kinds of ranges that `engines` has. */
function isAllowed(version: string): boolean {
  const given = numbersOf(version);
  return engines.split(' || ').some((range) => {
    const [, operator, lowest = ''] = /^(\^|>=)([\d.]+)$/.exec(range) ?? [];
    if (operator === undefined) throw new Error(`"${range}" is no range that this test knows.`);
    const limit = numbersOf(lowest);
    const isHighEnough = compare(given, limit) >= 0;
    return operator === '^' ? isHighEnough && given[0] === limit[0] : isHighEnough;
  });
}

function numbersOf(version: string): number[] {
  return version.split('.').map(Number);
}

function compare(one: readonly number[], other: readonly number[]): number {
  const index = [0, 1, 2].find((place) => (one[place] ?? 0) !== (other[place] ?? 0)) ?? 0;
  return (one[index] ?? 0) - (other[index] ?? 0);
}

it.each(QUICK_TESTS)('%s, which the quick form runs, exists', (path) => {
  expect(existsSync(path)).toBe(true);
});

describe('the lines of Node.js that are tested', () => {
  it('are each an even major, named by one version, the oldest first', () => {
    const majors = LTS_LINES.map((version) => numbersOf(version)[0] ?? 0);
    expect(majors.filter((major) => major % 2 !== 0)).toEqual([]);
    expect(majors).toEqual([...new Set(majors)].toSorted((one, other) => one - other));
  });

  it.each([...LTS_LINES, process.versions.node])('%s is allowed by the package', (version) => {
    expect(isAllowed(version)).toBe(true);
  });

  it.each(['20.19.6', '21.7.3', '22.21.1', '23.11.1'])('%s is not', (version) => {
    expect(isAllowed(version)).toBe(false);
  });

  it('are the ones that the guide to self-hosting names', () => {
    const majors = LTS_LINES.map((version) => version.split('.')[0]);
    const guide = readFileSync('docs/self-hosting.md', 'utf8').replaceAll('\n', ' ');
    expect(guide).toContain(`${majors.slice(0, -1).join(', ')} and ${majors.at(-1)}`);
    expect(guide).toContain(`The image has Node.js ${majors.at(-1)}`);
  });
});
