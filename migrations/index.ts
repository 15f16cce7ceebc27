import type { Knex } from 'knex';
import * as identity from './0001-identity.ts';
import * as featureFlags from './0002-feature-flags.ts';
import * as personsAndGroups from './0003-persons-and-groups.ts';
import * as events from './0004-events.ts';
import * as evaluationData from './0005-evaluation-data.ts';
import * as flagDependencies from './0006-flag-dependencies.ts';
import * as jobsAndCohortCounts from './0008-jobs-and-cohort-counts.ts';
import * as dashboards from './0010-dashboards.ts';
import * as flagUsage from './0011-flag-usage.ts';
import * as identityEndpoints from './0012-identity-endpoints.ts';
import * as personsEndpoints from './0013-persons-endpoints.ts';
import * as eventUuidsIndex from './0014-event-uuids-index.ts';

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
  { name: '0006-flag-dependencies', ...flagDependencies },
  { name: '0008-jobs-and-cohort-counts', ...jobsAndCohortCounts },
  { name: '0010-dashboards', ...dashboards },
  { name: '0011-flag-usage', ...flagUsage },
  { name: '0012-identity-endpoints', ...identityEndpoints },
  { name: '0013-persons-endpoints', ...personsEndpoints },
  { name: '0014-event-uuids-index', ...eventUuidsIndex },
];

/** The migration source that Knex, the service and the tests share. */
export const migrationSource: Knex.MigrationSource<NamedMigration> = {
  getMigrations: async () => migrations,
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => migration,
};
