import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DisposablePostgres, startDisposablePostgres } from '../test/disposable-postgres.ts';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

type RuntimeCase = [string, object, Record<string, string>, string];

const SERVER_SDKS = 'python ruby php java go node dotnet elixir rs server'
  .split(' ')
  .map((name) => `posthog-${name}`);
const CLIENT_SDKS = 'js android ios react-native flutter'
  .split(' ')
  .map((name) => `posthog-${name}`);

const leaf = (key: string, value: unknown, more: object = {}) => ({
  key,
  type: 'person',
  operator: 'exact',
  value: [value],
  ...more,
});
const all = (...values: object[]) => ({ type: 'AND', values });
const any = (...values: object[]) => ({ type: 'OR', values });
const nested = (value: unknown, negation = false) => ({
  type: 'cohort',
  key: 'id',
  value,
  negation,
});
const members = (value: unknown, operator?: string) => ({
  key: 'id',
  type: 'cohort',
  value,
  ...(operator === undefined ? {} : { operator }),
});
const inCohorts = (...properties: object[]) => ({ groups: [{ properties }] });

async function addCohort(
  burgee: StartedBurgee,
  properties: object | null,
  more: { readonly id?: number } = {},
): Promise<number> {
  const filters = properties === null ? null : JSON.stringify({ properties });
  const row = { project_id: 1, name: 'A cohort', is_static: properties === null, filters };
  if (more.id !== undefined) {
    await burgee.db('cohorts').where({ id: more.id }).update(row);
    return more.id;
  }
  const [inserted] = await burgee.db('cohorts').insert(row).returning('id');
  return inserted?.id ?? 0;
}

describe('a flag for the members of cohorts', () => {
  let burgee: StartedBurgee;
  const cohorts = { paying: 0, swiss: 0, both: 0, either: 0, others: 0, invited: 0, loop: 0 };

  beforeAll(async () => {
    burgee = await startBurgee();
    cohorts.paying = await addCohort(burgee, any(all(leaf('plan', 'pro'))));
    cohorts.swiss = await addCohort(
      burgee,
      any(all(leaf('country', 'ch'), leaf('age', 17, { operator: 'gt', value: '17' }))),
    );
    cohorts.both = await addCohort(burgee, all(all(nested(cohorts.paying), nested(cohorts.swiss))));
    cohorts.either = await addCohort(
      burgee,
      any(any(nested(cohorts.paying), nested(cohorts.swiss))),
    );
    cohorts.others = await addCohort(
      burgee,
      all(any(nested(cohorts.paying, true)), all(leaf('country', 'de', { negation: true }))),
    );
    cohorts.invited = await addCohort(burgee, null);
    cohorts.loop = await addCohort(burgee, any(all(leaf('plan', 'pro'))));
    await addCohort(burgee, any(all(nested(cohorts.loop))), { id: cohorts.loop });
    for (const [name, id] of Object.entries(cohorts)) {
      await burgee.createFlag({ key: `in-${name}`, filters: inCohorts(members(id)) });
      await burgee.createFlag({ key: `not-${name}`, filters: inCohorts(members(id, 'not_in')) });
    }
  });

  afterAll(async () => {
    expect(burgee.errors()).toEqual([]);
    await burgee.stop();
  });

  async function capture(event: string, distinct_id: string, properties = {}): Promise<void> {
    const body = { api_key: burgee.projectApiKey, event, distinct_id, properties };
    expect((await burgee.request('POST', '/i/v0/e/', { body })).status).toBe(200);
  }

  async function ask(key: string, body: object = {}, query = {}): Promise<unknown> {
    const sent = { flag_keys: [key], ...body };
    return pick((await burgee.evaluate(sent, { v: '2', ...query })).body, 'flags', key);
  }

  const enabled = async (...args: Parameters<typeof ask>) => pick(await ask(...args), 'enabled');

  const swiss = { country: 'ch', age: 30 };
  it.each<[string, object, string]>([
    ['nothing', {}, 'others'],
    ['who pays', { plan: 'pro' }, 'paying either'],
    ['who is Swiss', swiss, 'swiss either others'],
    ['who is Swiss and young', { ...swiss, age: 17 }, 'others'],
    ['who is Swiss and pays', { ...swiss, plan: 'pro' }, 'paying swiss both either'],
    ['who is German', { country: 'de' }, ''],
  ])('is decided by what is known of a person: %s', async (_name, $set, memberOf) => {
    const distinct_id = `person ${JSON.stringify($set)}`;
    await capture('$set', distinct_id, { $set });
    for (const name of ['paying', 'swiss', 'both', 'either', 'others']) {
      const expected = memberOf.split(' ').includes(name);
      for (const body of [{ distinct_id }, { distinct_id: 'new', person_properties: $set }]) {
        expect([name, await enabled(`in-${name}`, body)]).toEqual([name, expected]);
        expect([name, await enabled(`not-${name}`, body)]).toEqual([name, !expected]);
      }
    }
  });

  it('uses what the request says instead of what is stored', async () => {
    await capture('$set', 'stored', { $set: { plan: 'pro', country: 'ch' } });
    const body = { distinct_id: 'stored' };
    expect(await enabled('in-paying', body)).toBe(true);
    expect(await enabled('in-paying', { ...body, person_properties: { plan: 'x' } })).toBe(false);
    expect(await enabled('in-both', { ...body, person_properties: { age: 18 } })).toBe(true);
    const query = { only_use_override_person_properties: 'true' };
    expect(await enabled('in-paying', body, query)).toBe(false);
    const sent = { ...body, person_properties: { plan: 'pro' } };
    expect(await enabled('in-paying', sent, query)).toBe(true);
  });

  it('knows the members of a static cohort by their person, and nobody else', async () => {
    await capture('seen', 'visitor');
    await capture('$identify', 'visitor', { $anon_distinct_id: 'visitor-anonymous' });
    await capture('seen', 'stranger');
    const person = await burgee.db('person_distinct_ids').where({ distinct_id: 'visitor' }).first();
    const row = { cohort_id: cohorts.invited, person_id: person?.person_id ?? 0 };
    await burgee.db('cohort_members').insert(row);
    for (const [distinct_id, isMember] of [
      ['visitor', true],
      ['visitor-anonymous', true],
      ['stranger', false],
      ['never seen', false],
    ]) {
      expect(await enabled('in-invited', { distinct_id })).toBe(isMember);
      expect(await enabled('not-invited', { distinct_id })).toBe(!isMember);
    }
    await burgee.db('cohort_members').delete();
    expect(await enabled('in-invited', { distinct_id: 'visitor' })).toBe(false);
  });

  it('fails when a cohort is unknown or contains itself, and says so', async () => {
    const id = await addCohort(burgee, any(all(leaf('plan', 'pro'))));
    await burgee.createFlag({ key: 'in-unknown', filters: inCohorts(members(id)) });
    await burgee.db('cohorts').where({ id }).delete();
    // A cohort that goes without a word is noticed with the next change.
    await burgee.createFlag();
    for (const [key, code, description] of [
      ['in-unknown', 'dependency_not_found_cohort', 'Cohort dependency not found'],
      ['in-loop', 'dependency_cycle_cohort', 'Cohort dependency cycle detected'],
      ['not-loop', 'dependency_cycle_cohort', 'Cohort dependency cycle detected'],
    ]) {
      const reply = await burgee.evaluate({ flag_keys: [key, 'in-paying'] });
      expect(reply.body).toMatchObject({
        errorsWhileComputingFlags: true,
        flags: {
          [`${key}`]: { enabled: false, failed: true, reason: { code, description } },
          'in-paying': { enabled: false },
        },
      });
      expect(pick(reply.body, 'flags', 'in-paying')).not.toHaveProperty('failed');
    }
  });

  it('follows a cohort that changes, from the next revision on', async () => {
    const id = await addCohort(burgee, any(all(leaf('plan', 'pro'))));
    const flag = await burgee.createFlag({ key: 'moving', filters: inCohorts(members(id)) });
    const body = { person_properties: { plan: 'free' } };
    expect(await enabled('moving', body)).toBe(false);
    await addCohort(burgee, any(all(leaf('plan', 'free'))), { id });
    await burgee.api('PATCH', flag.path, { body: { name: 'again' } });
    expect(await enabled('moving', body)).toBe(true);
  });
});

describe('what a request says', () => {
  let burgee: StartedBurgee;

  beforeAll(async () => {
    burgee = await startBurgee();
    await burgee.createFlag({ key: 'on' });
    await burgee.createFlag({ key: 'for-client', evaluation_runtime: 'client' });
    await burgee.createFlag({ key: 'for-server', evaluation_runtime: 'server' });
  });

  afterAll(async () => {
    expect(burgee.errors()).toEqual([]);
    await burgee.stop();
  });

  const keys = async (body: object, headers: Record<string, string> = {}) => {
    const sent = { token: burgee.projectApiKey, distinct_id: 'p', ...body };
    const reply = await burgee.request('POST', '/flags', { body: sent, headers });
    return Object.keys(Object(pick(reply.body, 'flags'))).toSorted();
  };

  it.each<RuntimeCase>([
    ['client', { evaluation_runtime: 'client' }, { 'user-agent': 'posthog-node/5.0.0' }, 'client'],
    ['server', { evaluation_runtime: 'SERVER' }, { origin: 'https://a.example' }, 'server'],
    ['all', { evaluation_runtime: 'all' }, {}, 'client server'],
    ['all', { evaluation_runtime: 'edge' }, {}, 'client server'],
    ['nothing', {}, {}, ''],
    ['nothing', { evaluation_runtime: null }, { 'user-agent': 'Go-http-client/1.1' }, ''],
    ['nothing', {}, { 'user-agent': 'posthog-edge/1.0.0', origin: 'https://a.example' }, ''],
    ...SERVER_SDKS.map((sdk): RuntimeCase => [sdk, {}, { 'user-agent': `${sdk}/1.2` }, 'server']),
    ...CLIENT_SDKS.map((sdk): RuntimeCase => [sdk, {}, { 'user-agent': `${sdk}/1.2` }, 'client']),
    ['curl', {}, { 'user-agent': 'curl/8.5.0' }, 'server'],
    ['a browser', {}, { 'user-agent': 'Mozilla/5.0 (X11) Chrome/140.0' }, 'client'],
    ['an origin', {}, { origin: 'https://a.example' }, 'client'],
    ['a referrer', {}, { referer: 'https://a.example/' }, 'client'],
    ['a fetch mode', {}, { 'sec-fetch-mode': 'cors' }, 'client'],
    ['a fetch site', {}, { 'sec-fetch-site': 'same-site' }, 'client'],
  ])('about its runtime, %s, decides which flags it gets', async (_name, body, headers, kinds) => {
    const wanted = { flag_keys: ['on', 'for-client', 'for-server'], ...body };
    const expected = kinds.split(' ').flatMap((kind) => (kind === '' ? [] : [`for-${kind}`]));
    expect(await keys(wanted, headers)).toEqual([...expected, 'on']);
  });

  it('about its contexts leaves out the flags of others', async () => {
    await burgee.createFlag({ key: 'web', tags: ['web', 'x'], evaluation_tags: ['web'] });
    await burgee.createFlag({ key: 'app', tags: ['app', 'tv'], evaluation_tags: ['app', 'tv'] });
    const wanted = async (body: object) =>
      (await keys({ flag_keys: ['on', 'web', 'app'], ...body })).join(' ');
    expect(await wanted({})).toBe('app on web');
    expect(await wanted({ evaluation_contexts: [] })).toBe('app on web');
    expect(await wanted({ evaluation_contexts: ['web'] })).toBe('on web');
    expect(await wanted({ evaluation_environments: ['tv', 'unknown'] })).toBe('app on');
    expect(await wanted({ evaluation_contexts: ['WEB', 'x'] })).toBe('on');
  });
});

describe('without its database', () => {
  let postgres: DisposablePostgres;
  let burgee: StartedBurgee;

  beforeAll(async () => {
    postgres = await startDisposablePostgres();
    burgee = await startBurgee({ connection: postgres.connection });
    const dynamic = await addCohort(burgee, any(all(leaf('plan', 'pro'))));
    const fixed = await addCohort(burgee, null);
    await burgee.createFlag({ key: 'plain' });
    await burgee.createFlag({ key: 'dynamic', filters: inCohorts(members(dynamic)) });
    await burgee.createFlag({ key: 'fixed', filters: inCohorts(members(fixed)) });
    await burgee.createFlag({ key: 'outside', filters: inCohorts(members(fixed, 'not_in')) });
    await burgee.createFlag({
      key: 'steady',
      ensure_experience_continuity: true,
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    await postgres.stop();
  }, 60_000);

  afterAll(async () => {
    await burgee.stop();
    await postgres.destroy();
  });

  it('Burgee fails the flags that need stored data, in every shape, instead of turning them off', async () => {
    const { body } = await burgee.evaluate({ $anon_distinct_id: 'anonymous' });
    expect(pick(body, 'errorsWhileComputingFlags')).toBe(true);
    for (const key of ['dynamic', 'fixed', 'outside', 'steady']) {
      expect([key, pick(body, 'flags', key)]).toEqual([
        key,
        expect.objectContaining({ enabled: false, failed: true }),
      ]);
    }
    expect(pick(body, 'flags', 'plain')).toMatchObject({ enabled: true });
    expect(pick(body, 'flags', 'plain')).not.toHaveProperty('failed');
    const legacy = await burgee.evaluate({}, { v: '1' });
    expect(pick(legacy.body, 'errorsWhileComputingFlags')).toBe(true);
  });

  it('Burgee still decides for a dynamic cohort from what the request says', async () => {
    const flags = { flag_keys: ['dynamic', 'plain'] };
    const { body } = await burgee.evaluate({ ...flags, person_properties: { plan: 'pro' } });
    expect(body).toMatchObject({
      errorsWhileComputingFlags: false,
      flags: { dynamic: { enabled: true }, plain: { enabled: true } },
    });
  });
});
