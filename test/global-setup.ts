import type { TestProject } from 'vitest/node';
import { serveTemplate } from './template-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where to ask for the migrated, empty database that every disposable database is a copy of. */
    templateUrl: string;
  }
}

/** Offers one PostgreSQL to the whole run; the returned function removes it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = await serveTemplate();
  project.provide('templateUrl', server.url);
  return () => server.close();
}
