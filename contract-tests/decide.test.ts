import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestOptions } from './http.ts';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const UUID = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
);
const SETTINGS = {
  supportedCompression: ['gzip', 'gzip-js'],
  config: { enable_collect_everything: true },
  toolbarParams: {},
  isAuthenticated: false,
  sessionRecording: false,
  surveys: false,
  heatmaps: false,
  capturePerformance: false,
  autocaptureExceptions: false,
  autocapture_opt_out: false,
  siteApps: [],
  defaultIdentifiedOnly: true,
  elementsChainAsString: true,
  captureDeadClicks: false,
  hasFeatureFlags: true,
};
const STAMP = { requestId: UUID, evaluatedAt: expect.any(Number) };
const PATHS = ['/flags', '/flags/', '/decide', '/decide/'];

let burgee: StartedBurgee;
let on: TestFlag;
let off: TestFlag;
let colour: TestFlag;

beforeAll(async () => {
  burgee = await startBurgee();
  on = await burgee.createFlag({
    key: 'on',
    filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '{"a":1}' } },
  });
  off = await burgee.createFlag({
    key: 'off',
    filters: { groups: [{ rollout_percentage: 0 }], payloads: { true: '1' } },
  });
  colour = await burgee.createFlag({
    key: 'colour',
    filters: {
      groups: [{ rollout_percentage: 100 }],
      multivariate: { variants: [{ key: 'blue', rollout_percentage: 100 }] },
      payloads: { blue: '"bluish"' },
    },
  });
  await burgee.createFlag({ key: 'inactive', active: false });
});

afterAll(async () => {
  await burgee.stop();
});

function described(flag: TestFlag, variant: string | null, payload: string | null) {
  const isOn = flag !== off;
  return {
    key: flag.key,
    enabled: isOn,
    variant,
    reason: isOn
      ? { code: 'condition_match', condition_index: 0, description: 'Matched condition set 1' }
      : { code: 'out_of_rollout_bound', condition_index: 0, description: 'Out of rollout bound' },
    metadata: { id: flag.id, version: 1, description: null, payload, has_experiment: false },
  };
}

const BODIES = {
  flags: () => ({
    errorsWhileComputingFlags: false,
    flags: {
      on: described(on, null, '{"a":1}'),
      off: described(off, null, null),
      colour: described(colour, 'blue', '"bluish"'),
    },
  }),
  legacy: () => ({
    errorsWhileComputingFlags: false,
    featureFlags: { on: true, off: false, colour: 'blue' },
    featureFlagPayloads: { on: '{"a":1}', colour: '"bluish"' },
  }),
  enabled: () => ({ featureFlags: { on: true, colour: 'blue' } }),
  keys: () => ({ featureFlags: expect.toSatisfy(isListOfEnabledKeys) }),
} as const;

function isListOfEnabledKeys(value: unknown): boolean {
  return Array.isArray(value) && value.toSorted().join() === 'colour,on';
}

type Shape = keyof typeof BODIES;

/** The shape for each `v` on both paths; null stands for no `v` at all. */
const SHAPES: readonly (readonly [v: string | null, onFlags: Shape, onDecide: Shape])[] = [
  [null, 'legacy', 'keys'],
  ['', 'legacy', 'keys'],
  ['-1', 'legacy', 'keys'],
  ['0', 'legacy', 'keys'],
  ['1', 'legacy', 'keys'],
  ['newest', 'legacy', 'keys'],
  ['2', 'flags', 'enabled'],
  ['3', 'flags', 'legacy'],
  ['4', 'flags', 'flags'],
  ['12', 'flags', 'flags'],
];

describe('the shape of an evaluation', () => {
  const ask = (path: string, v: string | null, config: string | null) =>
    burgee.request('POST', path, {
      query: { ...(v === null ? {} : { v }), ...(config === null ? {} : { config }) },
      body: { token: burgee.projectApiKey, distinct_id: 'p' },
    });

  it.each(SHAPES)('for v=%s is %s on /flags and %s on /decide', async (v, onFlags, onDecide) => {
    for (const path of PATHS) {
      const isDecide = path.startsWith('/decide');
      for (const config of [null, 'true', '1', '', 'false', '0']) {
        const isWithout = config === 'false' || config === '0';
        const isUnstated = (v === null || v === '') && config === null;
        const shape = isDecide ? onDecide : isUnstated ? 'flags' : onFlags;
        const hasSettings = config === null ? isDecide || isUnstated : !isWithout;
        const reply = await ask(path, v, config);
        expect([path, v, config, reply.status]).toEqual([path, v, config, 200]);
        expect(reply.headers['content-type']).toBe('application/json');
        expect(reply.body, `${path} v=${v} config=${config}`).toEqual({
          ...BODIES[shape](),
          ...STAMP,
          ...(hasSettings ? SETTINGS : {}),
        });
      }
    }
  });

  it('is the same whatever else the query has', async () => {
    const query = {
      v: '2',
      _: '1767225600000',
      ver: '1.434.18',
      lib_version: '1.2.3',
      ip: '0',
      detect_languages: 'true',
      flag_keys: 'off',
    };
    const body = { token: burgee.projectApiKey, distinct_id: 'p' };
    const reply = await burgee.request('POST', '/flags/', { query, body });
    expect(reply.body).toEqual({ ...BODIES.flags(), ...STAMP });
  });
});

describe('the packing of a body', () => {
  const json = () => JSON.stringify({ token: burgee.projectApiKey, distinct_id: 'p' });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  it.each(PATHS)('may be what posthog-js sends, on %s', async (path) => {
    const reply = await burgee.request('POST', path, {
      raw: `data=${encodeURIComponent(base64(json()))}`,
      headers: form,
      query: { v: '4', compression: 'base64' },
    });
    expect(pick(reply.body, 'flags', 'on', 'enabled')).toBe(true);
  });

  it.each<[string, (text: string) => string | Uint8Array]>([
    ['', (text) => text],
    ['gzip', (text) => text],
    ['gzip', (text) => gzipSync(text)],
    ['gzip-js', (text) => gzipSync(text)],
    ['base64', (text) => text],
    ['base64', (text) => base64(text)],
    ['base64', (text) => base64(text).replace(/=+$/, '')],
    ['base64', (text) => encodeURIComponent(base64(text))],
    ['', (text) => base64(text)],
    ['', (text) => gzipSync(text)],
  ])('may be called %j by the query, example %#', async (compression, pack) => {
    const reply = await burgee.request('POST', '/flags', {
      raw: pack(json()),
      query: { v: '2', compression },
    });
    expect(reply.status, reply.text).toBe(200);
    expect(pick(reply.body, 'flags', 'on', 'enabled')).toBe(true);
  });

  it.each<[string, string, Record<string, string>]>([
    ['lz64', 'Unsupported compression type', {}],
    ['zstd', 'Unsupported compression type', form],
    ['gzip', 'Gzip compression not supported for form-urlencoded data', form],
    ['gzip-js', 'Gzip compression not supported for form-urlencoded data', form],
  ])('cannot be called %j: %s', async (compression, reason, headers) => {
    const options: RequestOptions = {
      raw: `data=${base64(json())}`,
      headers,
      query: { compression },
    };
    const reply = await burgee.request('POST', '/flags', options);
    expect([reply.status, reply.text]).toEqual([
      400,
      `Failed to decode request: ${reason}. Please check your request format and try again.`,
    ]);
  });

  it('may have numbers that JSON does not have, which count as null', async () => {
    const flag = await burgee.createFlag({
      key: 'worded',
      filters: { groups: [{ properties: [{ key: 'word', type: 'person', value: ['"NaN"'] }] }] },
    });
    const raw = `{"token": "${burgee.projectApiKey}", "distinct_id": "p", "groups": {"a": NaN},
      "person_properties": {"word": "\\"NaN\\"", "a": [-Infinity, {"b": NaN}], "c": Infinity}}`;
    for (const sent of [raw, gzipSync(raw), base64(raw)]) {
      const reply = await burgee.request('POST', '/flags', { raw: sent, query: { v: '2' } });
      expect(reply.status, reply.text).toBe(200);
      expect(pick(reply.body, 'flags', flag.key, 'enabled')).toBe(true);
    }
    const nobody = `{"token": "${burgee.projectApiKey}", "distinct_id": NaN}`;
    const reply = await burgee.request('POST', '/flags', { raw: nobody });
    expect(reply.text).toMatch(/^The distinct_id field is missing/);
  });
});

describe('what a request says', () => {
  const ask = async (body: object, query: Record<string, string> = {}) => {
    const reply = await burgee.evaluate(body, { v: '2', ...query });
    expect(reply.status, reply.text).toBe(200);
    return Object(pick(reply.body, 'flags'));
  };
  const keys = async (...args: Parameters<typeof ask>) => Object.keys(await ask(...args));

  it('may have two names at once, the newer one counting, and nulls and empty lists', async () => {
    const key = burgee.projectApiKey;
    for (const body of [
      { token: key, api_key: 'phc_other', $token: 'phc_other' },
      { token: null, api_key: key, $token: 'phc_other' },
      { token: '', $token: key },
      { person_properties: [], groups: [], group_properties: [], evaluation_contexts: [] },
      { person_properties: null, $properties: {}, groups: null, device_id: null, ip_address: null },
      { distinct_id: null, $distinct_id: 7 },
    ]) {
      expect(await keys({ ...body, flag_keys: ['on'] })).toEqual(['on']);
    }
  });

  it('counts the first 200 characters of the id, and takes an empty one', async () => {
    const { key } = await burgee.createFlag({
      key: 'half',
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    const value = async (distinct_id: unknown) =>
      pick(await ask({ distinct_id, flag_keys: [key] }), key, 'enabled');
    const seen = new Set();
    for (let index = 0; index < 12; index += 1) {
      for (const character of ['x', 'ż', '🦊']) {
        const id = `${index}`.padEnd(10, '-') + character.repeat(190);
        seen.add(await value(id));
        expect(await value(`${id}${character}and more`)).toBe(await value(id));
      }
      expect(await value(index + 0.5)).toBe(await value(`${index}.5`));
    }
    expect(seen).toEqual(new Set([true, false]));
    expect(await value('')).toBe(true);
  });

  it('chooses flags by key, with what they depend on, or survey flags alone', async () => {
    const needs = (id: number) => ({
      groups: [
        {
          properties: [{ key: `${id}`, type: 'flag', operator: 'flag_evaluates_to', value: true }],
        },
      ],
    });
    const middle = await burgee.createFlag({ key: 'middle', filters: needs(on.id) });
    const top = await burgee.createFlag({ key: 'top', filters: needs(middle.id) });
    const asked = await ask({ flag_keys_to_evaluate: [top.key, 'unknown', 'inactive'] });
    expect(Object.keys(asked).toSorted()).toEqual(['middle', 'on', 'top']);
    expect(pick(asked, 'top', 'enabled')).toBe(true);
    expect(await keys({ flag_keys: [] })).toEqual([]);
    expect(await keys({ disable_flags: true, distinct_id: null })).toEqual([]);
    await burgee.createFlag({ key: 'survey-targeting-a' });
    for (const only of ['', '1', 'true']) {
      const query = { only_evaluate_survey_feature_flags: only };
      expect(await keys({}, query)).toEqual(['survey-targeting-a']);
    }
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
