import { KEYS, startBurgee } from './burgee.ts';
import type { BenchServer } from './database.ts';

/** How long a change takes to be served, in a project with many flags. */
export interface ChangeFigure {
  readonly flags: number;
  /** From sending the change until `/flags` answers with it: the median and the worst. */
  readonly medianMs: number;
  readonly worstMs: number;
  /** Resident memory: without flags, with them, and after the changes. */
  readonly memoryMb: readonly (number | null)[];
}

const CHANGES = 7;
const GIVE_UP_MS = 30_000;

/** Changes one flag of many, again and again, and waits each time until the change is served. */
export async function benchChanges(server: BenchServer, flags: number): Promise<ChangeFigure> {
  const burgee = await startBurgee(server, flags);
  try {
    const loadedMemoryMb = burgee.memoryMb();
    const times: number[] = [];
    for (let change = 1; change <= CHANGES; change += 1) {
      const startedAt = performance.now();
      const payload = String(change);
      const filters = { groups: [{ rollout_percentage: 100 }], payloads: { true: payload } };
      await burgee.manage('PATCH', `${burgee.lastFlag.id}/`, { filters });
      while ((await servedPayload(burgee.url, burgee.lastFlag.key)) !== payload) {
        if (performance.now() - startedAt > GIVE_UP_MS) throw new Error('A change is not served.');
      }
      times.push(performance.now() - startedAt);
    }
    const sorted = times.toSorted((a, b) => a - b);
    return {
      flags,
      medianMs: sorted[Math.floor(CHANGES / 2)] ?? Number.NaN,
      worstMs: sorted.at(-1) ?? Number.NaN,
      memoryMb: [burgee.idleMemoryMb, loadedMemoryMb, burgee.memoryMb()],
    };
  } finally {
    await burgee.stop();
  }
}

async function servedPayload(url: string, key: string): Promise<unknown> {
  const reply = await fetch(`${url}/flags?v=2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      token: KEYS.BURGEE_PROJECT_API_KEY,
      distinct_id: 'user-42',
      flag_keys_to_evaluate: [key],
    }),
  });
  const body: { flags?: Record<string, { metadata?: { payload?: unknown } }> } = JSON.parse(
    await reply.text(),
  );
  return body.flags?.[key]?.metadata?.payload;
}
