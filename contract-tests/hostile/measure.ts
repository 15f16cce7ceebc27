import { type AttackOptions, type AttackResult, attack, freshAddress } from './attack.ts';
import type { AttackedService } from './attacked-service.ts';
import type { HostileKind } from './bodies.ts';
import { warmUp } from './honest.ts';
import { type Probe, type ProbeReport, startProbe } from './probe.ts';

/** What one kind of request did to the service and to everybody else. */
export interface Measured extends AttackResult {
  readonly name: string;
  readonly bodyBytes: number;
  readonly allowed: readonly number[];
  readonly hasDied: boolean;
  readonly cpuSeconds: number;
  /** How much memory it took above honest traffic, in MB. */
  readonly riseMb: number;
  readonly seen: ProbeReport;
}

/** A service under attack, watched from another process. */
export interface Arena {
  /** The service that runs now; started anew, and warmed up, where the last one has died. */
  service(): Promise<AttackedService>;
  /** The memory that honest traffic needs, in MB. */
  baselineMb(): number;
  measure(kind: HostileKind, options: AttackOptions): Promise<Measured>;
  /** What the probe saw while this went on. */
  during(work: (service: AttackedService) => Promise<void>): Promise<ProbeReport>;
  /** Ends the service; the next call starts another. */
  retire(): Promise<void>;
  /** Memory now, in MB. */
  rssMb(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the service by this function, now and whenever it has died. */
export async function openArena(start: () => Promise<AttackedService>): Promise<Arena> {
  const probe = startProbe();
  let running: AttackedService | null = null;
  let baselineMb = 0;

  async function service(): Promise<AttackedService> {
    if (running?.isAlive() === true) return running;
    const started = await start();
    running = started;
    probe.watch({
      url: started.url,
      pid: started.pid,
      evaluation: started.evaluation,
      localAddress: freshAddress(),
    });
    baselineMb = await warmUp(started, probe);
    return started;
  }

  try {
    await service();
  } catch (error) {
    await probe.stop();
    throw error;
  }
  return {
    service,
    baselineMb: () => baselineMb,
    async measure(kind, options) {
      const attacked = await service();
      return measure(attacked, probe, baselineMb, kind, options);
    },
    async during(work) {
      const attacked = await service();
      await probe.take();
      await work(attacked);
      return probe.take();
    },
    async retire() {
      await running?.stop();
    },
    rssMb: async () => (await probe.take()).rssMb,
    async stop() {
      await running?.stop();
      await probe.stop();
    },
  };
}

/** Where a process that is to die is given the time to. */
const DYING_MS = 300;

async function measure(
  service: AttackedService,
  probe: Probe,
  baselineMb: number,
  kind: HostileKind,
  options: AttackOptions,
): Promise<Measured> {
  const hostile = kind.build(service.keys);
  const before = await probe.take();
  const result = await attack(service.url, hostile, {
    localAddress: freshAddress(),
    isWorthIt: service.isAlive,
    ...options,
  });
  if (result.statuses.broken !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, DYING_MS));
  }
  const seen = await probe.take();
  return {
    ...result,
    name: kind.name,
    bodyBytes: hostile.body?.length ?? hostile.path.length,
    allowed: hostile.statuses,
    hasDied: !service.isAlive(),
    cpuSeconds: Math.max(0, seen.cpuMs - before.cpuMs) / 1_000,
    riseMb: seen.rssPeakMb - baselineMb,
    seen,
  };
}
