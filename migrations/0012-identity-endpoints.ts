import type { Knex } from 'knex';

/** The secret key that a rotation replaced, which works until it is deleted. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE projects ADD COLUMN secret_key_backup_hash text UNIQUE;');
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE projects DROP COLUMN secret_key_backup_hash;');
}
