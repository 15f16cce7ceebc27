import type { Knex } from 'knex';

/**
 * Events, partitioned by the UTC day of receipt so that retention can drop whole days.
 *
 * A partitioned table can only be unique on its partition key, so the rule "one row per project and
 * uuid" lives in event_uuids, from which retention prunes by the same day.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE events (
      received_on date NOT NULL,
      project_id integer NOT NULL,
      uuid uuid NOT NULL,
      event text NOT NULL,
      distinct_id text NOT NULL,
      person_id bigint,
      properties jsonb NOT NULL,
      timestamp timestamptz(3) NOT NULL,
      received_at timestamptz(3) NOT NULL
    ) PARTITION BY RANGE (received_on);
    CREATE INDEX events_project_timestamp ON events (project_id, timestamp DESC);
    CREATE INDEX events_project_distinct_id ON events (project_id, distinct_id, timestamp DESC);

    CREATE TABLE event_uuids (
      project_id integer NOT NULL,
      uuid uuid NOT NULL,
      received_on date NOT NULL,
      PRIMARY KEY (project_id, uuid)
    );
    CREATE INDEX event_uuids_received_on ON event_uuids (received_on);
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE event_uuids, events;');
}
