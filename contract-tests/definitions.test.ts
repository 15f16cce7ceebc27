import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestOptions } from './http.ts';
import type { TestProject } from './identities.ts';
import { pick, pickList, pickText } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FEED = '/flags/definitions';
const PATHS = [
  FEED,
  `${FEED}/`,
  '/api/feature_flag/local_evaluation',
  '/api/projects/1/feature_flags/local_evaluation/',
  '/api/projects/@current/feature_flags/local_evaluation',
];
const LEAF = { key: 'email', type: 'person', value: '@x.com', operator: 'icontains' };
const INNER = { type: 'OR', values: [{ type: 'AND', values: [LEAF] }] };

let burgee: StartedBurgee;
let other: TestProject;
let base: TestFlag;
const cohortIds = { inner: 0, outer: 0, fixed: 0, unused: 0 };

async function addCohort(name: keyof typeof cohortIds, properties: object | null): Promise<void> {
  const [row] = await burgee
    .db('cohorts')
    .insert({
      project_id: 1,
      name,
      is_static: properties === null,
      filters: properties === null ? null : JSON.stringify({ properties }),
    })
    .returning('id');
  cohortIds[name] = row?.id ?? 0;
}

const dependsOn = (id: number) => ({
  groups: [
    { properties: [{ key: `${id}`, type: 'flag', operator: 'flag_evaluates_to', value: true }] },
  ],
});

const inCohort = (id: number) => ({
  groups: [{ properties: [{ key: 'id', type: 'cohort', value: id }], rollout_percentage: 100 }],
});

function outerProperties() {
  const nested = { type: 'cohort', key: 'id', value: cohortIds.inner };
  return { type: 'AND', values: [{ type: 'AND', values: [nested, { ...LEAF, negation: true }] }] };
}

beforeAll(async () => {
  burgee = await startBurgee();
  other = await burgee.createProject();
  await addCohort('inner', INNER);
  await addCohort('outer', outerProperties());
  await addCohort('fixed', null);
  await addCohort('unused', INNER);
  base = await burgee.createFlag({ key: 'z-base' });
  const middle = await burgee.createFlag({ key: 'm-middle', filters: dependsOn(base.id) });
  await burgee.createFlag({ key: 'a-top', filters: dependsOn(middle.id) });
  await burgee.createFlag({ key: 'in-inner', filters: inCohort(cohortIds.inner) });
  await burgee.createFlag({ key: 'in-outer', filters: inCohort(cohortIds.outer) });
  await burgee.createFlag({ key: 'in-fixed', filters: inCohort(cohortIds.fixed) });
  await burgee.createFlag({ key: 'asleep', active: false });
  const gone = await burgee.createFlag({ key: 'gone' });
  await burgee.api('PATCH', gone.path, { body: { deleted: true } });
});

afterAll(async () => {
  await burgee.stop();
});

async function readFlag(key: string, query: Record<string, string> = {}): Promise<unknown> {
  const { body } = await burgee.api('GET', FEED, { query });
  return pickList(body, 'flags').find((flag) => pick(flag, 'key') === key);
}

describe('the definitions feed', () => {
  it('is open to personal keys and secret keys, alone, with the token or with the header', async () => {
    const token = burgee.projectApiKey;
    const { text } = await burgee.api('GET', FEED);
    for (const key of [burgee.personalApiKey, burgee.projectSecretKey]) {
      for (const options of [
        { key },
        { key, query: { token } },
        { key, query: { api_key: token } },
        { key, headers: { 'x-posthog-project-api-key': token } },
      ] satisfies RequestOptions[]) {
        for (const path of PATHS) {
          const reply = await burgee.request('GET', path, options);
          expect([path, options, reply.status]).toEqual([path, options, 200]);
          expect(reply.text).toBe(text);
        }
      }
    }
  });

  it.each<[string, number, (options: { token: string }) => RequestOptions]>([
    ['nobody', 401, () => ({})],
    ['a project key alone', 401, ({ token }) => ({ query: { token } })],
    ['a project key for a credential', 401, ({ token }) => ({ key: token })],
    ['an unknown secret key', 401, () => ({ key: 'phs_unknownunknownunknown00' })],
    ['an unknown token', 401, () => ({ key: burgee.personalApiKey, query: { token: 'phc_no' } })],
    [
      'a secret key of another project',
      403,
      ({ token }) => ({
        key: other.projectSecretKey,
        query: { token },
      }),
    ],
    [
      'a secret key of another project, told by the header',
      403,
      ({ token }) => ({
        key: other.projectSecretKey,
        headers: { 'x-posthog-project-api-key': token },
      }),
    ],
    [
      'a personal key of no member',
      403,
      () => ({
        key: burgee.personalApiKey,
        query: { token: other.projectApiKey },
      }),
    ],
  ])('is closed to %s with %i', async (_name, status, optionsFor) => {
    const reply = await burgee.request('GET', FEED, optionsFor({ token: burgee.projectApiKey }));
    expect(reply.status, reply.text).toBe(status);
    expect(reply.body).toMatchObject({
      type: 'authentication_error',
      code: expect.any(String),
      detail: expect.any(String),
      attr: null,
    });
    expect(reply.text).not.toContain('z-base');
  });

  it('needs the scope to read flags', async () => {
    const narrow = await burgee.createKey({ scopes: ['person:read'] });
    const wide = await burgee.createKey({ scopes: ['feature_flag:read'] });
    expect((await burgee.request('GET', FEED, { key: narrow.key })).status).toBe(403);
    expect((await burgee.request('GET', FEED, { key: wide.key })).status).toBe(200);
  });

  it('has the flags in the order of their keys, inactive ones too', async () => {
    const { body } = await burgee.api('GET', FEED);
    expect(Object.keys(Object(body)).toSorted()).toEqual([
      'cohorts',
      'flags',
      'group_type_mapping',
    ]);
    const keys = pickList(body, 'flags').map((flag) => pick(flag, 'key'));
    expect(keys).toEqual([
      'a-top',
      'asleep',
      'in-fixed',
      'in-inner',
      'in-outer',
      'm-middle',
      'z-base',
    ]);
    expect(await readFlag('asleep')).toMatchObject({ active: false, deleted: false, team_id: 1 });
  });

  it('names dependencies by key, with the chain of keys to evaluate before', async () => {
    const at = ['filters', 'groups', 0, 'properties', 0] as const;
    expect(pick(await readFlag('a-top'), ...at)).toEqual({
      key: 'm-middle',
      type: 'flag',
      operator: 'flag_evaluates_to',
      value: true,
      dependency_chain: ['z-base', 'm-middle'],
    });
    expect(pick(await readFlag('m-middle'), ...at, 'dependency_chain')).toEqual(['z-base']);
  });

  it('has the names of group types by index', async () => {
    expect(pick((await burgee.api('GET', FEED)).body, 'group_type_mapping')).toEqual({});
    for (const type of ['organization', 'team']) {
      const properties = { $group_type: type, $group_key: 'g', $group_set: {} };
      await burgee.request('POST', '/i/v0/e/', {
        body: {
          api_key: burgee.projectApiKey,
          event: '$groupidentify',
          distinct_id: 'p',
          properties,
        },
      });
    }
    const mapping = async () => pick((await burgee.api('GET', FEED)).body, 'group_type_mapping');
    expect(await mapping()).toEqual({ 0: 'organization', 1: 'team' });
  });

  it('sends every dynamic cohort that is referred to, on demand', async () => {
    for (const query of ['', '=', '=true', '=1', '=True']) {
      const { body } = await burgee.api('GET', `${FEED}?send_cohorts${query}`);
      expect(pick(body, 'cohorts')).toEqual({
        [cohortIds.inner]: INNER,
        [cohortIds.outer]: outerProperties(),
      });
    }
    const flag = await readFlag('in-inner', { send_cohorts: 'true' });
    expect(pick(flag, 'filters', 'groups', 0, 'properties', 0, 'type')).toBe('cohort');
  });

  it('spells one simple cohort out instead when cohorts are not sent', async () => {
    for (const query of [{}, { send_cohorts: 'false' }, { send_cohorts: '0' }]) {
      expect(pick((await burgee.api('GET', FEED, { query })).body, 'cohorts')).toEqual({});
      const properties = ['filters', 'groups', 0, 'properties'] as const;
      expect(pick(await readFlag('in-inner', query), ...properties)).toEqual([LEAF]);
      for (const key of ['in-outer', 'in-fixed']) {
        expect(pick(await readFlag(key, query), ...properties, 0, 'type')).toBe('cohort');
      }
    }
  });
});

/** The reply as it was sent, still packed. */
function getPacked(path: string, headers: Record<string, string>) {
  return new Promise<{ encoding: string | undefined; etag: string | undefined; bytes: Buffer }>(
    (resolve, reject) => {
      const key = burgee.personalApiKey;
      get(
        `${burgee.url}${path}`,
        { headers: { authorization: `Bearer ${key}`, ...headers } },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () => {
            const { 'content-encoding': encoding, etag } = incoming.headers;
            resolve({ encoding, etag, bytes: Buffer.concat(chunks) });
          });
        },
      ).on('error', reject);
    },
  );
}

describe('the version of the definitions', () => {
  it('is a digest of the body, different with and without cohorts', async () => {
    const etags = [];
    for (const path of [FEED, `${FEED}?send_cohorts`]) {
      const reply = await burgee.api('GET', path);
      const digest = createHash('sha256').update(reply.text).digest('hex').slice(0, 16);
      expect(reply.headers.etag).toBe(`W/"${digest}"`);
      expect(reply.headers['cache-control']).toBe('private, must-revalidate');
      etags.push(reply.headers.etag ?? '');
    }
    const [without = '', withCohorts = ''] = etags;
    expect(without).not.toBe(withCohorts);
    const ask = async (path: string, held: string) =>
      (await burgee.api('GET', path, { headers: { 'if-none-match': held } })).status;
    expect(await ask(FEED, withCohorts)).toBe(200);
    expect(await ask(`${FEED}?send_cohorts`, without)).toBe(200);
    expect(await ask(`${FEED}?send_cohorts`, withCohorts)).toBe(304);
  });

  it.each(PATHS)('is recognised on %s weak, strong, bare and in a list', async (path) => {
    const etag = pickText(await burgee.api('HEAD', path), 'headers', 'etag');
    const bare = etag.slice(3, -1);
    for (const held of [etag, `"${bare}"`, bare, `"a", W/"b" ,${etag}`, `a,${bare}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const reply = await burgee.api(method, path, { headers: { 'if-none-match': held } });
        expect([method, held, reply.status, reply.text]).toEqual([method, held, 304, '']);
        expect(reply.headers).toMatchObject({ etag, 'cache-control': 'private, must-revalidate' });
        expect(reply.headers).not.toHaveProperty('content-type');
      }
    }
    for (const held of ['', '""', '"0000000000000000"', bare.slice(1), `${bare}0`]) {
      const reply = await burgee.api('GET', path, { headers: { 'if-none-match': held } });
      expect([held, reply.status]).toEqual([held, 200]);
    }
  });

  it('is the same gzipped, and the gzip holds the same body', async () => {
    const plain = await burgee.api('GET', FEED);
    for (const accepted of ['gzip', 'gzip, deflate, br', 'br;q=1, gzip;q=0.8']) {
      const packed = await getPacked(FEED, { 'accept-encoding': accepted });
      expect([packed.encoding, packed.etag]).toEqual(['gzip', plain.headers.etag]);
      expect(gunzipSync(packed.bytes).toString('utf8')).toBe(plain.text);
    }
    for (const accepted of ['identity', 'gzip;q=0']) {
      const packed = await getPacked(FEED, { 'accept-encoding': accepted });
      expect([packed.encoding, packed.bytes.toString('utf8')]).toEqual([undefined, plain.text]);
    }
    const held = { 'accept-encoding': 'gzip', 'if-none-match': plain.headers.etag ?? '' };
    expect((await getPacked(FEED, held)).bytes).toHaveLength(0);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
