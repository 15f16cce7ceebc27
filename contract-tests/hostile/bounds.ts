import { expect } from 'vitest';
import type { AttackOptions } from './attack.ts';
import type { HostileKind } from './bodies.ts';
import type { Arena, Measured } from './measure.ts';
import type { Latencies, ProbeReport } from './probe.ts';

/** What nobody may do to everybody else. */
export const LIVENESS_P99_MS = 100;
export const RISE_MAX_MB = 128;
/** Above honest traffic, once an attack is over and garbage had time to be collected. */
export const LEFT_MAX_MB = 64;

/** How often a machine may have been busy with something else at the wrong moment. */
const TRIES = 3;
/** What no other work of a machine explains. */
const BUSY_MAX_MS = 1_000;

/** Replies that say to come back later. */
const LATER: ReadonlySet<string> = new Set(['429', '503']);

/** Sends a kind of request until the machine had time for it, and holds it to every bound. */
export async function expectBounded(
  arena: Arena,
  kind: HostileKind,
  options: AttackOptions,
): Promise<void> {
  let measured = await arena.measure(kind, options);
  for (let again = 1; again < TRIES && isSlow(measured); again += 1) {
    measured = await arena.measure(kind, options);
  }
  const told = describeMeasured(measured);
  expect(measured.hasDied, `it died: ${told}`).toBe(false);
  const allowed = new Set(measured.allowed.map(String));
  // Node ends the connection of a head that is too large while its client may still be sending.
  if ('431' in measured.statuses) allowed.add('broken');
  const others = Object.keys(measured.statuses).filter((status) => !allowed.has(status));
  expect(others, `statuses that nobody documented: ${told}`).toEqual([]);
  const answered = Object.keys(measured.statuses).filter((status) => !LATER.has(status));
  expect(answered.length, `nothing but refusals of too much: ${told}`).toBeGreaterThan(0);
  expect(measured.retryAfters.filter((text) => text === undefined)).toEqual([]);
  expectOthersServed(measured.seen, told);
  expect(measured.riseMb, `memory: ${told}`).toBeLessThanOrEqual(RISE_MAX_MB);
}

function isSlow({ hasDied, seen }: Measured): boolean {
  const { p99Ms } = seen.liveness;
  return !hasDied && p99Ms >= LIVENESS_P99_MS && p99Ms < BUSY_MAX_MS;
}

/** That health checks and honest evaluations were answered, the first of them without a wait. */
export function expectOthersServed(seen: ProbeReport, told: string): void {
  // A kind may be through before the first probe is due.
  const dead = Object.keys(seen.liveness.statuses).filter((status) => status !== '200');
  expect(dead, `liveness: ${told}`).toEqual([]);
  const evaluated = Object.keys(seen.evaluation.statuses).filter((status) => status !== '200');
  expect(evaluated, `honest evaluations: ${told}`).toEqual([]);
  expect(seen.liveness.p99Ms, `liveness: ${told}`).toBeLessThan(LIVENESS_P99_MS);
}

function describeMeasured({ name, statuses, examples, riseMb, seen }: Measured): string {
  return JSON.stringify({
    name,
    statuses,
    riseMb: Math.round(riseMb),
    ...summaryOf(seen),
    examples,
  });
}

/** A report in short, for a message of a test that failed. */
export function summaryOf({ liveness, evaluation, rssPeakMb, ownDelayMs }: ProbeReport): object {
  const short = ({ p99Ms, maxMs, statuses }: Latencies) => ({
    p99: Math.round(p99Ms),
    max: Math.round(maxMs),
    statuses,
  });
  return {
    liveness: short(liveness),
    evaluation: short(evaluation),
    rssPeakMb: Math.round(rssPeakMb),
    probeHeldUpMs: Math.round(ownDelayMs),
  };
}
