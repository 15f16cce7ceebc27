const DAY_MS = 86_400_000;
// Before this, zones have local mean time and Intl switches eras; the first known offset stands in.
const EARLIEST_MS = Date.UTC(1800, 0, 1);

/** Conversion between instants (ms since epoch) and one zone's wall clock, written as if UTC. */
export interface WallClock {
  toWall(instantMs: number): number;
  /** The instant at which the clock shows this; the earlier one of two; null in a gap. */
  toInstant(wallMs: number): number | null;
}

const UTC_CLOCK: WallClock = {
  toWall: (instantMs) => instantMs,
  toInstant: (wallMs) => wallMs,
};

/**
 * The wall clock of an IANA zone; an unknown zone falls back to UTC, so that one bad setting
 * cannot stop a project's flags.
 */
export function createWallClock(timezone: string): WallClock {
  if (timezone === 'UTC' || timezone === 'Etc/UTC') return UTC_CLOCK;
  const formatter = createFormatter(timezone);
  if (formatter === null) return UTC_CLOCK;
  const offsetAt = (instantMs: number) => readOffset(formatter, instantMs);
  return {
    toWall: (instantMs) => instantMs + offsetAt(instantMs),
    toInstant: (wallMs) => {
      // A zone's offset changes at most once within these two days.
      const before = wallMs - offsetAt(wallMs - DAY_MS);
      const after = wallMs - offsetAt(wallMs + DAY_MS);
      const earlier = Math.min(before, after);
      const later = Math.max(before, after);
      if (earlier + offsetAt(earlier) === wallMs) return earlier;
      return later + offsetAt(later) === wallMs ? later : null;
    },
  };
}

function createFormatter(timezone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
}

function readOffset(formatter: Intl.DateTimeFormat, instantMs: number): number {
  const whole = Math.floor(Math.max(instantMs, EARLIEST_MS) / 1000) * 1000;
  // "3/31/2024, 14:05:09"
  const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = formatter
    .format(whole)
    .split(/\D+/)
    .map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
}
