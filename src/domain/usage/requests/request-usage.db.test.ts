import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDisposableDatabase } from '../../../../test/disposable-database.ts';
import { bootstrap } from '../../projects/bootstrap.ts';
import { createRequestUsage } from './request-usage.ts';

let database: Awaited<ReturnType<typeof createDisposableDatabase>>;
const log = { warn() {} };

beforeAll(async () => {
  database = await createDisposableDatabase();
  await bootstrap(database.db, {});
});
afterAll(() => database.destroy());

function usageAt(date: string, quota: number | null = null) {
  return createRequestUsage({
    db: database.db,
    log,
    now: () => new Date(date),
    quotas: () => (quota === null ? [] : [[1, quota]]),
    flushEveryMs: 3_600_000,
  });
}

it('Adds up the requests of a day by kind and SDK, whatever process counted them', async () => {
  const first = usageAt('2026-03-05T10:00:00Z');
  const second = usageAt('2026-03-05T11:00:00Z');
  for (const usage of [first, second, first]) {
    usage.count(1, 'evaluation', 'posthog-node/5.70.0');
    usage.count(1, 'evaluation', 'posthog-node/5.70.0 (linux)');
    usage.count(1, 'definitions_unchanged', undefined);
    await usage.flush();
  }
  await first.close();
  await second.close();
  const rows = await database.db('request_usage').orderBy('kind').select('kind', 'sdk', 'requests');
  expect(rows).toEqual([
    { kind: 'definitions_unchanged', sdk: 'other', requests: 3 },
    { kind: 'evaluation', sdk: 'posthog-node', requests: 6 },
  ]);
});

it('Holds the month against the quota: definitions weigh ten, unchanged ones nothing', async () => {
  const usage = usageAt('2026-04-30T23:00:00Z', 25);
  await usage.flush();
  expect(usage.isOver(1, 25)).toBe(false);
  usage.count(1, 'definitions', undefined);
  usage.count(1, 'definitions', undefined);
  usage.count(1, 'definitions_unchanged', undefined);
  for (let request = 0; request < 4; request += 1) usage.count(1, 'evaluation', undefined);
  expect(usage.isOver(1, 25)).toBe(false);
  usage.count(1, 'evaluation', undefined);
  expect(usage.isOver(1, 25)).toBe(true);
  await usage.close();

  const restarted = usageAt('2026-04-30T23:30:00Z', 25);
  await restarted.flush();
  expect(restarted.isOver(1, 25)).toBe(true);
  await restarted.close();

  const nextMonth = usageAt('2026-05-01T00:30:00Z', 25);
  await nextMonth.flush();
  expect(nextMonth.isOver(1, 25)).toBe(false);
  await nextMonth.close();
});

it('Keeps what it counted while the database is away, and ignores deleted projects', async () => {
  const usage = usageAt('2026-06-01T00:00:00Z');
  usage.count(999, 'evaluation', undefined);
  usage.count(1, 'evaluation', undefined);
  await database.db.raw('ALTER TABLE request_usage RENAME TO request_usage_away');
  await expect(usage.flush()).rejects.toThrow();
  usage.count(1, 'evaluation', undefined);
  await database.db.raw('ALTER TABLE request_usage_away RENAME TO request_usage');
  await usage.close();
  const rows = await database.db('request_usage').where('day', '2026-06-01').select('requests');
  expect(rows).toEqual([{ requests: 2 }]);
});

it('Forgets no request that is counted while others are being written', async () => {
  const usage = usageAt('2026-07-01T00:00:00Z', 3);
  await usage.flush();
  usage.count(1, 'evaluation', undefined);
  const flushing = usage.flush();
  usage.count(1, 'evaluation', undefined);
  await flushing;
  expect(usage.isOver(1, 2)).toBe(true);
  expect(usage.isOver(1, 3)).toBe(false);
  await usage.close();
});
