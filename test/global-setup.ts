import type { TestProject } from 'vitest/node';
import type { ConnectionParts } from '../src/domain/database/db.ts';
import { startDisposablePostgres } from './disposable-postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The migrated, empty database that every disposable database is a copy of. */
    templateDatabase: ConnectionParts;
  }
}

/** Starts one PostgreSQL for the whole run; the returned function removes it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = await startDisposablePostgres();
  project.provide('templateDatabase', server.connection);
  return () => server.destroy();
}
