import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../common/json.ts';
import { type FeatureFlag, toFlag } from './flag-fields.ts';
import { reportFlagStatus } from './flag-status.ts';
import { measureRollout } from './rollout.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const FULL = { groups: [{ properties: [], rollout_percentage: 100 }] };

function daysAgo(days: number): Date {
  return new Date(NOW.getTime() - days * 86_400_000);
}

/** A flag for everybody that is 60 days old and was never called. */
function aFlag(overrides: Partial<FeatureFlag> = {}): FeatureFlag {
  const row = {
    id: 1,
    project_id: 1,
    key: 'a-flag',
    name: '',
    filters: FULL,
    active: true,
    deleted: false,
    version: 1,
    ensure_experience_continuity: false,
    rollback_conditions: null,
    performed_rollback: false,
    tags: [],
    evaluation_tags: [],
    analytics_dashboards: [],
    usage_dashboard: null,
    has_enriched_analytics: false,
    creation_context: 'feature_flags',
    is_remote_configuration: false,
    has_encrypted_payloads: false,
    evaluation_runtime: 'all',
    bucketing_identifier: 'distinct_id',
    last_called_at: null,
    create_in_folder: null,
    should_create_usage_dashboard: true,
    created_by: null,
    last_modified_by: null,
    created_at: daysAgo(60),
    updated_at: daysAgo(60),
  };
  return { ...toFlag(row), ...overrides };
}

describe('reportFlagStatus', () => {
  it.each<[string, Partial<FeatureFlag>, string, string]>([
    [
      'a deleted flag, whatever else it is',
      { deleted: true, active: false, lastCalledAt: daysAgo(90) },
      'deleted',
      'Flag has been deleted',
    ],
    [
      'a disabled flag, however long ago it was called',
      { active: false, lastCalledAt: daysAgo(90) },
      'active',
      'Flag is disabled (not evaluated for staleness)',
    ],
    ['a flag called today', { lastCalledAt: daysAgo(0.9) }, 'active', 'Flag was called today'],
    [
      'a flag whose last call is ahead of our clock',
      { lastCalledAt: daysAgo(-0.1) },
      'active',
      'Flag was called today',
    ],
    [
      'a flag called yesterday',
      { lastCalledAt: daysAgo(1) },
      'active',
      'Flag was last called 1 day ago',
    ],
    [
      'a flag called 30 days ago',
      { lastCalledAt: daysAgo(30) },
      'active',
      'Flag was last called 30 days ago',
    ],
    [
      'a flag called a moment more than 30 days ago',
      { lastCalledAt: daysAgo(30.01) },
      'stale',
      'Flag has not been called in 30 days',
    ],
    [
      'a flag called 45 days ago',
      { lastCalledAt: daysAgo(45.5) },
      'stale',
      'Flag has not been called in 45 days',
    ],
    [
      'an old flag for everybody that was never called',
      {},
      'stale',
      'This boolean flag will always evaluate to "true"',
    ],
    [
      'a flag that is exactly 30 days old',
      { createdAt: daysAgo(30) },
      'active',
      'Flag has no usage data yet',
    ],
    ['a new flag', { createdAt: NOW }, 'active', 'Flag has no usage data yet'],
  ])('tells %s', (_what, overrides, status, reason) => {
    expect(reportFlagStatus(aFlag(overrides), NOW)).toMatchObject({ status, reason });
  });
});

describe('an old flag that was never called', () => {
  const variants = (...shares: number[]) => ({
    variants: shares.map((share, index) => ({ key: `v${index}`, rollout_percentage: share })),
  });
  const toVariant = (key: string) => `This flag will always use the variant "${key}"`;

  it.each<[string, JsonObject, string | null]>([
    ['has no condition', { groups: [] }, 'This boolean flag will always evaluate to "false"'],
    ['is for a half', { groups: [{ rollout_percentage: 50 }] }, null],
    ['states no percentage', { groups: [{}] }, null],
    ['states null as its percentage', { groups: [{ rollout_percentage: null }] }, null],
    [
      'has a property filter',
      { groups: [{ rollout_percentage: 100, properties: [{ key: 'a' }] }] },
      null,
    ],
    [
      'is for everybody in a later condition',
      { groups: [{ rollout_percentage: 50 }, { rollout_percentage: 100 }] },
      'This boolean flag will always evaluate to "true"',
    ],
    ['gives everybody one variant', { ...FULL, multivariate: variants(0, 100) }, toVariant('v1')],
    ['splits its variants', { ...FULL, multivariate: variants(50, 50) }, null],
    [
      'splits its variants but pins one',
      { groups: [{ rollout_percentage: 100, variant: 'v1' }], multivariate: variants(50, 50) },
      toVariant('v1'),
    ],
    [
      'has a full variant that few get',
      { groups: [{ rollout_percentage: 10 }], multivariate: variants(100) },
      null,
    ],
    ['has variants and no condition', { groups: [], multivariate: variants(100) }, null],
  ])('that %s', (_what, filters, reason) => {
    const report = reportFlagStatus(aFlag({ filters }), NOW);
    expect(report).toMatchObject(
      reason === null
        ? { status: 'active', reason: 'Flag has no usage data yet', isReasonRollout: false }
        : { status: 'stale', reason, isReasonRollout: true },
    );
  });
});

describe('the rollout of a flag', () => {
  const FULL_VARIANT = { variants: [{ key: 'a', rollout_percentage: 100 }] };
  const SPLIT = {
    variants: [
      { key: 'a', rollout_percentage: 50 },
      { key: 'b', rollout_percentage: 50 },
    ],
  };

  it.each<[string, JsonObject, [boolean, boolean, number, boolean]]>([
    ['for everybody', FULL, [true, false, 100, false]],
    ['without conditions', { groups: [] }, [false, false, 0, false]],
    ['that states no percentage', { groups: [{}] }, [false, false, 100, false]],
    [
      'for some',
      { groups: [{ rollout_percentage: 5 }, { rollout_percentage: 33.3 }] },
      [false, false, 33.3, false],
    ],
    [
      'for those with a property',
      { groups: [{ rollout_percentage: 20, properties: [{ key: 'a' }] }] },
      [false, true, 20, false],
    ],
    [
      'with one variant for everybody',
      { ...FULL, multivariate: FULL_VARIANT },
      [...([true, false, 100, true] as const)],
    ],
    ['with split variants', { ...FULL, multivariate: SPLIT }, [false, false, 100, true]],
  ])('%s', (_what, filters, [isEffectivelyFull, hasTargetingConditions, maxPercentage, multi]) => {
    expect(measureRollout(filters)).toEqual({
      isEffectivelyFull,
      hasTargetingConditions,
      maxPercentage,
      isMultivariate: multi,
    });
  });
});
