import type { Knex } from 'knex';

/** Dashboards, and on their tiles what to show of which flag. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE dashboards (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      name text NOT NULL,
      description text NOT NULL DEFAULT '',
      creation_mode text NOT NULL,
      deleted boolean NOT NULL DEFAULT false,
      created_by integer REFERENCES users (id) ON DELETE SET NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX dashboards_project ON dashboards (project_id, id) WHERE NOT deleted;

    CREATE TABLE dashboard_tiles (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      dashboard_id integer NOT NULL REFERENCES dashboards (id) ON DELETE CASCADE,
      flag_id integer NOT NULL REFERENCES feature_flags (id) ON DELETE CASCADE,
      kind text NOT NULL
        CHECK (kind IN ('calls', 'unique_users', 'feature_views', 'feature_interactions')),
      UNIQUE (dashboard_id, flag_id, kind)
    );
    CREATE INDEX dashboard_tiles_flag ON dashboard_tiles (flag_id);
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE dashboard_tiles, dashboards;');
}
