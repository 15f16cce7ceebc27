import { expect } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../test/disposable-database.ts';
import { buildService } from '../built-service.ts';
import { databaseUrlOf } from '../start-burgee.ts';
import { attack } from './attack.ts';
import { startAttackedService } from './attacked-service.ts';
import { expectOthersServed, LEFT_MAX_MB, RISE_MAX_MB, summaryOf } from './bounds.ts';
import { honestRequests } from './honest.ts';
import { type Arena, openArena } from './measure.ts';
import type { ProbeReport } from './probe.ts';
import { countQueries } from './query-count.ts';

/** How long the ground may take to be made, by far. */
export const START_TIMEOUT_MS = 120_000;
/** Enough for V8 to notice that nobody needs its garbage any more. */
export const BACK_TIMEOUT_MS = 60_000;

/** A built service on a database of its own, for the tests of one file. */
export interface Ground {
  readonly arena: Arena;
  readonly database: DisposableDatabase;
  /** Queries of the service so far. */
  queries(): number;
  /** Fails unless others were served, and memory stayed in its bound. */
  expectRoomForOthers(seen: ProbeReport, atOnce?: number): void;
  /** Waits until memory is about what honest traffic needs. */
  expectMemoryBack(): Promise<void>;
  remove(): Promise<void>;
}

/** Builds the service, starts it and warms it up. */
export async function prepareGround(): Promise<Ground> {
  buildService();
  const database = await createDisposableDatabase();
  const queries = await countQueries(database.connection);
  const env = { DATABASE_URL: databaseUrlOf(queries.connection) };
  const arena = await openArena(() => startAttackedService({ env }));
  return {
    arena,
    database,
    queries: queries.count,
    expectRoomForOthers(seen, atOnce = 1) {
      const told = JSON.stringify(summaryOf(seen));
      expectOthersServed(seen, told);
      expect(seen.rssPeakMb - arena.baselineMb(), told).toBeLessThanOrEqual(RISE_MAX_MB * atOnce);
    },
    async expectMemoryBack() {
      await expect
        .poll(() => rssAfterHonestTraffic(arena), { timeout: BACK_TIMEOUT_MS, interval: 500 })
        .toBeLessThan(arena.baselineMb() + LEFT_MAX_MB);
    },
    async remove() {
      await arena.stop();
      await queries.close();
      await database.destroy();
    },
  };
}

/** Memory after honest traffic, which gives V8 reasons to collect its garbage. */
async function rssAfterHonestTraffic(arena: Arena): Promise<number> {
  const service = await arena.service();
  for (const honest of honestRequests(service)) {
    await attack(service.url, honest, { requests: 20, connections: 2 });
  }
  return arena.rssMb();
}
