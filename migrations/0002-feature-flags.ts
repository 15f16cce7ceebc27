import type { Knex } from 'knex';

/** Feature flags and the activity log that every change of one writes to. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE feature_flags (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      key text NOT NULL,
      name text NOT NULL DEFAULT '',
      filters jsonb NOT NULL DEFAULT '{"groups": []}',
      active boolean NOT NULL DEFAULT true,
      deleted boolean NOT NULL DEFAULT false,
      version integer NOT NULL DEFAULT 1,
      ensure_experience_continuity boolean NOT NULL DEFAULT false,
      rollback_conditions jsonb,
      performed_rollback boolean NOT NULL DEFAULT false,
      tags text[] NOT NULL DEFAULT '{}',
      evaluation_tags text[] NOT NULL DEFAULT '{}',
      analytics_dashboards integer[] NOT NULL DEFAULT '{}',
      usage_dashboard integer,
      has_enriched_analytics boolean NOT NULL DEFAULT false,
      creation_context text NOT NULL DEFAULT 'feature_flags',
      is_remote_configuration boolean NOT NULL DEFAULT false,
      has_encrypted_payloads boolean NOT NULL DEFAULT false,
      evaluation_runtime text NOT NULL DEFAULT 'all',
      bucketing_identifier text NOT NULL DEFAULT 'distinct_id',
      last_called_at timestamptz(3),
      create_in_folder text,
      should_create_usage_dashboard boolean NOT NULL DEFAULT true,
      created_by integer REFERENCES users (id) ON DELETE SET NULL,
      last_modified_by integer REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now()
    );
    -- A soft-deleted flag gives its key free.
    CREATE UNIQUE INDEX feature_flags_project_key ON feature_flags (project_id, key) WHERE NOT deleted;
    CREATE INDEX feature_flags_list ON feature_flags (project_id, created_at DESC, id DESC)
      WHERE NOT deleted;

    CREATE TABLE activity_log (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      sequence bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      user_id integer REFERENCES users (id) ON DELETE SET NULL,
      activity text NOT NULL,
      scope text NOT NULL,
      item_id text NOT NULL,
      detail jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX activity_log_item ON activity_log (project_id, scope, item_id, sequence DESC);
    CREATE INDEX activity_log_scope ON activity_log (project_id, scope, sequence DESC);
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE activity_log, feature_flags;');
}
