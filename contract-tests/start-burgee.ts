import { type Config, readConfig } from '../src/app/config.ts';
import { startService } from '../src/app/service.ts';
import { type ConnectionParts, createDb, type Db } from '../src/domain/database/db.ts';
import { createDisposableDatabase } from '../test/disposable-database.ts';
import { createHttpClient, type HttpReply, type SendRequest } from './http.ts';
import {
  createIdentities,
  type TestKey,
  type TestKeyOptions,
  type TestProject,
} from './identities.ts';
import { pickNumber, pickText } from './read.ts';

/** The keys of every Burgee that a test starts on an empty database. */
export const PROJECT_API_KEY = 'phc_contractTestsProjectApiKey00000000000001';
export const PERSONAL_API_KEY = 'phx_contractTestsPersonalApiKey00000000000001';
export const PROJECT_SECRET_KEY = 'phs_contractTestsProjectSecretKey0000000000001';

export interface BurgeeOptions {
  /** An existing database, which is kept; without one a new database is made and dropped. */
  readonly connection?: ConnectionParts;
  /** Rare by default, so that a test sees what announcements do and not the backstop. */
  readonly pollEveryMs?: number;
  /** Environment variables besides those that every test has. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One entry of the structured log. */
export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A flag that a test created. */
export interface TestFlag {
  readonly id: number;
  readonly key: string;
  readonly path: string;
  readonly body: unknown;
}

/** A started Burgee, as a client sees it, and what a test needs around it. */
export interface StartedBurgee {
  readonly url: string;
  readonly projectApiKey: string;
  readonly personalApiKey: string;
  readonly projectSecretKey: string;
  readonly connection: ConnectionParts;
  readonly db: Db;
  /** Sends a request without credentials. */
  readonly request: SendRequest;
  /** Sends a request with the first personal API key, unless `key` names another. */
  readonly api: SendRequest;
  /** Asks for the values of flags; `body` is added to token and distinct id. */
  evaluate(body?: object, query?: Record<string, string>): Promise<HttpReply>;
  /** Creates a flag of project 1, fully rolled out unless `partial` says otherwise. */
  createFlag(partial?: object): Promise<TestFlag>;
  createKey(options?: TestKeyOptions): Promise<TestKey>;
  createProject(name?: string): Promise<TestProject>;
  setQuota(projectId: number, perMonth: number | null): Promise<void>;
  addMember(projectId: number, email: string): Promise<void>;
  removeMember(projectId: number, email: string): Promise<void>;
  revokeKey(id: string): Promise<void>;
  log(): readonly LogEntry[];
  /** What was logged at error level; a sound test leaves none. */
  errors(): readonly LogEntry[];
  stop(): Promise<void>;
}

const DEFAULT_POLL_EVERY_MS = 60_000;

/** Starts the service in this process on a disposable database and a free port. */
export async function startBurgee(options: BurgeeOptions = {}): Promise<StartedBurgee> {
  const database = await openDatabase(options.connection);
  const entries: LogEntry[] = [];
  const service = await startService({
    config: configFor(database.connection, options.env),
    log: collectLog(entries),
    say: () => {},
    pollEveryMs: options.pollEveryMs ?? DEFAULT_POLL_EVERY_MS,
  }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const url = `http://127.0.0.1:${service.port}`;
  const client = createHttpClient(url);
  const api: SendRequest = (method, path, sent = {}) =>
    client.send(method, path, { key: PERSONAL_API_KEY, ...sent });
  return {
    url,
    projectApiKey: PROJECT_API_KEY,
    personalApiKey: PERSONAL_API_KEY,
    projectSecretKey: PROJECT_SECRET_KEY,
    connection: database.connection,
    db: database.db,
    request: client.send,
    api,
    evaluate: (body = {}, query = { v: '2' }) =>
      client.send('POST', '/flags', {
        query,
        body: { token: PROJECT_API_KEY, distinct_id: 'a-person', ...body },
      }),
    createFlag: (partial = {}) => createFlag(api, partial),
    ...createIdentities(databaseUrlOf(database.connection)),
    log: () => entries,
    errors: () => entries.filter((entry) => entry.level === 'error'),
    async stop() {
      client.close();
      await service.stop();
      await database.close();
    },
  };
}

async function openDatabase(connection: ConnectionParts | undefined) {
  if (connection === undefined) {
    const own = await createDisposableDatabase();
    return { db: own.db, connection: own.connection, close: () => own.destroy() };
  }
  const db = createDb(connection);
  return { db, connection, close: () => db.destroy() };
}

function configFor(connection: ConnectionParts, env: BurgeeOptions['env']): Config {
  return readConfig({
    PORT: '0',
    DATABASE_URL: databaseUrlOf(connection),
    BURGEE_PROJECT_API_KEY: PROJECT_API_KEY,
    BURGEE_PERSONAL_API_KEY: PERSONAL_API_KEY,
    BURGEE_PROJECT_SECRET_KEY: PROJECT_SECRET_KEY,
    BURGEE_ENCRYPTION_KEYS: 'an-encryption-key-for-contract-tests',
    // Outside production every reply is held to the contract, and a fault becomes a 500.
    NODE_ENV: 'test',
    ...env,
  });
}

/** The host may be the folder of a Unix socket, which a URL can only name in its query. */
export function databaseUrlOf({ host, port, user, password, database }: ConnectionParts): string {
  const [name, secret] = [user, password].map(encodeURIComponent);
  const where = encodeURIComponent(host);
  return `postgres://${name}:${secret}@localhost:${port}/${database}?host=${where}`;
}

function collectLog(entries: LogEntry[]) {
  const at = (level: LogEntry['level']) => (fields: object, message: string) => {
    entries.push({ level, fields, message });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

let flags = 0;

async function createFlag(api: SendRequest, partial: object): Promise<TestFlag> {
  flags += 1;
  const created = await api('POST', '/api/projects/1/feature_flags/', {
    body: {
      key: `flag-${flags}`,
      filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
      ...partial,
    },
  });
  if (created.status !== 201) throw new Error(`No flag was created: ${created.text}`);
  const id = pickNumber(created.body, 'id');
  return {
    id,
    key: pickText(created.body, 'key'),
    path: `/api/projects/1/feature_flags/${id}/`,
    body: created.body,
  };
}
