import { describe, expect, it } from 'vitest';
import { FLAG_FILTER_NAMES, parseFlagFilters, type SentFlagFilters } from './parse-flag-filters.ts';

describe('parseFlagFilters', () => {
  it.each<[SentFlagFilters, object]>([
    [{}, {}],
    [{ active: null, tags: null, search: null, created_by_id: null }, {}],
    [{ active: true }, { active: 'true' }],
    [{ active: false }, { active: 'false' }],
    [{ active: 'STALE' }, { active: 'STALE' }],
    [{ evaluation_runtime: 'both' }, { evaluationRuntime: 'all' }],
    [
      { tags: ['a'], excluded_tags: '["b"]' },
      { tags: ['a'], excludedTags: ['b'] },
    ],
    [{ excluded_properties: ['key'] }, { excludedKeys: ['key'] }],
    [{ created_by_id: 7 }, { createdByIds: [7] }],
    [{ created_by_id: [7, '8'] }, { createdByIds: [7, 8] }],
    [{ search: ' new   check-out ' }, { searchWords: ['new', 'check-out'] }],
    [{ search: 'x'.repeat(200) }, { searchWords: ['x'.repeat(200)] }],
    [{ has_evaluation_tags: true, has_evaluation_contexts: null }, { hasEvaluationTags: true }],
    [{ has_evaluation_tags: true, has_evaluation_contexts: false }, { hasEvaluationTags: false }],
  ])('reads %j', (sent, filters) => {
    expect(parseFlagFilters(sent)).toEqual(filters);
  });

  it.each<[SentFlagFilters, string, string]>([
    [{ active: 'yes' }, 'active', 'invalid_choice'],
    [{ active: 1 }, 'active', 'invalid_choice'],
    [{ type: ['boolean'] }, 'type', 'invalid_choice'],
    [{ evaluation_runtime: '' }, 'evaluation_runtime', 'invalid_choice'],
    [{ evaluation_runtime: 'toString' }, 'evaluation_runtime', 'invalid_choice'],
    [{ created_by_id: true }, 'created_by_id', 'invalid_input'],
    [{ created_by_id: 1.5 }, 'created_by_id', 'invalid_input'],
    [{ created_by_id: '' }, 'created_by_id', 'invalid_input'],
    [{ created_by_id: Array(1001).fill(1) }, 'created_by_id', 'max_length'],
    [{ search: 7 }, 'search', 'invalid_input'],
    [{ tags: { a: 1 } }, 'tags', 'invalid_input'],
    [{ tags: ['a', 1] }, 'tags', 'invalid_input'],
    [{ has_evaluation_contexts: 'maybe' }, 'has_evaluation_contexts', 'invalid_input'],
    [{ has_evaluation_tags: 0 }, 'has_evaluation_tags', 'invalid_input'],
    [{ key: 7 }, 'key', 'invalid_input'],
  ])('refuses %j and names the filter', (sent, attr, code) => {
    expect(() => parseFlagFilters(sent)).toThrow(
      expect.objectContaining({ kind: 'invalid', attr, code }),
    );
  });

  it('has a name for every filter', () => {
    const sent = Object.fromEntries(FLAG_FILTER_NAMES.map((name) => [name, { not: 'valid' }]));
    for (const name of FLAG_FILTER_NAMES) {
      expect(() => parseFlagFilters({ [name]: sent[name] })).toThrow(
        expect.objectContaining({ attr: name }),
      );
    }
  });
});
