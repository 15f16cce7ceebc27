import { setTimeout as delay } from 'node:timers/promises';
import { askServer, type ConnectionParts, connectionTo, ensureDatabase } from './connection.ts';
import { type BinaryPackage, findBinaryPackage, prepareBinaries } from './install/binaries.ts';
import { hasDatabase, initialiseDatabase } from './install/data-folder.ts';
import { EmbeddedPostgresError, explainingAccess } from './install/error.ts';
import { createBase, type Layout, layOut } from './install/layout.ts';
import type { EmbeddedPostgresOptions, LaunchLog } from './install/options.ts';
import { readOrCreatePassword, readPassword } from './install/password.ts';
import { chooseEndpoint, type Endpoint, endpointOf } from './server/endpoint.ts';
import { type FolderLock, type LockHolder, tryLockFolder } from './server/lock.ts';
import { readPostmasterFile } from './server/postmaster.ts';
import { mayBePostgresIn } from './server/process.ts';
import {
  adoptServer,
  type OwnedServer,
  type ServerPlan,
  startServer,
  stopServer,
} from './server/server.ts';
import { supervise } from './server/supervisor.ts';

/** A running embedded database. */
export interface EmbeddedPostgres {
  readonly connection: ConnectionParts;
  /** PostgreSQL's own folder; not always inside the data folder. */
  readonly dataFolder: string;
  /** Stops the server and frees the data folder; a server that was only joined stays. */
  stop(): Promise<void>;
}

const POLL_MS = 50;

/** A command that works, a server that recovers: all that is worth waiting for ends sooner. */
const WAIT_TIMEOUT_MS = 60_000;

/**
 * Starts the embedded PostgreSQL of a data folder, or joins the one that runs there already.
 *
 * A service (`serve`) has the folder for itself, takes over a server that a killed Burgee left
 * running, and restarts the server when it dies. A command (`adopt-or-start`) joins a running
 * server and leaves it running, or runs one until `stop`. Throws an `EmbeddedPostgresError` that
 * tells the operator what to do.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  return explainingAccess(options.dataDir, async () => {
    const found = findBinaryPackage();
    const layout = layOut(options.dataDir, options.systemFolder);
    const lock = await lockOrJoin(layout, options);
    if ('connection' in lock) return lock;
    try {
      return await startLocked({ found, layout, options, lock });
    } catch (error) {
      lock.release();
      throw error;
    }
  });
}

/** The lock, or for a command the database of the service that has it. */
async function lockOrJoin(
  layout: Layout,
  options: EmbeddedPostgresOptions,
): Promise<FolderLock | EmbeddedPostgres> {
  const role = options.mode === 'serve' ? 'service' : 'command';
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  for (let isFirstTry = true; ; isFirstTry = false) {
    const attempt = await tryLockFolder(layout.lockFile, role);
    if ('lock' in attempt) return attempt.lock;
    const { holder } = attempt;
    if (holder.role === 'service') {
      if (role === 'service') throw alreadyInUse(layout, holder);
      const running = await findRunningServer(layout);
      if (running !== undefined) return await joined(layout, running.connection);
    }
    if (Date.now() > deadline) throw alreadyInUse(layout, holder);
    if (isFirstTry) options.log.info(`Waiting for ${describe(holder)} in ${layout.shownAs}`);
    await delay(POLL_MS);
  }
}

interface LockedStart {
  readonly found: BinaryPackage;
  readonly layout: Layout;
  readonly options: EmbeddedPostgresOptions;
  readonly lock: FolderLock;
}

async function startLocked(start: LockedStart): Promise<EmbeddedPostgres> {
  const { found, layout, options, lock } = start;
  const hasData = hasDatabase(layout.dataFolder, found);
  const running = hasData ? await waitForRunningServer(layout, options.log) : undefined;
  if (running !== undefined && options.mode === 'adopt-or-start') {
    lock.release();
    return await joined(layout, running.connection);
  }
  createBase(layout);
  if (layout.base !== layout.dataDir) {
    options.log.info(
      `The database lives in ${layout.dataFolder} and not in ${layout.dataDir}, because PostgreSQL ` +
        `cannot run as root and the account ${layout.account?.name ?? ''} could not reach that folder`,
    );
  }
  const binaries = prepareBinaries(found, layout.base, layout.account, options.log);
  const transport = options.transport ?? (process.platform === 'win32' ? 'tcp' : 'socket');
  const plan: ServerPlan = {
    layout,
    binaries,
    endpoint: running?.endpoint ?? (await chooseEndpoint(layout, transport)),
    settings: options.settings ?? {},
    log: options.log,
  };
  if (!hasData) await prepareFirstStart(start, plan);
  const password = readPassword(layout);
  const server = running === undefined ? await startServer(plan) : takeOver(start, running);
  const connection = connectionTo(plan.endpoint, password);
  try {
    await ensureDatabase(connection);
  } catch (error) {
    await stopServer(plan, server);
    throw error;
  }
  return owned(start, plan, server, connection);
}

async function prepareFirstStart(start: LockedStart, plan: ServerPlan): Promise<void> {
  const { found, layout, options } = start;
  options.log.info(
    `Preparing PostgreSQL ${found.version} in ${layout.shownAs} (first start only, takes a few seconds)`,
  );
  const isDurable = options.settings?.fsync !== 'off';
  await initialiseDatabase(layout, plan.binaries, readOrCreatePassword(layout), isDurable);
}

function takeOver({ layout, options }: LockedStart, running: RunningServer): OwnedServer {
  options.log.warn(
    `Taking over the PostgreSQL server (process ${running.pid}) that an earlier Burgee left ` +
      `running in ${layout.shownAs}`,
  );
  return adoptServer(layout, running.pid);
}

function owned(
  { layout, options, lock }: LockedStart,
  plan: ServerPlan,
  server: OwnedServer,
  connection: ConnectionParts,
): EmbeddedPostgres {
  const supervisor = options.mode === 'serve' ? supervise(plan, server, options.log) : undefined;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await (supervisor?.stop() ?? stopServer(plan, server));
    lock.release();
  };
  return {
    connection,
    dataFolder: layout.dataFolder,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** The service that runs the server may not have come to creating the database yet. */
async function joined(layout: Layout, connection: ConnectionParts): Promise<EmbeddedPostgres> {
  await ensureDatabase(connection);
  return { connection, dataFolder: layout.dataFolder, stop: async () => {} };
}

interface RunningServer {
  readonly pid: number;
  readonly endpoint: Endpoint;
  readonly connection: ConnectionParts;
}

/** The folder's living server that answers to our password, if it answers now. */
async function findRunningServer(layout: Layout): Promise<RunningServer | undefined> {
  const file = readPostmasterFile(layout.dataFolder);
  const endpoint = file === undefined ? undefined : endpointOf(file);
  if (file === undefined || endpoint === undefined) return undefined;
  const connection = connectionTo(endpoint, readPassword(layout));
  const answer = await askServer(connection, layout.dataFolder);
  if (answer === 'silent') return undefined;
  const isOfThisMachine = mayBePostgresIn(layout.dataFolder, file.pid);
  if (answer === 'ours' && isOfThisMachine) return { pid: file.pid, endpoint, connection };
  // The TCP port of a dead server may belong to any other by now; nobody else has our socket.
  if (!endpoint.isSocket && !isOfThisMachine) return undefined;
  throw foreignServer(layout, file.pid, FOREIGN[answer]);
}

const FOREIGN = {
  ours: 'is none of this machine, or of this container',
  'of-another-folder': 'says that it serves another folder',
  'wrong-password': 'refuses the password that is stored beside the data',
} as const;

/** As `findRunningServer`, and waits for a server that is still starting or stopping. */
async function waitForRunningServer(
  layout: Layout,
  log: LaunchLog,
): Promise<RunningServer | undefined> {
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  for (let isFirstTry = true; ; isFirstTry = false) {
    const running = await findRunningServer(layout);
    if (running !== undefined) return running;
    const file = readPostmasterFile(layout.dataFolder);
    if (file === undefined || !mayBePostgresIn(layout.dataFolder, file.pid)) return undefined;
    if (Date.now() > deadline) throw foreignServer(layout, file.pid, 'does not answer');
    if (isFirstTry) log.info(`Waiting for the PostgreSQL server (process ${file.pid}) to answer`);
    await delay(POLL_MS);
  }
}

function describe(holder: LockHolder): string {
  const kind = holder.role === 'service' ? 'Burgee' : 'Burgee command';
  return `another ${kind} (process ${holder.pid})`;
}

function alreadyInUse(layout: Layout, holder: LockHolder): EmbeddedPostgresError {
  const text = describe(holder);
  return new EmbeddedPostgresError(
    `A${text.slice(1)} is already using ${layout.shownAs}. Stop it first, or give this one another ` +
      `data folder. If no such process runs, delete ${layout.lockFile}.`,
  );
}

function foreignServer(layout: Layout, pid: number, why: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `A PostgreSQL server (process ${pid}) runs on ${layout.dataFolder} and ${why}. Stop that ` +
      'server, then start Burgee again.',
  );
}
