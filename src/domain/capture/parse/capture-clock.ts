const HOUR_MS = 3_600_000;
const MAX_FUTURE_MS = 23 * HOUR_MS;
const EPOCH_MS = 0;

/** Numbers below this are seconds (until the year 5138), from here on milliseconds. */
const FIRST_MILLISECONDS = 100_000_000_000;

const UTC_MILLISECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z$/;
const NUMERIC = /^[+-]?\d+(?:\.\d+)?$/;
const CALENDAR =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)? *(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
const RFC_2822 =
  /^(?:[a-z]{3}, *)?\d{1,2} [a-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})?( (?:[+-]\d{4}|[a-z]{1,3}))?$/i;

/** The clocks of one event; all but `receivedAt` are the client's. */
export interface EventClocks {
  readonly receivedAt: Date;
  readonly sentAt: Date | null;
  readonly timestamp: Date | null;
  /** Milliseconds between the event and its sending, as old browser clients state it. */
  readonly offsetMs: number | null;
  /** `$ignore_sent_at`: the client vouches for its clock. */
  readonly isSentAtIgnored: boolean;
}

/**
 * When the event happened by the server's clock: the client's skew (`sent_at` against now) is
 * removed, an offset overrides, without either it is now; more than 23 hours ahead is now, and a
 * year outside 0 to 9999 is the epoch.
 */
export function resolveTimestamp(clocks: EventClocks): Date {
  const now = clocks.receivedAt.getTime();
  let settled = now;
  if (clocks.offsetMs !== null) {
    settled = now - clocks.offsetMs;
  } else if (clocks.timestamp !== null) {
    const claimed = clocks.timestamp.getTime();
    const isSkewKnown = clocks.sentAt !== null && !clocks.isSentAtIgnored;
    settled = isSkewKnown ? now + (claimed - clocks.sentAt.getTime()) : claimed;
  }
  if (settled - now > MAX_FUTURE_MS) return new Date(now);
  const date = new Date(settled);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date : new Date(EPOCH_MS);
}

/**
 * Reads every accepted form of a client's timestamp: RFC 3339 with `T` or a space, short zones
 * (`+03`), dates alone, `YYYY/MM/DD`, RFC 2822, and seconds or milliseconds as text. A time without
 * a zone is UTC, which `new Date` would read as local time. Null when it cannot be read.
 */
export function parseTimestamp(text: string): Date | null {
  const trimmed = text.trim();
  if (UTC_MILLISECONDS.test(trimmed)) return toDate(Date.parse(trimmed));
  if (NUMERIC.test(trimmed)) return parseEpoch(Number(trimmed));
  const calendar = CALENDAR.exec(trimmed);
  if (calendar !== null) return toDate(Date.parse(toIsoText(calendar)));
  const mail = RFC_2822.exec(trimmed);
  if (mail === null) return null;
  return toDate(Date.parse(mail[1] === undefined ? `${trimmed} GMT` : trimmed));
}

/** A number as seconds or milliseconds since 1970, whichever makes sense for its size. */
export function parseEpoch(value: number): Date | null {
  return toDate(Math.abs(value) < FIRST_MILLISECONDS ? value * 1000 : value);
}

function toIsoText(match: RegExpExecArray): string {
  const [, year = '', month = '', day = '', hour = '0', minute = '00', second = '00'] = match;
  const [fraction = '0', zone = 'Z'] = match.slice(7);
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  return `${date}T${hour.padStart(2, '0')}:${minute}:${second}.${milliseconds}${toIsoZone(zone)}`;
}

function toIsoZone(zone: string): string {
  if (/^[a-z]/i.test(zone)) return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function toDate(milliseconds: number): Date | null {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? null : date;
}
