import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isOperator, OPERATORS } from './operators.ts';

describe('isOperator', () => {
  it('knows the names of operators and nothing else', () => {
    expect(isOperator('not_icontains')).toBe(true);
    expect(['', 'EXACT', 'toString', '__proto__'].filter(isOperator)).toEqual([]);
  });
});

describe('the contract', () => {
  it('names every operator', () => {
    const contract = readFileSync(new URL('../../../../openapi.yaml', import.meta.url), 'utf8');
    // Versions are compared by `semver_` with `eq`, `neq`, ...
    const unnamed = Object.keys(OPERATORS)
      .map((operator) => operator.replace(/^semver_/, ''))
      .filter((name) => !contract.includes(`\`${name}\``));
    expect(unnamed).toEqual([]);
  });
});
