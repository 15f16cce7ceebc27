import { describe, expect, it } from 'vitest';
import { aCondition, aFlag, evaluateProject } from '../../../../test/builders.ts';
import type { JsonValue } from '../../common/json.ts';

interface Setting {
  readonly now?: string;
  readonly timezone?: string;
}

function isMatch(
  operator: string,
  value: JsonValue,
  date: JsonValue,
  setting: Setting = {},
): boolean {
  const properties = [{ key: 'date', operator, value }];
  const { outcomes } = evaluateProject(
    {
      timezone: setting.timezone ?? 'UTC',
      flags: [aFlag({ key: 'dated', filters: { groups: [aCondition({ properties })] } })],
    },
    { personProperties: { date } },
    { now: new Date(setting.now ?? '2024-03-31T12:00:00Z') },
  );
  return outcomes.dated?.enabled === true;
}

describe('date comparison', () => {
  it.each<[string, JsonValue, JsonValue, boolean]>([
    ['is_date_before', '2024-01-15', '2024-01-14', true],
    ['is_date_before', '2024-01-15', '2024-01-15', false],
    ['is_date_after', '2024-01-15', '2024-01-15T00:00:01Z', true],
    ['is_date_after', '2024-01-15', '2024-01-15', false],
    ['is_date_exact', '2024-01-15', '2024-01-15', true],
    ['is_date_exact', '2024-01-15', '2024-01-15T00:00:00Z', true],
    ['is_date_exact', '2024-01-15', '2024-01-15T10:00:00Z', false],
    ['is_date_exact', '2024-01-15T10:00:00Z', '2024-01-15T12:00:00+02:00', true],
    ['is_date_exact', '2024-01-15T10:00:00Z', '2024-01-15T04:30:00-05:30', true],
    ['is_date_exact', '2024-01-15T10:00:00.5Z', '2024-01-15 10:00:00.500', true],
    ['is_date_exact', '2024-01-15 10:00', '2024-01-15T10:00:00', true],
    ['is_date_exact', '2024-01-15T10:00:00Z', 1705312800, true],
    ['is_date_exact', '2024-01-15T10:00:00Z', '1705312800', true],
    ['is_date_exact', '2024-01-15T10:00:00.5Z', 1705312800.5, true],
    ['is_date_before', '1970-02-01', '2024', true],
    ['is_date_exact', '0099-12-31', '0099-12-31T00:00:00Z', true],
    ['is_date_exact', '2024-01-15', 'Jan 15 2024', true],
    ['is_date_exact', '2024-01-15', '15 January 2024', true],
    ['is_date_exact', '2024-01-15', '2024/1/15', true],
    ['is_date_exact', '2024-01-15', '01/15/2024', true],
    ['is_date_exact', '2024-01-15T10:30:00Z', 'Mon, 15 Jan 2024 10:30:00 GMT', true],
    ['is_date_exact', '2024-01-15T10:30:00Z', 'January 15th, 2024 12:30 +0200', true],
    ['is_date_exact', '2024-01-15T22:30:00Z', '2024-01-15 10:30 pm', true],
    ['is_date_exact', '2024-01-15T10:30:00Z', '2024-01-15T12:30:00+0200', true],
    ['is_date_after', '2024-01-15', '2024-02-30', false],
    ['is_date_after', '2024-01-15', '2024-13-01', false],
    ['is_date_after', '2024-01-15', '2024-02-01T25:00:00Z', false],
    ['is_date_after', '2024-01-15', 'banana 5', false],
    ['is_date_after', '2024-01-15', 'tomorrow', false],
    ['is_date_after', '2024-01-15', '', false],
    ['is_date_after', '1970-01-01', 'inf', false],
    ['is_date_after', '1970-01-01', 1e300, false],
    ['is_date_after', '1970-01-01', true, false],
    ['is_date_before', '2024-01-15', null, false],
    ['is_date_before', '2024-01-15', ['2020-01-01'], false],
    ['is_date_before', 'banana', '2020-01-01', false],
    ['is_date_before', 1705312800, '2020-01-01', false],
    ['is_date_before', true, '2020-01-01', false],
  ])('%s %j on %j is %s', (operator, value, date, expected) => {
    expect(isMatch(operator, value, date)).toBe(expected);
  });

  it('does not match a person without the property', () => {
    for (const operator of ['is_date_before', 'is_date_after', 'is_date_exact']) {
      const properties = [{ key: 'absent', operator, value: '2024-01-15' }];
      const flag = aFlag({ key: 'dated', filters: { groups: [aCondition({ properties })] } });
      expect(evaluateProject({ flags: [flag] }).outcomes.dated?.enabled).toBe(false);
    }
  });
});

describe('relative dates', () => {
  it.each([
    ['3h', '2024-03-31T09:00:00Z'],
    ['-3h', '2024-03-31T09:00:00Z'],
    ['0d', '2024-03-31T12:00:00Z'],
    ['7d', '2024-03-24T12:00:00Z'],
    ['2w', '2024-03-17T12:00:00Z'],
    ['1m', '2024-02-29T12:00:00Z'],
    ['2m', '2024-01-29T12:00:00Z'],
    ['3m', '2023-12-29T12:00:00Z'],
    ['1y', '2023-03-31T12:00:00Z'],
    ['9999d', '1996-11-14T12:00:00Z'],
  ])('%s before 31 March 2024 noon is %s', (relative, expected) => {
    expect(isMatch('is_date_exact', relative, expected)).toBe(true);
    expect(isMatch('is_date_exact', expected, relative)).toBe(true);
  });

  it('step years one at a time, so that a leap day is lost for good', () => {
    const setting = { now: '2024-02-29T12:00:00Z' };
    expect(isMatch('is_date_exact', '4y', '2020-02-28T12:00:00Z', setting)).toBe(true);
  });

  it.each(['10000d', '7days', '7D', '+7d', '1.5d', ' 7d', '-', 'd'])(
    'are not written "%s"',
    (text) => {
      expect(isMatch('is_date_after', text, '2024-03-31T11:59:59Z')).toBe(false);
    },
  );

  it('reach far back without failing', () => {
    expect(isMatch('is_date_after', '9999y', '0001-01-01')).toBe(true);
    expect(isMatch('is_date_after', '9999y', '0001-01-01', { timezone: 'America/Lima' })).toBe(
      true,
    );
  });
});

describe("the project's time zone", () => {
  const berlin = 'Europe/Berlin';

  it.each<[string, JsonValue, JsonValue, string, boolean]>([
    ['is_date_exact', '2024-01-15', '2024-01-14T23:00:00Z', berlin, true],
    ['is_date_exact', '2024-07-15 10:00', '2024-07-15T08:00:00Z', berlin, true],
    ['is_date_exact', '2024-07-15', '2024-07-15T07:00:00Z', 'America/Los_Angeles', true],
    ['is_date_exact', '2024-07-14T18:30:00Z', '2024-07-15', 'Asia/Kolkata', true],
    // Shown twice when summer time ends: the earlier instant.
    ['is_date_exact', '2024-10-27 02:30', '2024-10-27T00:30:00Z', berlin, true],
    ['is_date_exact', '2024-10-27 02:30', '2024-10-27T01:30:00Z', berlin, false],
    // Never shown when summer time begins.
    ['is_date_after', '2024-03-31 02:30', '2025-01-01T00:00:00Z', berlin, false],
    ['is_date_before', '2025-01-01', '2024-03-31 02:30', berlin, false],
    ['is_date_exact', '2024-03-31 03:00', '2024-03-31T01:00:00Z', berlin, true],
    // Common spellings beyond ISO are UTC in every zone.
    ['is_date_exact', '15 Jan 2024', '2024-01-15T00:00:00Z', berlin, true],
    ['is_date_exact', '2024-01-15', '2024-01-15T00:00:00Z', 'Not/A_Zone', true],
  ])('%s %j on %j in %s is %s', (operator, value, date, timezone, expected) => {
    expect(isMatch(operator, value, date, { timezone })).toBe(expected);
  });

  it('keeps the hour on the wall clock across a change of offset', () => {
    // 14:00 summer time; a day earlier at 14:00 it was still winter time.
    const setting = { now: '2024-03-31T12:00:00Z', timezone: berlin };
    expect(isMatch('is_date_exact', '1d', '2024-03-30T13:00:00Z', setting)).toBe(true);
    expect(isMatch('is_date_exact', '24h', '2024-03-30T13:00:00Z', setting)).toBe(true);
  });

  it('matches nothing when a relative date falls into the skipped hour', () => {
    const setting = { now: '2024-04-01T00:30:00Z', timezone: berlin };
    expect(isMatch('is_date_after', '1d', '2024-12-31', setting)).toBe(false);
    expect(isMatch('is_date_before', '1d', '2020-12-31', setting)).toBe(false);
    expect(isMatch('is_date_after', '2d', '2024-12-31', setting)).toBe(true);
  });

  it('takes the earlier instant when a relative date falls into the repeated hour', () => {
    const setting = { now: '2024-10-28T01:30:00Z', timezone: berlin };
    expect(isMatch('is_date_exact', '1d', '2024-10-27T00:30:00Z', setting)).toBe(true);
  });
});
