import { describe, expect, expectTypeOf, it } from 'vitest';
import type { FeatureFlagRow } from '../../database/tables.ts';
import { type FlagColumn, toEvaluationRuntime, wireNameOf } from './flag-fields.ts';

describe('the fields of a flag', () => {
  it('cover every column', () => {
    expectTypeOf<FlagColumn>().toEqualTypeOf<keyof FeatureFlagRow>();
  });

  it('have the names of the API', () => {
    expect(wireNameOf('hasEncryptedPayloads')).toBe('has_encrypted_payloads');
    expect(wireNameOf('createInFolder')).toBe('_create_in_folder');
    expect(wireNameOf('evaluationContexts')).toBe('evaluation_contexts');
  });
});

describe('toEvaluationRuntime', () => {
  it.each([
    ['client', 'client'],
    ['server', 'server'],
    ['all', 'all'],
    ['', 'all'],
    [null, 'all'],
    ['both', 'all'],
  ])('reads %j as %s', (text, runtime) => {
    expect(toEvaluationRuntime(text)).toBe(runtime);
  });
});
