import type { Knex } from 'knex';

/** Finds the few flags of a project that depend on others without reading all of its filters. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX feature_flags_dependents ON feature_flags (project_id)
      WHERE NOT deleted
        AND jsonb_path_exists(filters, '$.groups[*].properties[*] \\? (@.type == "flag")');
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX feature_flags_dependents;');
}
