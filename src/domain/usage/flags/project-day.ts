import { BoundedCache } from '../../common/bounded-cache.ts';
import { createWallClock } from '../../evaluation/values/wall-clock.ts';

const DAY_MS = 86_400_000;
const QUARTER_HOUR_MS = 900_000;
const FIRST_DAY_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_DAY_MS = Date.parse('9999-12-31T00:00:00Z');

/** The calendar day of an instant in one timezone, as `YYYY-MM-DD` from year 1 to 9999. */
export type DayOf = (instantMs: number) => string;

const ZONES_MAX = 500;
const QUARTER_HOURS_MAX = 1_000;

/** Creating a clock costs more than all look-ups of one commit. */
const dayOfByZone = new BoundedCache<string, DayOf>(ZONES_MAX);

/** The calendar days of a timezone. */
export function dayOfZone(timezone: string): DayOf {
  const known = dayOfByZone.get(timezone);
  if (known !== undefined) return known;
  const dayOf = createDayOf(timezone);
  dayOfByZone.set(timezone, dayOf);
  return dayOf;
}

/**
 * Instants of the same quarter of an hour are looked up once: offsets are multiples of it, and
 * events come close together.
 */
function createDayOf(timezone: string): DayOf {
  const clock = createWallClock(timezone);
  const days = new BoundedCache<number, string>(QUARTER_HOURS_MAX);
  return (instantMs) => {
    const quarter = Math.floor(instantMs / QUARTER_HOUR_MS);
    let day = days.get(quarter);
    if (day === undefined) {
      day = toDayText(clock.toWall(quarter * QUARTER_HOUR_MS));
      days.set(quarter, day);
    }
    return day;
  };
}

/** The day and those before it, `count` in all, oldest first. */
export function listDaysUntil(lastDay: string, count: number): string[] {
  const last = Date.parse(`${lastDay}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) =>
    toDayText(last - (count - 1 - index) * DAY_MS),
  );
}

function toDayText(wallMs: number): string {
  const bounded = Math.min(Math.max(wallMs, FIRST_DAY_MS), LAST_DAY_MS);
  return new Date(bounded).toISOString().slice(0, 10);
}
