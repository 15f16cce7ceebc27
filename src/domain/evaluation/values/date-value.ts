import type { JsonValue } from '../../common/json.ts';
import {
  type DateClock,
  daysInMonth,
  parseRelativeDate,
  type RelativeDate,
  resolveRelativeDate,
} from './relative-date.ts';
import { toNumber } from './value-text.ts';
import type { WallClock } from './wall-clock.ts';

const LARGEST_MS = 8.64e15;
const ISO = new RegExp(
  '^(?<year>\\d{4})-(?<month>\\d{2})-(?<day>\\d{2})' +
    '(?:[ Tt](?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?<fraction>\\.\\d+)?)?' +
    '(?<zone>[Zz]|[+-]\\d{2}:\\d{2})?)?$',
);
const TIME =
  '(?:,?[ Tt]+(?<hour>\\d{1,2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?<fraction>\\.\\d+)?)?)?' +
  '(?: *(?<half>[ap]m))? *(?<zone>z|utc|gmt|[+-]\\d{2}:?\\d{2})?$';
const WEEKDAY = '^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?';
const MONTH =
  '(?<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|' +
  'sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
/** Common spellings beyond ISO 8601; without a zone they are UTC. */
const LOOSE_FORMS = [
  '^(?<year>\\d{4})[-/.](?<month>\\d{1,2})[-/.](?<day>\\d{1,2})',
  '^(?<month>\\d{1,2})/(?<day>\\d{1,2})/(?<year>\\d{4})',
  `${WEEKDAY}(?<day>\\d{1,2})(?:st|nd|rd|th)? +${MONTH}\\.?,? +(?<year>\\d{4})`,
  `${WEEKDAY}${MONTH}\\.? +(?<day>\\d{1,2})(?:st|nd|rd|th)?,? +(?<year>\\d{4})`,
].map((form) => new RegExp(form + TIME, 'i'));
const MONTH_NAMES = 'janfebmaraprmayjunjulaugsepoctnovdec';

/** A date that a filter compares with: fixed (ms since epoch), or counted back from now. */
export type DateBound = { readonly instantMs: number } | { readonly relative: RelativeDate };

type Fields = Readonly<Record<string, string | undefined>>;

/**
 * Reads a date text: a number is Unix seconds; then relative, RFC 3339, naive ISO on the zone's
 * wall clock, and last common spellings in UTC. null when it is none of these.
 */
export function parseDate(text: string, wallClock: WallClock): DateBound | null {
  const seconds = toNumber(text);
  if (seconds !== null) return toBound(seconds * 1000);
  const relative = parseRelativeDate(text);
  if (relative !== null) return { relative };
  const iso = ISO.exec(text)?.groups;
  if (iso !== undefined) return toBound(readIso(iso, wallClock));
  const trimmed = text.trim();
  for (const form of LOOSE_FORMS) {
    const fields = form.exec(trimmed)?.groups;
    if (fields !== undefined) return toBound(readLoose(fields));
  }
  return null;
}

/** The instant (ms since epoch) that a property stands for; null when it is not a date. */
export function readInstant(value: JsonValue, clock: DateClock): number | null {
  if (typeof value === 'number') return toInstant(toBound(value * 1000), clock);
  if (typeof value !== 'string') return null;
  // Several flags ask for one property.
  const known = clock.resolved.get(value);
  if (known !== undefined) return known;
  const instant = toInstant(parseDate(value, clock.wallClock), clock);
  clock.resolved.set(value, instant);
  return instant;
}

/** The instant (ms since epoch) of a bound in one request; null without a bound. */
export function toInstant(bound: DateBound | null, clock: DateClock): number | null {
  if (bound === null) return null;
  return 'instantMs' in bound ? bound.instantMs : resolveRelativeDate(bound.relative, clock);
}

function toBound(instantMs: number | null): DateBound | null {
  if (instantMs === null || !(Math.abs(instantMs) <= LARGEST_MS)) return null;
  return { instantMs };
}

function readIso(fields: Fields, wallClock: WallClock): number | null {
  const wallMs = readWallTime(fields, Number(fields.month));
  if (wallMs === null) return null;
  return fields.zone === undefined ? wallClock.toInstant(wallMs) : shift(wallMs, fields.zone);
}

function readLoose(fields: Fields): number | null {
  const name = fields.name?.slice(0, 3).toLowerCase();
  const month = name === undefined ? Number(fields.month) : MONTH_NAMES.indexOf(name) / 3 + 1;
  const wallMs = readWallTime(fields, month);
  return wallMs === null ? null : shift(wallMs, fields.zone ?? 'Z');
}

/** Date and time as shown, in ms as if UTC; null when the calendar has no such moment. */
function readWallTime(fields: Fields, month: number): number | null {
  const year = Number(fields.year);
  const day = Number(fields.day);
  const hour = readHour(Number(fields.hour ?? 0), fields.half);
  const minute = Number(fields.minute ?? 0);
  const second = Number(fields.second ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month - 1)) return null;
  if (hour === null || minute > 59 || second > 59) return null;
  const fractionMs = fields.fraction === undefined ? 0 : Number(fields.fraction) * 1000;
  // Date.UTC reads years below 100 as 19xx; setUTCFullYear does not.
  const date = new Date(Date.UTC(2000, 0, 1, hour, minute, second));
  return date.setUTCFullYear(year, month - 1, day) + fractionMs;
}

function readHour(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour > 23 ? null : hour;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
}

/** Moves a wall time written with a zone (`Z`, `UTC`, `GMT`, `+05:30`, `+0530`) to its instant. */
function shift(wallMs: number, zone: string): number | null {
  const digits = zone.replace(/\D/g, '');
  if (digits === '') return wallMs;
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2));
  if (hours > 23 || minutes > 59) return null;
  const offsetMs = (hours * 60 + minutes) * 60_000;
  return zone.startsWith('-') ? wallMs + offsetMs : wallMs - offsetMs;
}
