import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestKey } from './identities.ts';
import { pick, pickList } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';
const MARKER = '"********* (encrypted)"';
const SECRET = '{"password": "correct horse"}';

let burgee: StartedBurgee;
let reader: TestKey;

beforeAll(async () => {
  burgee = await startBurgee();
  reader = await burgee.createKey({ scopes: ['feature_flag:read'] });
});

afterAll(async () => {
  await burgee.stop();
});

/** Payloads of a flag with variants are those of the variants, and `true` is a name like another. */
const VARIANTS = {
  multivariate: {
    variants: [
      { key: 'true', rollout_percentage: 50 },
      { key: 'blue', rollout_percentage: 50 },
    ],
  },
};

const withPayloads = (payloads: unknown) => ({ groups: [{ rollout_percentage: 100 }], payloads });

const createRemote = (key: string, partial: object = {}) =>
  burgee.createFlag({ key, is_remote_configuration: true, ...partial });

const createSecret = (key: string, payloads: object = { true: SECRET }) =>
  createRemote(key, {
    has_encrypted_payloads: true,
    filters: { ...VARIANTS, ...withPayloads(payloads) },
  });

const read = (idOrKey: string | number, key: string | null = burgee.personalApiKey, query = {}) =>
  burgee.request('GET', `${FLAGS}${encodeURIComponent(idOrKey)}/remote_config/`, { key, query });

describe('a remote configuration', () => {
  it('is read by id and by key, with every credential, as JSON text in a JSON string', async () => {
    const flag = await createRemote('settings', { filters: withPayloads({ true: '{"a": 1}' }) });
    for (const name of [flag.id, flag.key]) {
      for (const key of [burgee.personalApiKey, burgee.projectSecretKey, reader.key]) {
        const reply = await read(name, key);
        expect([reply.status, reply.text]).toEqual([200, '"{\\"a\\": 1}"']);
        expect(reply.headers['content-type']).toBe('application/json');
      }
    }
    const path = '/api/projects/@current/feature_flags/settings/remote_config';
    const query = { token: burgee.projectApiKey };
    const asSdk = await burgee.request('GET', path, { key: burgee.projectSecretKey, query });
    expect(asSdk.body).toBe('{"a": 1}');
  });

  it.each<[string, unknown, string]>([
    ['an object', { a: [1, 'ż'] }, '{"a":[1,"ż"]}'],
    ['a number', 5, '5'],
    ['a text that is JSON', '"text"', '"text"'],
    ['null', null, 'null'],
  ])('gives %s as the JSON text that is stored', async (name, payload, text) => {
    const flag = await createRemote(`with ${name}`.replaceAll(' ', '-'), {
      filters: withPayloads({ true: payload }),
    });
    expect((await read(flag.key)).body).toBe(text);
  });

  it('takes a name of digits for an id, never for a key', async () => {
    const flag = await createRemote('4711', { filters: withPayloads({ true: '1' }) });
    expect((await read('4711')).status).toBe(404);
    expect((await read(flag.id)).body).toBe('1');
  });

  it.each<[string, unknown]>([
    ['no payloads', undefined],
    ['only payloads of variants', { blue: '1' }],
    ['payloads without one', {}],
  ])('has an empty body without a media type when it has %s', async (name, payloads) => {
    const flag = await createRemote(`has-${name}`.replaceAll(' ', '-'), {
      filters: { ...withPayloads(payloads), ...(name.includes('variants') ? VARIANTS : {}) },
    });
    const reply = await read(flag.key);
    expect([reply.status, reply.text]).toEqual([200, '']);
    expect(reply.headers).not.toHaveProperty('content-type');
  });

  it('is served although the flag is off', async () => {
    const flag = await createRemote('off', {
      active: false,
      filters: withPayloads({ true: '"still"' }),
    });
    expect((await read(flag.key)).body).toBe('"still"');
  });

  it('is refused with 404 when there is none', async () => {
    const plain = await burgee.createFlag({ key: 'plain', filters: withPayloads({ true: '1' }) });
    const gone = await createRemote('gone', { filters: withPayloads({ true: '1' }) });
    await burgee.api('PATCH', gone.path, { body: { deleted: true } });
    const names = [
      plain.id,
      plain.key,
      gone.id,
      gone.key,
      'unknown',
      0,
      2_147_483_648,
      '9'.repeat(30),
    ];
    for (const name of names) {
      const reply = await read(name);
      expect([name, reply.status, reply.body]).toEqual([
        name,
        404,
        { type: 'invalid_request', code: 'not_found', detail: 'Not found.', attr: null },
      ]);
    }
  });

  it('is closed to other projects and to keys without the scope', async () => {
    await createRemote('closed', { filters: withPayloads({ true: '1' }) });
    const other = await burgee.createProject();
    const narrow = await burgee.createKey({ scopes: ['person:read'] });
    const foreign = await read('closed', other.projectSecretKey);
    expect([foreign.status, foreign.body]).toEqual([
      403,
      {
        type: 'authentication_error',
        code: 'permission_denied',
        detail: 'You do not have permission to perform this action.',
        attr: null,
      },
    ]);
    expect((await read('closed', narrow.key)).status).toBe(403);
    expect((await read('closed', burgee.projectApiKey)).status).toBe(401);
    expect((await read('closed', null)).status).toBe(401);
    const query = { token: other.projectApiKey };
    expect((await read('closed', burgee.personalApiKey, query)).status).toBe(403);
    expect((await read('closed', burgee.projectSecretKey, query)).status).toBe(403);
  });
});

async function storedPayload(flag: TestFlag, key = 'true'): Promise<unknown> {
  const row = await burgee.db('feature_flags').where({ id: flag.id }).first();
  expect(JSON.stringify(row)).not.toContain('correct horse');
  return pick(row?.filters, 'payloads', key);
}

const CIPHERTEXT = expect.stringMatching(/^burgee-enc-1:[0-9a-f]{8}:[\w-]{40,}$/);

describe('a secret payload', () => {
  it('is encrypted in the database, every payload of the flag with a nonce of its own', async () => {
    const flag = await createSecret('sealed', { true: SECRET, blue: SECRET });
    const [first, second] = [await storedPayload(flag), await storedPayload(flag, 'blue')];
    expect([first, second]).toEqual([CIPHERTEXT, CIPHERTEXT]);
    expect(first).not.toBe(second);
  });

  it('is readable with a personal key, in every reply about the flag', async () => {
    const flag = await createSecret('readable');
    const filters = expect.objectContaining({ payloads: { true: SECRET } });
    expect(flag.body).toMatchObject({ filters, has_encrypted_payloads: true });
    expect((await burgee.api('GET', flag.path)).body).toMatchObject({ filters });
    const list = await burgee.api('GET', FLAGS);
    expect(pickList(list.body, 'results')).toContainEqual(expect.objectContaining({ filters }));
    const changed = await burgee.api('PATCH', flag.path, { body: { name: 'x' } });
    expect(changed.body).toMatchObject({ filters });
    for (const key of [burgee.personalApiKey, reader.key]) {
      expect((await read(flag.key, key)).body).toBe(SECRET);
    }
  });

  it('is a marker for a project secret key', async () => {
    const flag = await createSecret('marked');
    const reply = await read(flag.key, burgee.projectSecretKey);
    expect([reply.status, reply.text]).toEqual([200, JSON.stringify(MARKER)]);
  });

  it.each<[string, object]>([
    ['the marker', { filters: withPayloads({ true: MARKER }) }],
    ['no payloads', { filters: { groups: [{ rollout_percentage: 5 }] } }],
    ['empty payloads', { filters: withPayloads({}) }],
    ['no filters', { name: 'renamed' }],
    ['only that it is secret', { has_encrypted_payloads: true }],
  ])('stays as it is stored when an update has %s', async (name, body) => {
    const flag = await createSecret(`kept-${name}`.replaceAll(' ', '-'));
    const before = await storedPayload(flag);
    expect((await burgee.api('PATCH', flag.path, { body })).status).toBe(200);
    expect(await storedPayload(flag)).toBe(before);
    expect((await read(flag.key)).body).toBe(SECRET);
  });

  it('is encrypted anew when an update has another text, the other payloads kept', async () => {
    const flag = await createSecret('renewed', { true: SECRET, blue: '"b"' });
    const before = [await storedPayload(flag), await storedPayload(flag, 'blue')];
    const body = { filters: withPayloads({ true: '"correct horse battery"', blue: MARKER }) };
    expect((await burgee.api('PATCH', flag.path, { body })).status).toBe(200);
    const after = [await storedPayload(flag), await storedPayload(flag, 'blue')];
    expect(after).toEqual([CIPHERTEXT, before[1]]);
    expect(after[0]).not.toBe(before[0]);
    expect((await read(flag.key)).body).toBe('"correct horse battery"');
  });

  it('is dropped when the flag stops to be secret, unless a new one comes with that', async () => {
    const flag = await createSecret('opened', { true: SECRET, blue: '"b"' });
    const body = { has_encrypted_payloads: false };
    const reply = await burgee.api('PATCH', flag.path, { body });
    expect(pick(reply.body, 'filters', 'payloads')).toEqual({});
    expect(await storedPayload(flag)).toBe(undefined);
    const other = await createSecret('opened-anew', { true: SECRET, blue: '"b"' });
    const filters = withPayloads({ true: '"public"', blue: MARKER });
    await burgee.api('PATCH', other.path, { body: { ...body, filters } });
    expect([await storedPayload(other), await storedPayload(other, 'blue')]).toEqual([
      '"public"',
      undefined,
    ]);
    expect((await read(other.key, burgee.projectSecretKey)).body).toBe('"public"');
  });

  it('is what a plain payload becomes when the flag becomes secret', async () => {
    const flag = await createRemote('closing', { filters: withPayloads({ true: SECRET }) });
    const body = { has_encrypted_payloads: true };
    expect((await burgee.api('PATCH', flag.path, { body })).status).toBe(200);
    expect(await storedPayload(flag)).toEqual(CIPHERTEXT);
    expect((await read(flag.key)).body).toBe(SECRET);
  });

  it('is in no evaluation, no definitions and no activity', async () => {
    const flag = await createSecret('hidden', { true: '"needle-1"' });
    const stored = String(await storedPayload(flag));
    const filters = withPayloads({ true: '"needle-2"' });
    await burgee.api('PATCH', flag.path, { body: { filters } });
    await burgee.api('PATCH', flag.path, {
      body: { filters: { ...filters, groups: [{ rollout_percentage: 7 }] } },
    });
    const places = [
      await burgee.evaluate({ evaluation_runtime: 'all', flag_keys: ['hidden'] }),
      await burgee.evaluate({ evaluation_runtime: 'all' }, { v: '1' }),
      await burgee.api('GET', '/flags/definitions?send_cohorts'),
      await burgee.api('GET', `${FLAGS}my_flags/`),
      await burgee.api('GET', `${FLAGS}evaluation_reasons/?distinct_id=p`),
    ];
    for (const { status, text } of places) {
      expect(status).toBe(200);
      expect(text).not.toContain('"hidden"');
    }
    const log = await burgee.api('GET', `${flag.path}activity/`);
    expect(pick(log.body, 'results', 0, 'activity')).toBe('updated');
    expect(log.text).toContain('(encrypted)');
    const rows = await burgee.db('activity_log').where({ item_id: String(flag.id) });
    for (const text of [log.text, JSON.stringify(rows)]) {
      expect(text).not.toMatch(/needle|burgee-enc/);
      expect(text).not.toContain(stored);
    }
  });

  it.each<[string, object, object]>([
    ['without a payload', { filters: withPayloads({}) }, { attr: 'filters' }],
    ['that is no remote configuration', { is_remote_configuration: false }, {}],
  ])('is refused %s', async (name, partial, error) => {
    const reply = await burgee.api('POST', FLAGS, {
      body: {
        key: `refused-${name}`.replaceAll(' ', '-'),
        is_remote_configuration: true,
        has_encrypted_payloads: true,
        filters: withPayloads({ true: SECRET }),
        ...partial,
      },
    });
    expect([reply.status, reply.body]).toEqual([400, expect.objectContaining(error)]);
  });

  it('cannot be left on a flag that stops to be a remote configuration', async () => {
    const flag = await createSecret('still-remote');
    const body = { is_remote_configuration: false };
    expect((await burgee.api('PATCH', flag.path, { body })).status).toBe(400);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
