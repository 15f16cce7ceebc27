import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Whom a probe watches. */
export interface ProbeTarget {
  readonly url: string;
  readonly pid: number;
  /** The body of an honest evaluation; null asks for none. */
  readonly evaluation: string | null;
  /** The address that it asks from; null leaves that to the system. */
  readonly localAddress: string | null;
}

/**
 * How long replies took, without the time in which the machine kept the service waiting for a
 * processor, where the system tells that; those that were not asked for because one took long are counted, too. */
export interface Latencies {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** What happened since the report before. */
export interface ProbeReport {
  readonly liveness: Latencies;
  readonly evaluation: Latencies;
  readonly rssMb: number;
  readonly rssPeakMb: number;
  /** Processor time since the service started. */
  readonly cpuMs: number;
  /** The longest that the probe itself was held up, which says how busy the machine is. */
  readonly ownDelayMs: number;
}

export interface Probe {
  watch(target: ProbeTarget): void;
  /** What was seen since the last call, and begins anew. */
  take(): Promise<ProbeReport>;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./probe-process.ts', import.meta.url));

interface Answer {
  readonly take: number;
  readonly report: ProbeReport;
}

/** Starts the process that watches a service. */
export function startProbe(): Probe {
  const child: ChildProcess = fork(PROGRAM, { execArgv: ['--import', 'tsx'] });
  const waiting = new Map<number, (report: ProbeReport) => void>();
  let takes = 0;
  child.on('message', ({ take, report }: Answer) => {
    waiting.get(take)?.(report);
    waiting.delete(take);
  });
  return {
    watch: (target) => {
      child.send({ watch: target });
    },
    take: () => {
      takes += 1;
      const take = takes;
      return new Promise((resolve) => {
        waiting.set(take, resolve);
        child.send({ take });
      });
    },
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
