import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const KEY = 'steady';
const COLOURS = ['red', 'green', 'blue', 'black'];
const USERS = Array.from({ length: 40 }, (_, index) => index);

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
  const filters = {
    groups: [{ rollout_percentage: 60 }],
    multivariate: { variants: COLOURS.map((key) => ({ key, rollout_percentage: 25 })) },
  };
  await burgee.createFlag({ key: KEY, ensure_experience_continuity: true, filters });
  await burgee.createFlag({ key: 'other', ensure_experience_continuity: true, filters });
  await burgee.createFlag({ key: 'fickle', filters });
});

afterAll(async () => {
  await burgee.stop();
});

async function valueFor(body: object, query: Record<string, string> = {}): Promise<unknown> {
  const asked = { flag_keys_to_evaluate: [KEY], ...body };
  const reply = await burgee.evaluate(asked, { v: '1', ...query });
  expect([reply.status, pick(reply.body, 'errorsWhileComputingFlags')]).toEqual([200, false]);
  return pick(reply.body, 'featureFlags', KEY);
}

async function capture(event: string, distinct_id: string, properties = {}): Promise<void> {
  const body = { api_key: burgee.projectApiKey, event, distinct_id, properties };
  expect((await burgee.request('POST', '/i/v0/e/', { body })).status).toBe(200);
}

const identify = (distinctId: string, anonymousId: string) =>
  capture('$identify', distinctId, { $anon_distinct_id: anonymousId });

/** The identifiers that are kept for the person with this id, by flag key. */
async function keptFor(distinctId: string): Promise<Record<string, string>> {
  const rows: { feature_flag_key: string; hash_key: string }[] = await burgee
    .db('hash_key_overrides')
    .join('person_distinct_ids', 'person_distinct_ids.person_id', 'hash_key_overrides.person_id')
    .where({ distinct_id: distinctId })
    .select('feature_flag_key', 'hash_key');
  return Object.fromEntries(rows.map((row) => [row.feature_flag_key, row.hash_key]));
}

describe('a person who logs in', () => {
  it('keeps the value of before, for every one of many persons', async () => {
    const values = new Set<unknown>();
    let changes = 0;
    for (const user of USERS) {
      const [anonymous, known] = [`anonymous-${user}`, `known-${user}`];
      const before = await valueFor({ distinct_id: anonymous });
      changes += before === (await valueFor({ distinct_id: known })) ? 0 : 1;
      await identify(known, anonymous);
      const first = await valueFor({ distinct_id: known, $anon_distinct_id: anonymous });
      const later = await valueFor({ distinct_id: known });
      const elsewhere = await valueFor({ distinct_id: anonymous });
      expect([user, first, later, elsewhere]).toEqual([user, before, before, before]);
      values.add(before);
    }
    // Otherwise the test would prove nothing.
    expect(values).toEqual(new Set([...COLOURS, false]));
    expect(changes).toBeGreaterThan(10);
  });

  it('has the earlier id kept for every continuous flag, and for no other', async () => {
    await identify('whole', 'whole-anonymous');
    await valueFor({ distinct_id: 'whole', anon_distinct_id: 'whole-anonymous' });
    expect(await keptFor('whole')).toEqual({ [KEY]: 'whole-anonymous', other: 'whole-anonymous' });
  });

  it('keeps the first earlier id, whatever later requests bring', async () => {
    await identify('once', 'once-1');
    const before = await valueFor({ distinct_id: 'once-1' });
    await valueFor({ distinct_id: 'once', $anon_distinct_id: 'once-1' });
    for (let round = 2; round < 12; round += 1) {
      const $anon_distinct_id = `once-${round}`;
      expect(await valueFor({ distinct_id: 'once', $anon_distinct_id })).toBe(before);
    }
    expect(await keptFor('once')).toEqual({ [KEY]: 'once-1', other: 'once-1' });
  });

  it('has one id kept when many first requests come at once', async () => {
    await capture('seen', 'racing');
    const asked = Array.from({ length: 12 }, (_, index) =>
      valueFor({ distinct_id: 'racing', $anon_distinct_id: `racing-${index}` }),
    );
    const values = new Set(await Promise.all(asked));
    expect(values.size).toBe(1);
    const kept = await keptFor('racing');
    expect(kept[KEY]).toBe(kept.other);
    expect(values).toEqual(new Set([await valueFor({ distinct_id: 'racing' })]));
  });

  it('gets the value of the earlier id while nothing is known of either, and nothing is kept', async () => {
    for (const user of USERS.slice(0, 10)) {
      const anonymous = `unseen-anonymous-${user}`;
      const before = await valueFor({ distinct_id: anonymous });
      const body = { distinct_id: `unseen-${user}`, $anon_distinct_id: anonymous };
      expect(await valueFor(body)).toBe(before);
      expect(await keptFor(`unseen-${user}`)).toEqual({});
    }
  });

  it('has a flag that came later added to what is kept', async () => {
    await identify('late', 'late-1');
    await valueFor({ distinct_id: 'late', $anon_distinct_id: 'late-1' });
    const added = await burgee.createFlag({
      key: 'added-later',
      ensure_experience_continuity: true,
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    await valueFor({ distinct_id: 'late', $anon_distinct_id: 'late-2' });
    expect(await keptFor('late')).toEqual({
      [KEY]: 'late-1',
      other: 'late-1',
      'added-later': 'late-2',
    });
    await burgee.api('PATCH', added.path, { body: { deleted: true } });
  });
});

describe('nothing is kept', () => {
  it.each<[string, object, Record<string, string>]>([
    ['stored data is left out', {}, { only_use_override_person_properties: 'true' }],
    ['no flag that was asked for is continuous', { flag_keys_to_evaluate: ['fickle'] }, {}],
    ['flags are disabled', { disable_flags: true }, {}],
    ['both ids are the same', { $anon_distinct_id: 'untouched' }, {}],
    ['the earlier id is empty', { $anon_distinct_id: '' }, {}],
  ])('when %s', async (_name, body, query) => {
    await capture('seen', 'untouched');
    const asked = { distinct_id: 'untouched', $anon_distinct_id: 'untouched-anonymous', ...body };
    expect((await burgee.evaluate(asked, { v: '2', ...query })).status).toBe(200);
    expect(await keptFor('untouched')).toEqual({});
  });
});

describe('persons who become one', () => {
  const keep = async (distinctId: string, earlierId: string) => {
    await capture('seen', distinctId);
    await valueFor({ distinct_id: distinctId, $anon_distinct_id: earlierId });
    expect((await keptFor(distinctId))[KEY]).toBe(earlierId);
  };

  it('by $identify keep the id that only the absorbed one had', async () => {
    await keep('absorbed-1', 'earlier-1');
    await capture('seen', 'survivor-1');
    const before = await valueFor({ distinct_id: 'absorbed-1' });
    await identify('survivor-1', 'absorbed-1');
    for (const distinct_id of ['survivor-1', 'absorbed-1']) {
      expect(await keptFor(distinct_id)).toEqual({ [KEY]: 'earlier-1', other: 'earlier-1' });
      expect(await valueFor({ distinct_id })).toBe(before);
    }
  });

  it('by $create_alias keep the id that only the absorbed one had', async () => {
    await keep('absorbed-2', 'earlier-2');
    await capture('seen', 'survivor-2');
    const before = await valueFor({ distinct_id: 'absorbed-2' });
    await capture('$create_alias', 'survivor-2', { alias: 'absorbed-2' });
    expect(await keptFor('survivor-2')).toEqual({ [KEY]: 'earlier-2', other: 'earlier-2' });
    expect(await valueFor({ distinct_id: 'survivor-2' })).toBe(before);
  });

  it('keep the id of the one that stays when both have one', async () => {
    await keep('absorbed-3', 'earlier-3');
    await keep('survivor-3', 'earlier-4');
    const before = await valueFor({ distinct_id: 'survivor-3' });
    await identify('survivor-3', 'absorbed-3');
    expect(await keptFor('survivor-3')).toEqual({ [KEY]: 'earlier-4', other: 'earlier-4' });
    expect(await valueFor({ distinct_id: 'absorbed-3' })).toBe(before);
    const rows = await burgee.db('hash_key_overrides').where({ hash_key: 'earlier-3' });
    expect(rows).toEqual([]);
  });

  it('let the person of the id itself go first while they are still two', async () => {
    await keep('two-1', 'earlier-5');
    await keep('two-2', 'earlier-6');
    const own = await valueFor({ distinct_id: 'two-1' });
    expect(await valueFor({ distinct_id: 'two-1', $anon_distinct_id: 'two-2' })).toBe(own);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
