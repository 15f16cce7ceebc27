import type { Knex } from 'knex';

/**
 * What evaluation reads beyond properties: cohorts, the members of static ones, the identifiers
 * that experience continuity keeps, and the count of requests that quotas are held against.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE cohorts (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      name text NOT NULL,
      description text NOT NULL DEFAULT '',
      is_static boolean NOT NULL DEFAULT false,
      cohort_type text,
      filters jsonb,
      groups jsonb NOT NULL DEFAULT '[]',
      deleted boolean NOT NULL DEFAULT false,
      created_by integer REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX cohorts_project ON cohorts (project_id, id) WHERE NOT deleted;

    CREATE TABLE cohort_members (
      cohort_id integer NOT NULL REFERENCES cohorts (id) ON DELETE CASCADE,
      person_id bigint NOT NULL REFERENCES persons (id) ON DELETE CASCADE,
      added_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (cohort_id, person_id)
    );
    CREATE INDEX cohort_members_person ON cohort_members (person_id);

    CREATE TABLE hash_key_overrides (
      person_id bigint NOT NULL REFERENCES persons (id) ON DELETE CASCADE,
      feature_flag_key text NOT NULL,
      hash_key text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (person_id, feature_flag_key)
    );

    ALTER TABLE projects ADD COLUMN flag_requests_per_month bigint
      CHECK (flag_requests_per_month >= 0);

    CREATE TABLE request_usage (
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      day date NOT NULL,
      kind text NOT NULL,
      sdk text NOT NULL,
      sdk_version text NOT NULL,
      requests bigint NOT NULL,
      PRIMARY KEY (project_id, day, kind, sdk, sdk_version)
    );
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE request_usage, hash_key_overrides, cohort_members, cohorts;
    ALTER TABLE projects DROP COLUMN flag_requests_per_month;
  `);
}
