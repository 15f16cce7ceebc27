import type { WallClock } from './wall-clock.ts';

const HOUR_MS = 3_600_000;
const GRAMMAR = /^-?([0-9]+)([hdwmy])$/;
const AMOUNT_LIMIT = 10_000;

/** A span before now: `7d` and `-7d` are both seven days ago; there is no future. */
export interface RelativeDate {
  readonly amount: number;
  /** h hours, d days, w weeks, m months, y years. */
  readonly unit: string;
}

/** What date comparisons need to know of the request. */
export interface DateClock {
  readonly nowMs: number;
  readonly wallClock: WallClock;
  /** The instants of date texts that this request has met already: reading them is slow. */
  readonly resolved: Map<string, number | null>;
}

/** Reads a relative date such as `-30d`; null for any other text. */
export function parseRelativeDate(text: string): RelativeDate | null {
  const found = GRAMMAR.exec(text);
  if (found === null) return null;
  const amount = Number(found[1]);
  const unit = found[2];
  return unit === undefined || amount >= AMOUNT_LIMIT ? null : { amount, unit };
}

/**
 * The instant (ms since epoch) of a relative date, counted on the zone's wall clock; null when the
 * clock skipped that time. Months and years are stepped one at a time with the day clamped, so two
 * months before 31 March 2024 is 29 January.
 */
export function resolveRelativeDate(relative: RelativeDate, clock: DateClock): number | null {
  const memoKey = `${relative.amount}${relative.unit}`;
  const known = clock.resolved.get(memoKey);
  if (known !== undefined) return known;
  const wallNow = clock.wallClock.toWall(clock.nowMs);
  const instantMs = clock.wallClock.toInstant(stepBack(wallNow, relative));
  clock.resolved.set(memoKey, instantMs);
  return instantMs;
}

function stepBack(wallMs: number, { amount, unit }: RelativeDate): number {
  switch (unit) {
    case 'h':
      return wallMs - amount * HOUR_MS;
    case 'd':
      return wallMs - amount * 24 * HOUR_MS;
    case 'w':
      return wallMs - amount * 7 * 24 * HOUR_MS;
    case 'm':
      return stepMonthsBack(wallMs, amount, 1);
    default:
      return stepMonthsBack(wallMs, amount, 12);
  }
}

function stepMonthsBack(wallMs: number, steps: number, monthsPerStep: number): number {
  const date = new Date(wallMs);
  let year = date.getUTCFullYear();
  let month = date.getUTCMonth();
  let day = date.getUTCDate();
  for (let step = 0; step < steps; step++) {
    month -= monthsPerStep;
    if (month < 0) {
      month += 12;
      year -= 1;
    }
    day = Math.min(day, daysInMonth(year, month));
  }
  return date.setUTCFullYear(year, month, day);
}

/** Days of a month (0 = January) in the Gregorian calendar. */
export function daysInMonth(year: number, month: number): number {
  if (month === 1) {
    const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    return isLeap ? 29 : 28;
  }
  return month === 3 || month === 5 || month === 8 || month === 10 ? 30 : 31;
}
