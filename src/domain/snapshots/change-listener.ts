import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { createDedicatedClient } from '../database/client.ts';
import type { DatabaseConnection, Db } from '../database/db.ts';
import { readRevisions } from '../projects/projects-queries.ts';
import { CHANGES_CHANNEL } from '../projects/projects-writes.ts';

export interface ChangeListenerOptions {
  readonly connection: DatabaseConnection;
  readonly db: Db;
  /** A project's configuration reached this revision. */
  readonly onProject: (projectId: number, revision: number) => Promise<void>;
  /** Keys, users, memberships or projects changed. */
  readonly onIdentity: () => void;
  readonly log: { warn(fields: object, message: string): void };
  /** How often revisions are compared although no notification came. */
  readonly pollEveryMs?: number;
}

export interface ChangeListener {
  /** Resolves when changes are listened for; a connection that is lost later is replaced. */
  start(): Promise<void>;
  /** Stops listening and closes the connection. */
  stop(): Promise<void>;
}

const POLL_EVERY_MS = 5_000;
const RECONNECT_FIRST_MS = 100;
const RECONNECT_MAX_MS = 5_000;
const PROJECT_CHANGE = /^project:(\d+):(\d+)$/;

/**
 * Listens for changes that other processes commit, over a connection of its own (LISTEN).
 *
 * Notifications can be lost with the connection. So all revisions are compared after each connect,
 * and every `pollEveryMs` in any case.
 */
export function createChangeListener(options: ChangeListenerOptions): ChangeListener {
  const stopping = new AbortController();
  let client: pg.Client | null = null;
  let identityRevision: number | null = null;
  let polling: Promise<void> = Promise.resolve();
  let reconnecting: Promise<void> = Promise.resolve();

  async function compareRevisions(): Promise<void> {
    const { identity, projects } = await readRevisions(options.db);
    if (identityRevision !== identity) options.onIdentity();
    identityRevision = identity;
    for (const [projectId, revision] of projects) await options.onProject(projectId, revision);
  }

  function receive(payload: string): void {
    const [, projectId, revision] = PROJECT_CHANGE.exec(payload) ?? [];
    if (projectId === undefined || revision === undefined) {
      options.onIdentity();
      return;
    }
    options.onProject(Number(projectId), Number(revision)).catch((error: unknown) => {
      options.log.warn({ err: error }, 'A change could not be loaded; the next comparison will.');
    });
  }

  /** Connects and catches up. When a step fails, nothing of the connection is left. */
  async function connect(): Promise<void> {
    const connecting = createDedicatedClient(options.connection);
    let isEnded = false;
    connecting.on('notification', (message) => receive(message.payload ?? ''));
    connecting.on('error', () => {
      // The end of the connection follows, and is dealt with there.
    });
    connecting.once('end', () => {
      isEnded = true;
      if (client !== connecting) return;
      client = null;
      if (!stopping.signal.aborted) reconnecting = reconnect();
    });
    try {
      await connecting.connect();
      await connecting.query(`LISTEN ${CHANGES_CHANNEL}`);
      await compareRevisions();
      if (isEnded) throw new Error('The connection was lost at once.');
      client = connecting;
    } catch (error) {
      await connecting.end();
      throw error;
    }
  }

  async function reconnect(): Promise<void> {
    options.log.warn({}, 'The connection that listens for changes was lost; connecting again.');
    for (let waitMs = RECONNECT_FIRST_MS; !stopping.signal.aborted; ) {
      await pause(waitMs);
      try {
        if (!stopping.signal.aborted) await connect();
        return;
      } catch {
        waitMs = Math.min(waitMs * 2, RECONNECT_MAX_MS);
      }
    }
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(options.pollEveryMs ?? POLL_EVERY_MS);
      if (stopping.signal.aborted) return;
      await compareRevisions().catch(() => {
        // The database is away; whoever needs it says so, and the next round compares again.
      });
    }
  }

  /** Waits, or returns at once when the listener stops. */
  async function pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
  }

  return {
    async start() {
      await connect();
      polling = poll();
    },
    async stop() {
      stopping.abort();
      await Promise.all([polling, reconnecting]);
      await client?.end();
    },
  };
}
