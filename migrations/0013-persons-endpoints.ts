import type { Knex } from 'knex';

/** Names of group types for people, and an index to page through a project's persons. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE group_types ADD COLUMN name_singular text, ADD COLUMN name_plural text;
    CREATE INDEX persons_project_id ON persons (project_id, id);
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP INDEX persons_project_id;
    ALTER TABLE group_types DROP COLUMN name_singular, DROP COLUMN name_plural;
  `);
}
