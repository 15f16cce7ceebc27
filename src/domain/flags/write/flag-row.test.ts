import { describe, expect, it } from 'vitest';
import { toRow } from './flag-row.ts';

describe('toRow', () => {
  it('sets only what the input has', () => {
    expect(toRow({})).toEqual({});
    expect(toRow({ active: false, name: '' })).toEqual({ active: false, name: '' });
  });

  it('tells null from absent', () => {
    expect(toRow({ lastCalledAt: null, rollbackConditions: null })).toEqual({
      last_called_at: null,
      rollback_conditions: 'null',
    });
  });

  it('keeps each tag once, in the order of the input', () => {
    expect(toRow({ tags: ['b', 'a', 'b'], evaluationTags: ['a', 'a'] })).toEqual({
      tags: ['b', 'a'],
      evaluation_tags: ['a'],
    });
  });

  it('takes a flag back from a rollback when it is enabled', () => {
    expect(toRow({ active: true })).toEqual({ active: true, performed_rollback: false });
    expect(toRow({ active: false })).toEqual({ active: false });
  });

  it('names the columns of every field', () => {
    const at = new Date(0);
    expect(
      toRow({
        key: 'k',
        filters: {},
        deleted: true,
        createdAt: at,
        ensureExperienceContinuity: true,
        performedRollback: true,
        hasEnrichedAnalytics: true,
        creationContext: 'surveys',
        isRemoteConfiguration: true,
        hasEncryptedPayloads: false,
        evaluationRuntime: 'server',
        bucketingIdentifier: 'device_id',
        createInFolder: 'f',
        shouldCreateUsageDashboard: false,
      }),
    ).toEqual({
      key: 'k',
      filters: '{}',
      deleted: true,
      created_at: at,
      ensure_experience_continuity: true,
      performed_rollback: true,
      has_enriched_analytics: true,
      creation_context: 'surveys',
      is_remote_configuration: true,
      has_encrypted_payloads: false,
      evaluation_runtime: 'server',
      bucketing_identifier: 'device_id',
      create_in_folder: 'f',
      should_create_usage_dashboard: false,
    });
  });
});
