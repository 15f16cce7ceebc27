import type { Knex } from 'knex';

/**
 * How flags are used: calls and distinct users of each flag, variant and day.
 *
 * A series is one flag key and variant under one event. Users are numbers: the id of a person, or
 * the negative id of a visitor, which is a distinct id that has no person yet. They carry no
 * foreign key: capture writes many, and the number outlives a person that is deleted.
 *
 * Distinct users are counted when they are written, because telling a million apart takes seconds.
 * A day counts its users, and those of them who were not seen on a later day: the users of all days
 * since some day are the sum of the latter.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE flag_usage_series (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      event text NOT NULL,
      flag_key text NOT NULL,
      variant text NOT NULL,
      last_used_at timestamptz(3),
      last_received_at timestamptz(3),
      UNIQUE (project_id, event, flag_key, variant)
    ) WITH (fillfactor = 50);

    -- Room on each page, so that counting up leaves the index alone.
    CREATE TABLE flag_usage_days (
      series_id integer NOT NULL,
      day date NOT NULL,
      calls bigint NOT NULL,
      users bigint NOT NULL,
      last_seen_users bigint NOT NULL,
      PRIMARY KEY (series_id, day)
    ) WITH (fillfactor = 50);

    -- The user comes first: that is what capture and merges of persons look for.
    CREATE TABLE flag_usage_users (
      user_id bigint NOT NULL,
      series_id integer NOT NULL,
      day date NOT NULL,
      PRIMARY KEY (user_id, series_id, day)
    );

    CREATE TABLE flag_usage_visitors (
      id bigint GENERATED ALWAYS AS IDENTITY,
      project_id integer NOT NULL,
      distinct_id text NOT NULL,
      PRIMARY KEY (project_id, distinct_id)
    );
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE flag_usage_visitors, flag_usage_users, flag_usage_days, flag_usage_series;
  `);
}
