import { invalidField } from '../common/refusal.ts';
import type { ProjectRow } from '../database/tables.ts';

/** What may be changed about a project; what is absent stays. */
export interface ProjectSettings {
  readonly name?: string | undefined;
  /** An IANA time zone, in which dates in filters are read. */
  readonly timezone?: string | undefined;
  /** The most requests of a month; null is no limit. */
  readonly flagRequestsPerMonth?: number | null | undefined;
}

/** The columns that the settings write. Throws when a setting breaks its rule. */
export function toSettingsColumns(settings: ProjectSettings): Partial<ProjectRow> {
  const { name, timezone, flagRequestsPerMonth } = settings;
  return {
    ...(name === undefined ? {} : { name: checkName(name) }),
    ...(timezone === undefined ? {} : { timezone: checkTimezone(timezone) }),
    ...(flagRequestsPerMonth === undefined
      ? {}
      : { flag_requests_per_month: checkQuota(flagRequestsPerMonth) }),
  };
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw invalidField('name', 'This field may not be blank.', 'blank');
  return trimmed;
}

/** Some versions of Intl take offsets like `+01:00` too, which are no zones. */
const ZONE_NAME = /^[A-Za-z]/;

function checkTimezone(timezone: string): string {
  try {
    if (ZONE_NAME.test(timezone)) {
      new Intl.DateTimeFormat('en', { timeZone: timezone });
      return timezone;
    }
  } catch {
    // Intl throws for a zone that it does not know.
  }
  throw invalidField('timezone', `"${timezone}" is not a valid choice.`, 'invalid_choice');
}

function checkQuota(perMonth: number | null): number | null {
  if (perMonth === null || (Number.isSafeInteger(perMonth) && perMonth >= 0)) return perMonth;
  throw invalidField('flag_requests_per_month', 'A whole number from 0 on is required.');
}
