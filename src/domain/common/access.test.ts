import { describe, expect, it } from 'vitest';
import { type Caller, hasScope, isScope, SCOPES } from './access.ts';

function userWith(...scopes: string[]): Caller {
  return {
    kind: 'user',
    user: { id: 1, uuid: '', distinctId: '', email: '' },
    scopes,
    keyProjectIds: null,
    memberProjectIds: [],
  };
}

describe('hasScope', () => {
  it.each([
    [['feature_flag:read'], 'feature_flag:read', true],
    [['feature_flag:write'], 'feature_flag:write', true],
    [['feature_flag:write'], 'feature_flag:read', true],
    [['feature_flag:read'], 'feature_flag:write', false],
    [['cohort:write'], 'feature_flag:read', false],
    [['event:read', 'feature_flag:read'], 'feature_flag:read', true],
    [['*'], 'feature_flag:write', true],
    [['*'], 'activity_log:read', true],
    [[], 'feature_flag:read', false],
    [['feature_flag'], 'feature_flag:read', false],
  ])('a key with %j asked for %s: %s', (scopes, required, expected) => {
    expect(hasScope(userWith(...scopes), required)).toBe(expected);
  });

  it.each([
    ['feature_flag:read', true],
    ['feature_flag:write', false],
    ['event:read', false],
    ['*', false],
  ])('a project secret key asked for %s: %s', (required, expected) => {
    expect(hasScope({ kind: 'project', projectId: 1 }, required)).toBe(expected);
  });
});

describe('isScope', () => {
  it.each(SCOPES)('knows %s', (scope) => {
    expect(isScope(scope)).toBe(true);
  });

  it.each(['', 'feature_flag', 'feature_flag:admin', 'activity_log:write', 'Feature_flag:read'])(
    'does not know %j',
    (text) => {
      expect(isScope(text)).toBe(false);
    },
  );
});
