import type { ProjectRow, UserRow } from '../database/tables.ts';

export interface Project {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly apiToken: string;
  readonly timezone: string;
  readonly revision: number;
  /** The most requests of a month; null is no limit. */
  readonly flagRequestsPerMonth: number | null;
  /** Whether a secret key that was replaced still works. */
  readonly hasSecretKeyBackup: boolean;
  readonly createdAt: Date;
}

export interface User {
  readonly id: number;
  readonly uuid: string;
  readonly distinctId: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly isEmailVerified: boolean | null;
  readonly roleAtOrganization: string | null;
  readonly createdAt: Date;
}

/** The project of a row, without its secret. */
export function toProject(row: ProjectRow): Project {
  return {
    id: row.id,
    uuid: row.uuid,
    name: row.name,
    apiToken: row.api_token,
    timezone: row.timezone,
    revision: row.revision,
    flagRequestsPerMonth: row.flag_requests_per_month,
    hasSecretKeyBackup: row.secret_key_backup_hash !== null,
    createdAt: row.created_at,
  };
}

/** The user of a row. */
export function toUser(row: UserRow): User {
  return {
    id: row.id,
    uuid: row.uuid,
    distinctId: row.distinct_id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    isEmailVerified: row.is_email_verified,
    roleAtOrganization: row.role_at_organization,
    createdAt: row.created_at,
  };
}
