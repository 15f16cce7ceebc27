import { setTimeout as delay } from 'node:timers/promises';
import { createTemporaryFolder } from '../test/temporary-folder.ts';
import { type Build, OWN_BUILD } from './build.ts';
import { KEYS } from './burgee.ts';
import type { BenchServer } from './database.ts';
import { fillProject } from './fill-project.ts';
import { startBuild } from './processes.ts';
import { findPostgres, readTimeWithChildren } from './processor-time.ts';
import { median } from './statistics.ts';

/** What a start cost, until the service said that it is ready. */
export interface Start {
  readonly wallMs: number;
  /** Processor time of the service and of what it ran on the way; NaN where the system does not tell. */
  readonly cpuMs: number;
  /** The same for its own PostgreSQL; NaN where it has none. */
  readonly postgresMs: number;
  /** Resident memory of the service a while later. */
  readonly memoryMb: number;
}

const STARTS = 5;
/** A service that is ready has still to give back what its start used. */
const IDLE_AFTER_MS = 2_000;
const IDLE_MEMORY_MB = 110;

/** Starts a build and says what that cost. */
export async function measureStart(
  build: Build,
  env: Readonly<Record<string, string>>,
): Promise<Start> {
  const burgee = await startBuild(build, env, 'free');
  try {
    const cpuMs = (readTimeWithChildren(burgee.pid, 'ended only') ?? Number.NaN) / 1_000;
    const postgres = findPostgres(burgee.pid);
    const postgresMs = ((postgres && readTimeWithChildren(postgres)) ?? Number.NaN) / 1_000;
    await delay(IDLE_AFTER_MS);
    const memoryMb = burgee.memoryMb() ?? Number.NaN;
    return { wallMs: burgee.readyAfterMs, cpuMs, postgresMs, memoryMb };
  } finally {
    await burgee.stop();
  }
}

/** Measures starts on data that is there already, and prints; returns the targets that were missed. */
export async function reportStarts(server: BenchServer): Promise<string[]> {
  const folder = createTemporaryFolder();
  const database = await server.createDatabase();
  try {
    console.log(`\nFrom start to ready with a project of 100 flags; medians of ${STARTS}`);
    const own = { ...KEYS, DATABASE_URL: '', BURGEE_DATA_DIR: `${folder.path}/data` };
    return [
      ...(await report('with DATABASE_URL', { ...KEYS, DATABASE_URL: database.url })),
      ...(await report('with the embedded database', own)),
    ];
  } finally {
    await database.close();
    folder.remove();
  }
}

async function report(name: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  await prepareStart(OWN_BUILD, env);
  const starts: Start[] = [];
  while (starts.length < STARTS) starts.push(await measureStart(OWN_BUILD, env));
  const of = (read: (start: Start) => number) => median(starts.map(read)).toFixed(0);
  const postgresMs = of((start) => start.postgresMs);
  console.log(
    `  ${name.padEnd(28)} ${of((start) => start.wallMs)} ms, ${of((start) => start.cpuMs)} ms of CPU` +
      `${postgresMs === 'NaN' ? '' : ` and ${postgresMs} ms of PostgreSQL's`}; ` +
      `then idle with ${of((start) => start.memoryMb)} MB`,
  );
  const memoryMb = median(starts.map((start) => start.memoryMb));
  return memoryMb >= IDLE_MEMORY_MB ? [`${name}: idle with ${memoryMb.toFixed(0)} MB`] : [];
}

/** Makes the tables and a project, so that what is measured is the start of a service that is in use. */
export async function prepareStart(
  build: Build,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const burgee = await startBuild(build, env, 'free');
  try {
    await fillProject(burgee.url, { flags: 100, kind: 'request properties' });
  } finally {
    await burgee.stop();
  }
}
