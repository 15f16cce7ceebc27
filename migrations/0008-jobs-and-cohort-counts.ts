import type { Knex } from 'knex';

/** Work that goes on after its request was answered, and what it finds out about cohorts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE jobs (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      kind text NOT NULL,
      subject_id integer NOT NULL,
      payload jsonb NOT NULL,
      state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'running', 'done', 'failed')),
      progress jsonb NOT NULL DEFAULT '{}',
      error text,
      attempts integer NOT NULL DEFAULT 0,
      failures integer NOT NULL DEFAULT 0,
      locked_until timestamptz(3) NOT NULL DEFAULT now(),
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      finished_at timestamptz(3)
    );
    CREATE INDEX jobs_claimable ON jobs (locked_until) WHERE state IN ('waiting', 'running');
    CREATE INDEX jobs_subject ON jobs (subject_id, kind) WHERE state IN ('waiting', 'running');
    CREATE INDEX jobs_finished ON jobs (finished_at) WHERE state IN ('done', 'failed');

    ALTER TABLE cohorts
      ADD COLUMN count bigint,
      ADD COLUMN last_calculation timestamptz(3),
      ADD COLUMN errors_calculating integer NOT NULL DEFAULT 0,
      ADD COLUMN last_error text;
    UPDATE cohorts c
      SET count = (SELECT count(*) FROM cohort_members m WHERE m.cohort_id = c.id)
      WHERE is_static;
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE cohorts
      DROP COLUMN count,
      DROP COLUMN last_calculation,
      DROP COLUMN errors_calculating,
      DROP COLUMN last_error;
    DROP TABLE jobs;
  `);
}
