import { expect, it } from 'vitest';
import { dayOfZone, listDaysUntil } from './project-day.ts';

it.each([
  ['UTC', '2026-03-05T23:59:59.999Z', '2026-03-05'],
  ['UTC', '2026-03-06T00:00:00.000Z', '2026-03-06'],
  ['America/New_York', '2026-03-08T04:59:59Z', '2026-03-07'],
  ['America/New_York', '2026-03-08T05:00:00Z', '2026-03-08'],
  // The clock went forward on that day.
  ['America/New_York', '2026-03-09T03:59:59Z', '2026-03-08'],
  ['America/New_York', '2026-03-09T04:00:00Z', '2026-03-09'],
  ['Asia/Kathmandu', '2026-01-01T18:14:59Z', '2026-01-01'],
  ['Asia/Kathmandu', '2026-01-01T18:15:00Z', '2026-01-02'],
  ['Nowhere/Unknown', '2026-01-01T23:00:00Z', '2026-01-01'],
  ['UTC', '0000-01-01T00:00:00Z', '0001-01-01'],
  ['Pacific/Kiritimati', '9999-12-31T23:00:00Z', '9999-12-31'],
])('Tells the day in %s at %s', (timezone, instant, day) => {
  expect(dayOfZone(timezone)(Date.parse(instant))).toBe(day);
});

it('Lists days over the end of a month, oldest first', () => {
  expect(listDaysUntil('2026-03-01', 3)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
});
