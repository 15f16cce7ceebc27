import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { createProject, createUser } from '../../projects/projects-commands.ts';
import { compilePattern } from '../../targeting/patterns.ts';
import { deleteFlags, updateTags } from './flags-bulk-commands.ts';
import {
  createFlag,
  type FlagCommandsContext,
  setFlagActive,
  updateFlag,
} from './flags-commands.ts';
import type { Author } from './flags-writes.ts';

/** The lock that stops every write of the activity log while somebody else holds it. */
const GATE = 4_711;

let database: DisposableDatabase;
let gatekeeper: pg.Client;
let author: Author;
let flagId = 0;
let committed = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  gatekeeper = new pg.Client(database.connection);
  await gatekeeper.connect();
  await database.db.raw(`
    CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(${GATE});
      RETURN NEW;
    END $$;
    CREATE TRIGGER gate BEFORE INSERT ON activity_log
      FOR EACH ROW EXECUTE FUNCTION wait_at_gate();
  `);
});

afterAll(async () => {
  await gatekeeper.end();
  await database.destroy();
});

beforeEach(async () => {
  author = await database.db.transaction(async (tx) => {
    const { project } = await createProject(tx, { name: 'p' });
    const user = await createUser(tx, { email: `user-${project.id}@example.com` });
    return { projectId: project.id, userId: user.id };
  });
  const { flag } = await createFlag(context(), author, { key: 'stored', tags: ['a'] });
  flagId = flag.id;
  committed = 0;
});

afterEach(() => gatekeeper.query('SELECT pg_advisory_unlock_all()'));

function context(): FlagCommandsContext {
  return {
    db: database.db,
    compilePattern,
    payloadCipher: null,
    limits: { maxFlagsPerProject: 2_000, maxFiltersBytes: 524_288 },
    now: () => new Date(),
    onCommitted: async () => {
      committed += 1;
    },
  };
}

/** Everything of the project that a command writes. */
async function everything() {
  const { projectId } = author;
  return {
    flags: await database.db('feature_flags').where({ project_id: projectId }).orderBy('id'),
    log: await database.db('activity_log').where({ project_id: projectId }).orderBy('sequence'),
    project: await database.db('projects').where({ id: projectId }).first(),
  };
}

/** The process of the connection that waits at the gate, once there is one. */
async function waiting(): Promise<number> {
  for (;;) {
    const { rows } = await gatekeeper.query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = ${GATE}`,
    );
    if (rows[0] !== undefined) return rows[0].pid;
  }
}

describe('a command whose connection dies between its statements', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['create', () => createFlag(context(), author, { key: 'new' })],
    [
      'update',
      () => updateFlag(context(), author, flagId, { name: 'x', filters: { groups: [{}] } }),
    ],
    ['delete', () => updateFlag(context(), author, flagId, { deleted: true })],
    ['disable', () => setFlagActive(context(), author, flagId, false)],
    ['delete many', () => deleteFlags(context(), author, { ids: [flagId] })],
    ['tag many', () => updateTags(context(), author, [flagId], 'set', ['b'])],
  ])('leaves nothing behind, says so, and can be run again: %s', async (_what, command) => {
    const before = await everything();
    await gatekeeper.query(`SELECT pg_advisory_lock(${GATE})`);
    const running = command();
    const outcome = expect(running).rejects.toMatchObject({ kind: 'unavailable' });
    const pid = await waiting();
    await gatekeeper.query('SELECT pg_terminate_backend($1)', [pid]);
    await outcome;
    await gatekeeper.query(`SELECT pg_advisory_unlock(${GATE})`);
    expect(await everything()).toEqual(before);
    expect(committed).toBe(0);
    await command();
    const after = await everything();
    expect(after.log).toHaveLength(before.log.length + 1);
    expect(after.flags).not.toEqual(before.flags);
    expect(committed).toBe(1);
  });
});
