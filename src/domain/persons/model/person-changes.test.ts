import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../common/json.ts';
import { readGroupChange } from './group-changes.ts';
import { isIllegalDistinctId } from './illegal-ids.ts';
import { isDroppedEvent, readPersonChange, toStoredProperties } from './person-changes.ts';

function anEvent(event: string, properties: JsonObject, distinctId = 'u') {
  return { event, distinctId, properties, timestamp: new Date('2026-01-01T00:00:00Z') };
}

describe('what an event sets on its person', () => {
  it('reads $set, $set_once and both forms of $unset', () => {
    const properties = { $set: { a: 1 }, $set_once: { b: 2 } };
    expect(readPersonChange(anEvent('x', { ...properties, $unset: ['c', 1] }))).toEqual({
      mode: 'process',
      merge: null,
      isMergeIllegal: false,
      set: { a: 1 },
      setOnce: { b: 2 },
      mapped: {},
      unset: ['c'],
      isPersonEvent: false,
    });
    expect(readPersonChange(anEvent('x', { $unset: { c: 1 } })).unset).toEqual(['c']);
    expect(readPersonChange(anEvent('x', { $set: 'a', $unset: 'b' }))).toMatchObject({ set: {} });
  });

  it('maps what describes the client, under its own and its initial key', () => {
    const change = readPersonChange(
      anEvent('$pageview', {
        $lib: 'web',
        $browser: 'Firefox',
        $os: 'Linux',
        utm_source: 'mail',
        other: 1,
        $set_once: { $initial_browser: 'mine' },
      }),
    );
    expect(change.mapped).toEqual({ $browser: 'Firefox', $os: 'Linux', utm_source: 'mail' });
    expect(change.setOnce).toEqual({
      $initial_browser: 'mine',
      $initial_os: 'Linux',
      $initial_utm_source: 'mail',
    });
  });

  it('leaves the operating system of a server alone', () => {
    const properties = { $lib: 'posthog-node', $os: 'Linux', $os_version: '6', gclid: 'g' };
    const change = readPersonChange(anEvent('x', properties));
    expect(change.mapped).toEqual({ gclid: 'g' });
    expect(change.setOnce).toEqual({ $initial_gclid: 'g' });
  });

  it.each(['$exception', '$$heatmap'])('never lets %s change a person', (event) => {
    const change = readPersonChange(anEvent(event, { $set: { a: 1 }, $browser: 'x' }));
    expect(change).toMatchObject({ set: {}, setOnce: {}, mapped: {}, unset: [] });
  });
});

describe('events that ask that no person is processed', () => {
  const off = { $process_person_profile: false };

  it.each(['$identify', '$create_alias', '$merge_dangerously', '$groupidentify'])(
    'drops %s',
    (event) => {
      expect(isDroppedEvent(anEvent(event, off))).toBe(true);
      expect(isDroppedEvent(anEvent(event, { $process_person_profile: 'false' }))).toBe(false);
    },
  );

  it('strips person properties and only looks the person up', () => {
    const event = anEvent('x', { ...off, k: 1, $set: { a: 1 }, $set_once: {}, $unset: [] });
    expect(isDroppedEvent(event)).toBe(false);
    expect(toStoredProperties(event)).toEqual({ ...off, k: 1 });
    expect(readPersonChange(event).mode).toBe('lookup');
    expect(readGroupChange(anEvent('x', { ...off, $groups: { company: 'a' } }))).toBeNull();
  });
});

describe('$groupidentify', () => {
  it('creates no person and keeps no person properties', () => {
    const event = anEvent('$groupidentify', { $group_type: 'company', $set: { a: 1 } });
    expect(readPersonChange(event).mode).toBe('lookup');
    expect(toStoredProperties(event)).toEqual({ $group_type: 'company' });
  });

  it('describes a group when type and key are given', () => {
    const named = { $group_type: 'company', $group_key: 7 };
    expect(readGroupChange(anEvent('$groupidentify', { ...named, $group_set: { a: 1 } }))).toEqual({
      memberships: [],
      update: { groupType: 'company', groupKey: '7', properties: { a: 1 } },
    });
    expect(readGroupChange(anEvent('$groupidentify', named))?.update?.properties).toEqual({});
    expect(readGroupChange(anEvent('$groupidentify', { $group_type: 'company' }))).toBeNull();
    expect(readGroupChange(anEvent('$groupidentify', { $group_key: 'acme' }))).toBeNull();
  });
});

describe('$groups', () => {
  it('names memberships with their keys as text', () => {
    const $groups = { company: 'acme', project: 5, empty: '', nothing: null };
    expect(readGroupChange(anEvent('x', { $groups }))).toEqual({
      memberships: [
        { groupType: 'company', groupKey: 'acme' },
        { groupType: 'project', groupKey: '5' },
      ],
      update: null,
    });
  });

  it('is ignored unless it is an object', () => {
    expect(readGroupChange(anEvent('x', { $groups: 'acme' }))).toBeNull();
    expect(readGroupChange(anEvent('x', { $groups: ['acme'] }))).toBeNull();
    expect(readGroupChange(anEvent('x', {}))).toBeNull();
  });
});

describe('merges', () => {
  it.each([
    ['$identify', { $anon_distinct_id: 'anon' }, false],
    ['$create_alias', { alias: 'anon' }, false],
    ['$merge_dangerously', { alias: 'anon' }, true],
  ])('reads the other id of %s', (event, properties, isForced) => {
    const change = readPersonChange(anEvent(event, properties));
    expect(change.merge).toEqual({ otherDistinctId: 'anon', isForced });
  });

  it('needs another id that may be merged', () => {
    expect(readPersonChange(anEvent('$identify', {})).merge).toBeNull();
    expect(readPersonChange(anEvent('$identify', { $anon_distinct_id: 'u' })).merge).toBeNull();
    expect(readPersonChange(anEvent('$identify', { $anon_distinct_id: 'null' })).merge).toBeNull();
    expect(readPersonChange(anEvent('$create_alias', { alias: 'a' }, 'None')).merge).toBeNull();
    expect(readPersonChange(anEvent('x', { $anon_distinct_id: 'a', alias: 'a' })).merge).toBeNull();
  });

  it.each([
    'Anonymous',
    'GUEST',
    '"undefined"',
    "'null'",
    '[object Object]',
    'NaN',
    '0',
    ' ',
    'ID',
  ])('refuses the placeholder %s', (id) => {
    expect(isIllegalDistinctId(id)).toBe(true);
  });

  it.each(['u1', 'NULL', 'nan', '00', 'anonymous-7'])('lets %s through', (id) => {
    expect(isIllegalDistinctId(id)).toBe(false);
  });
});
