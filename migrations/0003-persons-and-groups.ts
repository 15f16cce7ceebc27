import type { Knex } from 'knex';

/** Persons with their distinct ids, group types and groups: what evaluation reads of stored data. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE persons (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      uuid uuid NOT NULL DEFAULT gen_random_uuid(),
      properties jsonb NOT NULL DEFAULT '{}',
      is_identified boolean NOT NULL DEFAULT false,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX persons_project_uuid ON persons (project_id, uuid);

    CREATE TABLE person_distinct_ids (
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      distinct_id text NOT NULL,
      person_id bigint NOT NULL REFERENCES persons (id) ON DELETE CASCADE,
      PRIMARY KEY (project_id, distinct_id)
    );
    CREATE INDEX person_distinct_ids_person ON person_distinct_ids (person_id);

    CREATE TABLE group_types (
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      group_type_index smallint NOT NULL CHECK (group_type_index BETWEEN 0 AND 4),
      group_type text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, group_type_index),
      UNIQUE (project_id, group_type)
    );

    CREATE TABLE groups (
      project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      group_type_index smallint NOT NULL,
      group_key text NOT NULL,
      properties jsonb NOT NULL DEFAULT '{}',
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, group_type_index, group_key)
    );
  `);
}

/** Drops what `up` created. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE groups, group_types, person_distinct_ids, persons;');
}
