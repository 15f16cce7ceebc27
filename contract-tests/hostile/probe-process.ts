import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Latencies, ProbeReport, ProbeTarget } from './probe.ts';

/**
 * A process of its own that asks a service for its liveness and for honest evaluations, without
 * pause, and looks at its memory. Being apart, it does not see the load of whoever attacks.
 */
const LIVENESS_EVERY_MS = 5;
const EVALUATION_EVERY_MS = 25;
const MEMORY_EVERY_MS = 20;
const TICK_MS = 10;
const MIB_IN_KIB = 1024;

/** A time, and how long the service had waited for a processor until then. */
interface Moment {
  readonly at: number;
  readonly waitedMs: number;
}

function momentOf(): Moment {
  return { at: performance.now(), waitedMs: readWaitMs() };
}

/**
 * The time since then, without that in which the service's main thread was ready to run and the
 * machine ran something else: nobody's request is to blame for other work of the machine.
 */
function sinceMs({ at, waitedMs }: Moment): number {
  return Math.max(0, performance.now() - at - Math.max(0, readWaitMs() - waitedMs));
}

/** How long the main thread has waited for a processor; 0 where the system does not tell. */
function readWaitMs(): number {
  try {
    const [, waitedNs = '0'] = readFileSync(`/proc/${target?.pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return 0;
  }
}

/** What a client sees of one kind of request, counting those that it could not even send. */
class Series {
  #samples: number[] = [];
  #statuses: Record<string, number> = {};
  #pending: Moment | null = null;
  readonly #everyMs: number;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  begin(): void {
    this.#pending = momentOf();
  }

  end(status: string): void {
    if (this.#pending !== null) this.#record(sinceMs(this.#pending));
    this.#pending = null;
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
  }

  /** A reply that took long kept others from being asked for: they would have waited, too. */
  #record(latencyMs: number): void {
    this.#samples.push(latencyMs);
    for (let rest = latencyMs - this.#everyMs; rest > this.#everyMs; rest -= this.#everyMs) {
      this.#samples.push(rest);
    }
  }

  take(): Latencies {
    if (this.#pending !== null) {
      const waited = sinceMs(this.#pending);
      if (waited > this.#everyMs) this.#record(waited);
    }
    const sorted = this.#samples.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
    const taken = {
      count: sorted.length,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
      statuses: this.#statuses,
    };
    this.#samples = [];
    this.#statuses = {};
    return taken;
  }
}

const liveness = new Series(LIVENESS_EVERY_MS);
const evaluation = new Series(EVALUATION_EVERY_MS);
const ownDelay = monitorEventLoopDelay({ resolution: 2 });
ownDelay.enable();

let target: ProbeTarget | null = null;
let generation = 0;
let peakMb = 0;

/** Asks again and again, until there is another target. */
function ask(series: Series, everyMs: number, path: string, body: string | null): void {
  const mine = generation;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const next = () => {
    if (mine !== generation || target === null) {
      agent.destroy();
      return;
    }
    series.begin();
    const startedAt = performance.now();
    let isDone = false;
    const done = (status: string) => {
      if (isDone || mine !== generation) return;
      isDone = true;
      series.end(status);
      setTimeout(next, Math.max(0, everyMs - (performance.now() - startedAt)));
    };
    const asked = request(
      `${target.url}${path}`,
      {
        agent,
        method: body === null ? 'GET' : 'POST',
        headers: body === null ? {} : { 'content-type': 'application/json' },
        ...(target.localAddress === null ? {} : { localAddress: target.localAddress }),
      },
      (reply) => {
        reply.resume();
        reply.on('end', () => done(String(reply.statusCode)));
        reply.on('error', () => done('broken'));
      },
    );
    asked.on('error', () => done('broken'));
    asked.end(body ?? undefined);
  };
  next();
}

function readMemoryMb(): { readonly now: number; readonly peak: number } | null {
  if (target === null) return null;
  try {
    const text = readFileSync(`/proc/${target.pid}/status`, 'utf8');
    const read = (name: string) =>
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) / MIB_IN_KIB;
    return { now: read('VmRSS'), peak: read('VmHWM') };
  } catch {
    // It has ended, or this system does not tell.
    return null;
  }
}

/** Lets the kernel's own mark of the most memory begin anew; false where it cannot. */
function resetPeak(): boolean {
  try {
    writeFileSync(`/proc/${target?.pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}

function readCpuMs(): number {
  try {
    const text = readFileSync(`/proc/${target?.pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

let hasKernelPeak = false;
/** The last that was read, which a process that has ended no longer tells. */
let cpuMs = 0;
setInterval(() => {
  peakMb = Math.max(peakMb, readMemoryMb()?.now ?? 0);
  cpuMs = Math.max(cpuMs, readCpuMs());
}, MEMORY_EVERY_MS);

function report(): ProbeReport {
  const memory = readMemoryMb();
  const taken = {
    liveness: liveness.take(),
    evaluation: evaluation.take(),
    rssMb: memory?.now ?? 0,
    rssPeakMb: Math.max(peakMb, memory?.now ?? 0, hasKernelPeak ? (memory?.peak ?? 0) : 0),
    cpuMs: Math.max(cpuMs, readCpuMs()),
    ownDelayMs: ownDelay.max / 1e6,
  };
  hasKernelPeak = resetPeak();
  peakMb = memory?.now ?? 0;
  ownDelay.reset();
  return taken;
}

process.on('message', (message: { readonly watch?: ProbeTarget; readonly take?: number }) => {
  if (message.watch !== undefined) {
    target = message.watch;
    generation += 1;
    cpuMs = 0;
    peakMb = 0;
    hasKernelPeak = false;
    ask(liveness, LIVENESS_EVERY_MS, '/_liveness', null);
    if (target.evaluation !== null) {
      ask(evaluation, EVALUATION_EVERY_MS, '/flags?v=2', target.evaluation);
    }
  }
  if (message.take !== undefined) process.send?.({ take: message.take, report: report() });
});
process.on('disconnect', () => process.exit());
