import { createAudienceCounter } from '../domain/audience/audience-counter.ts';
import { createEventBuffer } from '../domain/capture/commit/event-buffer.ts';
import { migrateToLatest } from '../domain/database/migrate.ts';
import { keepPartitions } from '../domain/events/partition-keeper.ts';
import { createPayloadCipher } from '../domain/flags/payloads/payload-encryption.ts';
import { createStoredDataLoader } from '../domain/persons/stored-data/stored-data-loader.ts';
import { type Bootstrapped, bootstrap } from '../domain/projects/bootstrap.ts';
import { IdentityStore } from '../domain/projects/identity-store.ts';
import { raiseProjectRevision } from '../domain/projects/projects-writes.ts';
import { createChangeListener } from '../domain/snapshots/change-listener.ts';
import { SnapshotStore } from '../domain/snapshots/snapshot-store.ts';
import { compilePattern } from '../domain/targeting/patterns.ts';
import { createRequestUsage } from '../domain/usage/requests/request-usage.ts';
import { keepFlagUsage } from '../domain/usage/upkeep/flag-usage-keeper.ts';
import { createHandlers } from '../handlers/index.ts';
import type { Load } from '../http/listener/admission.ts';
import { type Application, createListener } from '../http/listener/listener.ts';
import type { Log } from '../http/metrics/log.ts';
import { createMetrics } from '../http/metrics/metrics.ts';
import type { Config } from './config.ts';
import { createHttp } from './create-http.ts';
import { createWorker } from './create-worker.ts';
import { readEncryptionKeys } from './encryption-keys.ts';
import { createGatekeeper } from './gatekeeper.ts';
import { addGauges } from './gauges.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Log;
  /** Tells a person at the terminal what takes time. */
  readonly say: (sentence: string) => void;
  /** How often revisions are compared although no change was announced. */
  readonly pollEveryMs?: number;
  /** Gives memory back to the system once a lot was needed for a while; nothing by default. */
  readonly releaseMemory?: () => void;
  /** Ends the wait for a database that does not answer. */
  readonly signal?: AbortSignal;
}

/** A running Burgee. */
export interface Service {
  readonly port: number;
  /** The keys of the first start; null on every later one. */
  readonly bootstrapped: Bootstrapped | null;
  /** Answers what is under way, stores what was taken in, and lets go of everything. */
  stop(): Promise<void>;
}

/** How long requests that are under way may take once the service stops. */
const STOP_GRACE_MS = 10_000;

/**
 * Builds Burgee and starts it. Here, and in the two files beside it for HTTP and for the worker, is
 * where things are constructed. When a step fails, the steps before it are undone.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const listener = createListener();
  let database: OpenDatabase | null = null;
  let running: RunningApplication | null = null;
  const stop = async () => {
    try {
      await listener.close(STOP_GRACE_MS);
      await running?.close();
    } finally {
      // Whatever went wrong above, an embedded server must not be left behind.
      await database?.close();
    }
  };
  try {
    // Listening comes first, so that a port that is taken stops the start before any work is done.
    const port = await listener.listen(options.config.port, options.config.host);
    database = await startDatabase(options);
    const bootstrapped = await bootstrap(database.db, options.config.bootstrapKeys);
    running = await startApplication(options, database, () => listener.load());
    listener.open(running.application);
    return { port, bootstrapped, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface RunningApplication {
  readonly application: Application;
  close(): Promise<void>;
}

async function startDatabase(options: ServiceOptions): Promise<OpenDatabase> {
  const { config, log, say, signal } = options;
  const launchLog = {
    info: say,
    warn: (message: string) => log.warn({}, message),
    error: (message: string, cause?: unknown) => log.error({ err: cause }, message),
  };
  const database = await openDatabase(config, 'serve', launchLog, signal);
  try {
    await migrateToLatest(database.db, say);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function startApplication(
  options: ServiceOptions,
  { db, connection }: OpenDatabase,
  readLoad: () => Load,
): Promise<RunningApplication> {
  const { log, config } = options;
  const now = () => new Date();
  const metrics = createMetrics();
  const snapshots = new SnapshotStore({ db, compilePattern, now });
  const identities = new IdentityStore(db, now);
  const onCommitted = (projectId: number, revision: number) =>
    snapshots.catchUp(projectId, revision).catch((error: unknown) => {
      // The change is committed; the listener or the next comparison brings it.
      log.warn({ err: error }, 'A change could not be loaded right after its commit.');
    });
  const onIdentitiesChanged = () => {
    identities.forget();
    snapshots.forgetUnknownTokens();
  };
  const events = createEventBuffer({
    db,
    log,
    onGroupTypesAdded: async (projectId, tx) => {
      const revision = await raiseProjectRevision(tx, projectId);
      return () => onCommitted(projectId, revision);
    },
    onMergeRefused: ({ projectId, reason }) => metrics.countRefusedMerge(projectId, reason),
  });
  const usage = createRequestUsage({ db, now, log, quotas: () => quotasOf(snapshots) });
  const jobs = createWorker({ db, log, snapshots, now });
  const changes = createChangeListener({
    connection,
    db,
    log,
    onProject: (projectId, revision) => snapshots.catchUp(projectId, revision),
    onIdentity: onIdentitiesChanged,
    ...(options.pollEveryMs === undefined ? {} : { pollEveryMs: options.pollEveryMs }),
  });
  addGauges(metrics, { db, snapshots, events, readLoad });

  const handlers = createHandlers({
    db,
    loadStoredData: createStoredDataLoader(db),
    snapshots,
    events,
    usage,
    compilePattern,
    payloadCipher: createPayloadCipher(readEncryptionKeys(config)),
    limits: config.flagLimits,
    now,
    observeEvaluation: metrics.observeEvaluation,
    onCommitted,
    onIdentitiesChanged,
    onJobsAdded: () => jobs.wake(),
    countAudience: createAudienceCounter(db),
  });
  const http = await createHttp({
    ...options,
    metrics,
    handlers,
    gatekeeper: createGatekeeper(identities, snapshots),
  });

  const retentionDays = config.eventsRetentionDays;
  const partitions = await keepPartitions(db, { log, retentionDays, now });
  const flagUsage = keepFlagUsage({ db, now, retentionDays, log });
  await changes.start();
  await snapshots.loadAll();
  await usage.flush();
  jobs.start();
  return {
    application: {
      fastLane: http.fastLane,
      forwardToHapi: http.forwardToHapi,
      methodsOf: http.methodsOf,
      isReady: () => snapshots.isLoaded,
    },
    async close() {
      await jobs.stop();
      await events.close();
      await usage.close();
      await partitions.stop();
      await flagUsage.stop();
      await changes.stop();
      await http.stop();
    },
  };
}

/** The projects with a quota. */
function* quotasOf(snapshots: SnapshotStore): Iterable<readonly [number, number]> {
  for (const { project } of snapshots.list()) {
    if (project.flagRequestsPerMonth !== null) yield [project.id, project.flagRequestsPerMonth];
  }
}
