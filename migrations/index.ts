import type { Knex } from 'knex';
import * as identity from './0001-identity.ts';
import * as featureFlags from './0002-feature-flags.ts';
import * as personsAndGroups from './0003-persons-and-groups.ts';
import * as events from './0004-events.ts';
import * as evaluationData from './0005-evaluation-data.ts';

interface NamedMigration extends Knex.Migration {
  readonly name: string;
}

/** Every migration in order. Names carry no file extension, so source and build agree on them. */
const migrations: NamedMigration[] = [
  { name: '0001-identity', ...identity },
  { name: '0002-feature-flags', ...featureFlags },
  { name: '0003-persons-and-groups', ...personsAndGroups },
  { name: '0004-events', ...events },
  { name: '0005-evaluation-data', ...evaluationData },
];

/** The migration source that Knex, the service and the tests share. */
export const migrationSource: Knex.MigrationSource<NamedMigration> = {
  getMigrations: async () => migrations,
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => migration,
};
