import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** What the kernel's scheduler says of a process since its start. */
export interface ProcessorTime {
  /** Microseconds on a core, all threads together. */
  readonly used: number;
  /**
   * Microseconds in which the main thread ran, and in which it waited for a core that others had:
   * what is left of the clock's time it had nothing to do.
   */
  readonly mainUsed: number;
  readonly mainWaited: number;
}

const NANOSECONDS = 1_000;
/** The kernel counts the time of ended threads and children in ticks of this length. */
const TICK = 10_000;

/**
 * The processor time of a process by its threads, to the nanosecond; null where the system does not
 * tell (only Linux does). Threads that have ended are left out, and so are children.
 */
export function readProcessorTime(pid: number): ProcessorTime | null {
  try {
    const main = readThread(pid, String(pid));
    if (main === null) return null;
    let used = 0;
    for (const thread of readdirSync(`/proc/${pid}/task`))
      used += readThread(pid, thread)?.used ?? 0;
    return { used, mainUsed: main.used, mainWaited: main.waited };
  } catch {
    return null;
  }
}

/** Null when the thread has just ended. */
function readThread(pid: number, thread: string): { used: number; waited: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8');
    const [used, waited] = text.split(' ');
    return { used: Number(used) / NANOSECONDS, waited: Number(waited) / NANOSECONDS };
  } catch {
    return null;
  }
}

/**
 * Microseconds of processor time since the start, with threads that have ended, in steps of 10 ms.
 * Null where the system does not tell.
 */
export function readWholeTime(pid: number): number | null {
  const fields = readStat(pid);
  return fields === null ? null : (Number(fields[11]) + Number(fields[12])) * TICK;
}

/**
 * The same for a process and its children, those that have ended included: PostgreSQL makes a process
 * for each connection. With `ended only` those that still run are left out.
 */
export function readTimeWithChildren(
  pid: number,
  which: 'all' | 'ended only' = 'all',
): number | null {
  const own = readStat(pid);
  if (own === null) return null;
  let ticks = sumOf(own, 11, 14);
  if (which === 'all') {
    for (const child of childrenOf(pid)) ticks += sumOf(readStat(child) ?? [], 11, 12);
  }
  return ticks * TICK;
}

/** The PostgreSQL that a Burgee runs for itself; null when there is none. */
export function findPostgres(burgee: number): number | null {
  return childrenOf(burgee).find((child) => nameOf(child) === 'postgres') ?? null;
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

/** The processes that a process has started and that still run. */
function childrenOf(pid: number): number[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => Number(readStat(other)?.[1]) === pid);
}

/** The fields of a process behind its name, which may have spaces: state, parent and so on. */
function readStat(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

function sumOf(fields: readonly string[], first: number, last: number): number {
  return fields.slice(first, last + 1).reduce((sum, ticks) => sum + Number(ticks), 0);
}
