import { describe, expect, it } from 'vitest';
import type { Caller } from '../../domain/common/access.ts';
import type { JsonObject } from '../../domain/common/json.ts';
import { Refusal } from '../../domain/common/refusal.ts';
import { toFlag } from '../../domain/flags/model/flag-fields.ts';
import { toCompactFlagBody } from '../common/compact-flag-body.ts';
import { rightsOf, toFlagBody, toFlagInput } from './flag-body.ts';

const CREATED_AT = new Date('2026-01-15T12:00:00.123Z');

const FLAG = toFlag({
  id: 7,
  project_id: 3,
  key: 'new-checkout',
  name: 'The new checkout',
  filters: { groups: [{ properties: [], rollout_percentage: 40 }] },
  active: true,
  deleted: false,
  version: 2,
  ensure_experience_continuity: false,
  rollback_conditions: null,
  performed_rollback: false,
  tags: ['web'],
  evaluation_tags: ['web'],
  analytics_dashboards: [],
  usage_dashboard: null,
  has_enriched_analytics: false,
  creation_context: 'feature_flags',
  is_remote_configuration: false,
  has_encrypted_payloads: false,
  evaluation_runtime: 'server',
  bucketing_identifier: 'device_id',
  last_called_at: null,
  create_in_folder: null,
  should_create_usage_dashboard: true,
  created_by: 1,
  last_modified_by: null,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
});

const USER = {
  id: 1,
  uuid: '00000000-0000-4000-8000-000000000000',
  distinctId: 'd',
  email: 'ann@example.com',
  firstName: 'Ann',
  lastName: '',
  isEmailVerified: null,
  roleAtOrganization: null,
  createdAt: CREATED_AT,
};

function callerWith(scope: string): Caller {
  return { kind: 'user', user: USER, scopes: [scope], keyProjectIds: null, memberProjectIds: [3] };
}

describe('toFlagBody', () => {
  const cohortNames = new Map<number, string>();
  const described = { flag: FLAG, cohortNames, createdBy: USER, lastModifiedBy: null };
  const bodyFor = (scope: string) =>
    toFlagBody(described, rightsOf(callerWith(scope), null), CREATED_AT);

  it('has the fields of the wire', () => {
    expect(bodyFor('feature_flag:write')).toMatchObject({
      id: 7,
      key: 'new-checkout',
      filters: FLAG.filters,
      created_at: '2026-01-15T12:00:00.123Z',
      created_by: { id: 1, distinct_id: 'd', email: 'ann@example.com', hedgehog_config: null },
      last_modified_by: null,
      is_simple_flag: true,
      rollout_percentage: 40,
      experiment_set: '',
      surveys: {},
      features: {},
      status: 'ACTIVE',
      evaluation_runtime: 'server',
      bucketing_identifier: 'device_id',
      last_called_at: null,
      _create_in_folder: null,
      _should_create_usage_dashboard: true,
    });
  });

  it('tells the status of a deleted flag', () => {
    const deleted = { ...described, flag: { ...FLAG, deleted: true } };
    const rights = rightsOf(callerWith('*'), null);
    expect(toFlagBody(deleted, rights, CREATED_AT).status).toBe('DELETED');
  });

  it.each([
    ['feature_flag:write', true, 'editor'],
    ['*', true, 'editor'],
    ['feature_flag:read', false, 'viewer'],
  ])('tells a key with %s what it may do', (scope, canEdit, level) => {
    expect(bodyFor(scope)).toMatchObject({ can_edit: canEdit, user_access_level: level });
  });
});

describe('toCompactFlagBody', () => {
  it('has what an SDK needs and no person', () => {
    const body = toCompactFlagBody(FLAG);
    expect(body).toMatchObject({ id: 7, team_id: 3, key: 'new-checkout', filters: FLAG.filters });
    expect(body).not.toHaveProperty('created_by');
  });
});

describe('toFlagInput', () => {
  it('leaves out what the body leaves out, and what it does not know', () => {
    const body = { active: false, surprise: 1 };
    expect(toFlagInput(body)).toEqual({ active: false });
  });

  it.each([
    ['ensure_experience_continuity', 'ensureExperienceContinuity', false],
    ['has_enriched_analytics', 'hasEnrichedAnalytics', false],
    ['is_remote_configuration', 'isRemoteConfiguration', false],
    ['has_encrypted_payloads', 'hasEncryptedPayloads', false],
    ['evaluation_runtime', 'evaluationRuntime', 'all'],
    ['bucketing_identifier', 'bucketingIdentifier', 'distinct_id'],
    ['last_called_at', 'lastCalledAt', null],
    ['rollback_conditions', 'rollbackConditions', null],
  ])('reads null of %s as its default', (field, name, value) => {
    expect(toFlagInput({ [field]: null })).toEqual({ [name]: value });
  });

  it('reads every field', () => {
    expect(
      toFlagInput({
        key: 'k',
        name: 'n',
        filters: { groups: [] },
        deleted: true,
        created_at: '2026-01-15T13:00:00+01:00',
        tags: ['web'],
        evaluation_runtime: 'client',
        bucketing_identifier: 'device_id',
        rollback_conditions: [{ a: 1 }],
        _create_in_folder: 'f',
        _should_create_usage_dashboard: false,
      }),
    ).toEqual({
      key: 'k',
      name: 'n',
      filters: { groups: [] },
      deleted: true,
      createdAt: new Date('2026-01-15T12:00:00Z'),
      tags: ['web'],
      evaluationRuntime: 'client',
      bucketingIdentifier: 'device_id',
      rollbackConditions: [{ a: 1 }],
      createInFolder: 'f',
      shouldCreateUsageDashboard: false,
    });
  });
});

/** The field and the code of the refusal, or null when the body is taken. */
function refusalOf(body: JsonObject): [string | null, string] | null {
  try {
    toFlagInput(body);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [error.attr, error.code];
  }
}

describe('text that the database cannot store', () => {
  it.each<[string, JsonObject]>([
    ['the NUL character', { name: 'a\0b' }],
    ['the NUL character far down', { filters: { groups: [{ description: ['\0'] }] } }],
    ['the NUL character in a name of a field', { filters: { 'a\0': 1 } }],
    ['the NUL character after a backslash', { name: '\\\0' }],
    ['the first half of a surrogate pair', { filters: { a: '\ud83d' } }],
    ['the second half of a surrogate pair', { filters: { a: '\ude00' } }],
    ['both halves the wrong way round', { tags: ['\ude00\ud83d'] }],
  ])('is refused: %s', (_what, body) => {
    const [field] = Object.keys(body);
    expect(refusalOf(body)).toEqual([field, 'null_characters_not_allowed']);
  });

  it.each(['\\u0000', '\\\\u0000', 'C:\\ud83d', '😀', '\uFFFD', '\u0001'])(
    'is not seen in %j',
    (name) => {
      expect(refusalOf({ name })).toBeNull();
    },
  );
});

describe('a time that no Date can say', () => {
  it.each(['2016-12-31T23:59:60Z', '2026-01-01T00:00:00+05', '0000-01-01T00:00:00+01:00'])(
    'is refused: %s',
    (text) => {
      expect(refusalOf({ created_at: text })).toEqual(['created_at', 'invalid_input']);
      expect(refusalOf({ last_called_at: text })).toEqual(['last_called_at', 'invalid_input']);
    },
  );
});
