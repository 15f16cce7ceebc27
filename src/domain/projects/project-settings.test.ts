import { describe, expect, it } from 'vitest';
import { toSettingsColumns } from './project-settings.ts';

describe('toSettingsColumns', () => {
  it('writes what is there and nothing else', () => {
    expect(toSettingsColumns({})).toEqual({});
    expect(toSettingsColumns({ name: ' Shop ', flagRequestsPerMonth: null })).toEqual({
      name: 'Shop',
      flag_requests_per_month: null,
    });
  });

  it.each([
    'UTC',
    'Europe/Berlin',
    'America/Argentina/Buenos_Aires',
    'Asia/Kathmandu',
    'Etc/GMT+5',
  ])('takes the time zone %s as it is written', (timezone) => {
    expect(toSettingsColumns({ timezone })).toEqual({ timezone });
  });

  it.each(['', ' ', 'Mars/Olympus', '+01:00', '-05', 'Europe/', 'Europe/Berlin;', 'UTC\u0000'])(
    'refuses the time zone %j',
    (timezone) => {
      expect(() => toSettingsColumns({ timezone })).toThrow(
        expect.objectContaining({ attr: 'timezone', code: 'invalid_choice' }),
      );
    },
  );

  it.each([-1, 1.5, Number.NaN, 2 ** 53])('refuses the quota %s', (flagRequestsPerMonth) => {
    expect(() => toSettingsColumns({ flagRequestsPerMonth })).toThrow(
      expect.objectContaining({ attr: 'flag_requests_per_month' }),
    );
  });

  it('refuses a name that is blank', () => {
    expect(() => toSettingsColumns({ name: ' \t' })).toThrow(
      expect.objectContaining({ attr: 'name', code: 'blank' }),
    );
  });
});
