import type { Knex } from 'knex';
import type { JsonObject, JsonValue } from '../common/json.ts';

/** One type per table, as `pg` returns its rows: bigint as number, timestamptz as Date. */

export interface ProjectRow {
  id: number;
  uuid: string;
  name: string;
  api_token: string;
  secret_key_hash: string | null;
  secret_key_backup_hash: string | null;
  timezone: string;
  revision: number;
  flag_requests_per_month: number | null;
  created_at: Date;
}

export interface UserRow {
  id: number;
  uuid: string;
  distinct_id: string;
  email: string;
  first_name: string;
  last_name: string;
  is_email_verified: boolean | null;
  role_at_organization: string | null;
  hedgehog_config: JsonObject | null;
  created_at: Date;
}

export interface ProjectMembershipRow {
  user_id: number;
  project_id: number;
  created_at: Date;
}

export interface PersonalApiKeyRow {
  id: string;
  user_id: number;
  label: string;
  key_hash: string;
  key_hint: string;
  scopes: string[];
  project_ids: number[] | null;
  created_at: Date;
  revoked_at: Date | null;
}

export interface IdentityRevisionRow {
  singleton: boolean;
  revision: number;
}

export interface FeatureFlagRow {
  id: number;
  project_id: number;
  key: string;
  name: string;
  filters: JsonObject;
  active: boolean;
  deleted: boolean;
  version: number;
  ensure_experience_continuity: boolean;
  rollback_conditions: JsonValue;
  performed_rollback: boolean;
  tags: string[];
  evaluation_tags: string[];
  analytics_dashboards: number[];
  usage_dashboard: number | null;
  has_enriched_analytics: boolean;
  creation_context: string;
  is_remote_configuration: boolean;
  has_encrypted_payloads: boolean;
  evaluation_runtime: string;
  bucketing_identifier: string;
  last_called_at: Date | null;
  create_in_folder: string | null;
  should_create_usage_dashboard: boolean;
  created_by: number | null;
  last_modified_by: number | null;
  created_at: Date;
  updated_at: Date;
}

export interface ActivityLogRow {
  id: string;
  sequence: number;
  project_id: number;
  user_id: number | null;
  activity: string;
  scope: string;
  item_id: string;
  detail: JsonObject;
  created_at: Date;
}

export interface PersonRow {
  id: number;
  project_id: number;
  uuid: string;
  properties: JsonObject;
  is_identified: boolean;
  created_at: Date;
}

export interface PersonDistinctIdRow {
  project_id: number;
  distinct_id: string;
  person_id: number;
}

export interface GroupTypeRow {
  project_id: number;
  group_type_index: number;
  group_type: string;
  name_singular: string | null;
  name_plural: string | null;
  created_at: Date;
}

export interface GroupRow {
  project_id: number;
  group_type_index: number;
  group_key: string;
  properties: JsonObject;
  created_at: Date;
}

export interface EventRow {
  received_on: string;
  project_id: number;
  uuid: string;
  event: string;
  distinct_id: string;
  person_id: number | null;
  properties: JsonObject;
  timestamp: Date;
  received_at: Date;
}

export interface CohortRow {
  id: number;
  project_id: number;
  name: string;
  description: string;
  is_static: boolean;
  cohort_type: string | null;
  filters: JsonObject | null;
  groups: JsonValue;
  deleted: boolean;
  created_by: number | null;
  created_at: Date;
  count: number | null;
  last_calculation: Date | null;
  errors_calculating: number;
  last_error: string | null;
}

export interface JobRow {
  id: number;
  project_id: number;
  kind: string;
  /** The id of the thing that the job is about. */
  subject_id: number;
  payload: JsonObject;
  state: 'waiting' | 'running' | 'done' | 'failed';
  progress: JsonObject;
  error: string | null;
  attempts: number;
  failures: number;
  locked_until: Date;
  created_at: Date;
  finished_at: Date | null;
}

export interface CohortMemberRow {
  cohort_id: number;
  person_id: number;
  added_at: Date;
}

export interface HashKeyOverrideRow {
  person_id: number;
  feature_flag_key: string;
  hash_key: string;
  created_at: Date;
}

export interface RequestUsageRow {
  project_id: number;
  day: string;
  kind: string;
  sdk: string;
  sdk_version: string;
  requests: number;
}

export interface DashboardRow {
  id: number;
  project_id: number;
  name: string;
  description: string;
  creation_mode: string;
  deleted: boolean;
  created_by: number | null;
  created_at: Date;
}

export interface DashboardTileRow {
  id: number;
  dashboard_id: number;
  flag_id: number;
  kind: string;
}

export interface FlagUsageSeriesRow {
  id: number;
  project_id: number;
  event: string;
  flag_key: string;
  variant: string;
  last_used_at: Date | null;
  last_received_at: Date | null;
}

export interface FlagUsageDayRow {
  series_id: number;
  day: string;
  calls: number;
  users: number;
  last_seen_users: number;
}

export interface FlagUsageUserRow {
  user_id: number;
  series_id: number;
  day: string;
}

export interface FlagUsageVisitorRow {
  id: number;
  project_id: number;
  distinct_id: string;
}

/** What may be written: jsonb columns as JSON text, since `pg` would send an array as SQL array. */
type Written<Row, JsonColumn extends keyof Row = never> = {
  [Column in keyof Row]: Knex.Raw | (Column extends JsonColumn ? string | null : Row[Column]);
};

type Table<Row, JsonColumn extends keyof Row = never> = Knex.CompositeTableType<
  Row,
  Partial<Written<Row, JsonColumn>>,
  Partial<Written<Row, JsonColumn>>
>;

declare module 'knex/types/tables.js' {
  interface Tables {
    projects: Table<ProjectRow>;
    users: Table<UserRow, 'hedgehog_config'>;
    project_memberships: Table<ProjectMembershipRow>;
    personal_api_keys: Table<PersonalApiKeyRow>;
    identity_revision: Table<IdentityRevisionRow>;
    feature_flags: Table<FeatureFlagRow, 'filters' | 'rollback_conditions'>;
    activity_log: Table<ActivityLogRow, 'detail'>;
    persons: Table<PersonRow, 'properties'>;
    person_distinct_ids: Table<PersonDistinctIdRow>;
    group_types: Table<GroupTypeRow>;
    groups: Table<GroupRow, 'properties'>;
    events: Table<EventRow, 'properties'>;
    cohorts: Table<CohortRow, 'filters' | 'groups'>;
    cohort_members: Table<CohortMemberRow>;
    jobs: Table<JobRow, 'payload' | 'progress'>;
    hash_key_overrides: Table<HashKeyOverrideRow>;
    request_usage: Table<RequestUsageRow>;
    dashboards: Table<DashboardRow>;
    dashboard_tiles: Table<DashboardTileRow>;
    flag_usage_series: Table<FlagUsageSeriesRow>;
    flag_usage_days: Table<FlagUsageDayRow>;
    flag_usage_users: Table<FlagUsageUserRow>;
    flag_usage_visitors: Table<FlagUsageVisitorRow>;
  }
}
