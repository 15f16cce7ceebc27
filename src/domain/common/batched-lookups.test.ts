import { describe, expect, it } from 'vitest';
import { BatchedLookups, type BatchedLookupsOptions } from './batched-lookups.ts';

/** Look-ups among the keys that start with `good`, each query answered when the test says so. */
function lookups(options: BatchedLookupsOptions = {}) {
  const queries: { keys: readonly string[]; answer: () => void; fail: () => void }[] = [];
  const batched = new BatchedLookups<string>(
    (keys) =>
      new Promise((resolve, reject) => {
        const good = keys.filter((key) => key.startsWith('good'));
        queries.push({
          keys,
          answer: () => resolve(new Map(good.map((key) => [key, `found ${key}`]))),
          fail: () => reject(new Error('The database is away.')),
        });
      }),
    options,
  );
  return {
    queries,
    find: (key: string, isSuspect?: boolean) => batched.find(key, isSuspect),
    /** Waits for the query of this number. */
    query: async (number: number) => {
      await expect.poll(() => queries.length, { interval: 1 }).toBeGreaterThanOrEqual(number);
      const query = queries[number - 1];
      if (query === undefined) throw new Error('There is no such query.');
      return query;
    },
  };
}

describe('BatchedLookups', () => {
  it('asks once for everything that is looked up at the same time', async () => {
    const { find, query, queries } = lookups();
    const found = ['good1', 'bad', 'good2', 'good1'].map((key) => find(key));
    const { keys, answer } = await query(1);
    expect(keys).toEqual(['good1', 'bad', 'good2']);
    answer();
    expect(await Promise.all(found)).toEqual([
      'found good1',
      undefined,
      'found good2',
      'found good1',
    ]);
    expect(queries).toHaveLength(1);
  });

  it('asks once more for everything that came while it asked', async () => {
    const { find, query, queries } = lookups();
    const first = find('good1');
    const one = await query(1);
    const later = ['good1', 'good2', 'bad'].map((key) => find(key));
    expect(queries).toHaveLength(1);
    one.answer();
    expect(await first).toBe('found good1');
    const two = await query(2);
    expect(two.keys).toEqual(['good1', 'good2', 'bad']);
    two.answer();
    expect(await Promise.all(later)).toEqual(['found good1', 'found good2', undefined]);
  });

  it('tells everybody who waits for it of a failure, and goes on', async () => {
    const { find, query } = lookups();
    const lost = ['good1', 'good2'].map((key) => find(key));
    const one = await query(1);
    const next = find('good1');
    one.fail();
    for (const each of lost) await expect(each).rejects.toThrow('The database is away.');
    (await query(2)).answer();
    expect(await next).toBe('found good1');
  });

  it('lets so many wait and refuses the others at once', async () => {
    const { find, query } = lookups({ maxWaiting: 2 });
    const waiting = ['good1', 'good2', 'good1'].map((key) => find(key));
    await expect(find('good3')).rejects.toMatchObject({ kind: 'unavailable' });
    (await query(1)).answer();
    expect(await Promise.all(waiting)).toEqual(['found good1', 'found good2', 'found good1']);
  });
});

describe('the pause between queries', () => {
  /** Runs one query in vain for so many keys. */
  async function miss({ find, query, queries }: ReturnType<typeof lookups>, count: number) {
    const number = queries.length + 1;
    const found = Array.from({ length: count }, (_, index) => find(`bad${number}-${index}`));
    (await query(number)).answer();
    await Promise.all(found);
  }

  /** Whether the next look-up is a query before any timer can have run. */
  async function isAskedAtOnce(
    { find, queries }: ReturnType<typeof lookups>,
    isSuspect?: boolean,
  ): Promise<boolean> {
    const before = queries.length;
    void find('good', isSuspect);
    await Promise.resolve();
    await Promise.resolve();
    return queries.length > before;
  }

  it('is kept while many ask in vain, and over when nobody does for a second', async () => {
    let time = 0;
    const options = { now: () => time, missesPerSecond: 3, pauseMs: 20 };
    const paced = lookups(options);
    await miss(paced, 2);
    expect(await isAskedAtOnce(paced)).toBe(true);
    (await paced.query(2)).answer();
    const asked = lookups(options);
    await miss(asked, 3);
    expect(await isAskedAtOnce(asked)).toBe(false);
    // It is asked all the same, after the pause.
    (await asked.query(2)).answer();
    time += 1_001;
    await expect.poll(() => isAskedAtOnce(asked)).toBe(true);
  });

  it('is over as soon as it has lasted for its time', async () => {
    let time = 0;
    const paced = lookups({ now: () => time, missesPerSecond: 1, pauseMs: 60_000 });
    await miss(paced, 1);
    time += 500;
    // Within the same second, but longer ago than a shorter pause.
    const brief = lookups({ now: () => time, missesPerSecond: 1, pauseMs: 400 });
    await miss(brief, 1);
    time += 400;
    expect(await isAskedAtOnce(brief)).toBe(true);
    expect(await isAskedAtOnce(paced)).toBe(false);
  });

  it('is kept by whoever is suspect, whatever the others do', async () => {
    const paced = lookups({ now: () => 0, pauseMs: 60_000 });
    await miss(paced, 1);
    expect(await isAskedAtOnce(paced, true)).toBe(false);
  });

  it('is kept by whoever is suspect after a query that was under way, too', async () => {
    const paced = lookups({ now: () => 0, pauseMs: 60_000 });
    const first = paced.find('good1');
    const one = await paced.query(1);
    void paced.find('bad', true);
    one.answer();
    await first;
    await Promise.resolve();
    await Promise.resolve();
    expect(paced.queries).toHaveLength(1);
  });

  it('holds up nobody else: who is not suspect takes the others along', async () => {
    const paced = lookups({ now: () => 0, pauseMs: 60_000 });
    await miss(paced, 1);
    expect(await isAskedAtOnce(paced, true)).toBe(false);
    const found = paced.find('good2');
    const two = await paced.query(2);
    expect(two.keys).toEqual(['good', 'good2']);
    two.answer();
    expect(await found).toBe('found good2');
  });

  it('counts what was asked for and not found, whatever else is found', async () => {
    const extra = new Map([
      ['x', 1],
      ['y', 2],
    ]);
    let asked = 0;
    const batched = new BatchedLookups<number>(
      async () => {
        asked += 1;
        return extra;
      },
      { now: () => 0, missesPerSecond: 2, pauseMs: 60_000 },
    );
    await Promise.all([batched.find('bad1'), batched.find('bad2')]);
    void batched.find('bad3');
    await Promise.resolve();
    await Promise.resolve();
    expect(asked).toBe(1);
  });
});
