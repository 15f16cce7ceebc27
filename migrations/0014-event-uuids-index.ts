import type { Knex } from 'knex';

/** Retention reads the uuids from end to end once a day; an index for it cost every event. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX event_uuids_received_on;');
}

/** Makes again what `up` dropped. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('CREATE INDEX event_uuids_received_on ON event_uuids (received_on);');
}
