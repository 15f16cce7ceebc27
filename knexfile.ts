import type { Knex } from 'knex';
import { migrationSource } from './migrations/index.ts';

/** For the Knex command line: `DATABASE_URL=... npx tsx node_modules/.bin/knex migrate:status`. */
const config: Knex.Config = {
  client: 'pg',
  ...(process.env.DATABASE_URL === undefined ? {} : { connection: process.env.DATABASE_URL }),
  migrations: { migrationSource },
};

export default config;
