import type { Db } from './db.ts';

/** How many connections of the pool are in use, idle, and waited for. */
export interface PoolStats {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Reads the state of the pool. */
export function readPoolStats(db: Db): PoolStats {
  const { pool } = db.client;
  return { used: pool.numUsed(), idle: pool.numFree(), waiting: pool.numPendingAcquires() };
}
