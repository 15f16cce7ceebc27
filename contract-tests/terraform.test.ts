import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList, pickNumber } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

/** Sends what the provider sends: these headers, and a body without spaces. */
function provider(method: string, path: string, body?: object) {
  return burgee.api(method, path, {
    headers: {
      'user-agent': 'posthog/terraform-provider; version: 1.0.0',
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { raw: JSON.stringify(body) }),
  });
}

/** What the provider reads of a flag; it fails when one of these has another type. */
function stateOf(body: unknown) {
  return {
    id: pickNumber(body, 'id'),
    key: pick(body, 'key'),
    name: pick(body, 'name'),
    active: pick(body, 'active'),
    filters: pick(body, 'filters'),
    tags: pickList(body, 'tags').toSorted(),
    deleted: pick(body, 'deleted'),
    ensure_experience_continuity: pick(body, 'ensure_experience_continuity'),
  };
}

const FILTERS = {
  groups: [
    {
      properties: [
        { key: 'email', type: 'person', operator: 'exact', value: ['a@example.com', 'b@x.org'] },
      ],
      rollout_percentage: 100,
      variant: 'control',
    },
    { properties: [], rollout_percentage: 0 },
  ],
  multivariate: {
    variants: [
      { key: 'control', name: 'Control', rollout_percentage: 50 },
      { key: 'test', name: 'Test', rollout_percentage: 50 },
    ],
  },
  payloads: { control: '{"color": "red"}', test: '"text"' },
};

describe('the life of a resource of the Terraform provider', () => {
  it('goes from create over update, delete and re-create to restore', async () => {
    const created = await provider('POST', FLAGS, {
      key: 'terraform-flag',
      name: 'Managed',
      active: true,
      filters: FILTERS,
      deleted: false,
      ensure_experience_continuity: false,
      tags: ['managed-by:terraform', 'env:test'],
    });
    expect(created.status, created.text).toBe(201);
    const state = stateOf(created.body);
    expect(state).toMatchObject({
      key: 'terraform-flag',
      filters: FILTERS,
      deleted: false,
      tags: ['env:test', 'managed-by:terraform'],
    });
    const path = `${FLAGS}${state.id}/`;
    expect(stateOf((await provider('GET', path)).body)).toEqual(state);

    const updated = await provider('PATCH', path, {
      key: 'terraform-flag',
      name: 'Managed still',
      active: false,
      filters: { groups: [{ rollout_percentage: 0 }], multivariate: null, payloads: null },
      deleted: false,
      ensure_experience_continuity: true,
    });
    expect(updated.status, updated.text).toBe(200);
    const changed = {
      ...state,
      name: 'Managed still',
      active: false,
      filters: { groups: [{ rollout_percentage: 0 }], multivariate: null, payloads: null },
      ensure_experience_continuity: true,
    };
    expect(stateOf(updated.body)).toEqual(changed);
    expect(stateOf((await provider('GET', path)).body)).toEqual(changed);

    expect((await provider('GET', path)).status).toBe(200);
    const deleted = await provider('PATCH', path, { key: 'terraform-flag', deleted: true });
    expect(deleted.status).toBe(200);
    const drifted = await provider('GET', path);
    expect(drifted.status).toBe(200);
    expect(stateOf(drifted.body)).toEqual({ ...changed, deleted: true });

    const again = await provider('POST', FLAGS, {
      key: 'terraform-flag',
      filters: { groups: [{}] },
      deleted: false,
    });
    expect(again.status, again.text).toBe(201);
    const second = stateOf(again.body);
    expect(second.id).not.toBe(state.id);
    expect(second).toMatchObject({ key: 'terraform-flag', filters: { groups: [{}] }, tags: [] });

    const taken = await provider('PATCH', path, { key: 'terraform-flag', deleted: false });
    expect(taken.status).toBe(400);
    expect(taken.body).toMatchObject({ code: 'unique', attr: 'key' });
    await provider('PATCH', `${FLAGS}${second.id}/`, { key: 'terraform-flag', deleted: true });
    const restored = await provider('PATCH', path, { key: 'terraform-flag', deleted: false });
    expect(restored.status, restored.text).toBe(200);
    expect(stateOf(restored.body)).toEqual(changed);
  });

  it('ends well when the flag is gone already', async () => {
    expect((await provider('GET', `${FLAGS}999999/`)).status).toBe(404);
    const reply = await provider('PATCH', `${FLAGS}999999/`, { key: 'x', deleted: true });
    expect(reply.status).toBe(404);
  });

  it('keeps a rollout of 0 and an empty condition as they were sent', async () => {
    const bodies = [{ groups: [{ rollout_percentage: 0 }] }, { groups: [{}] }];
    for (const [index, filters] of bodies.entries()) {
      const body = { key: `terraform-minimal-${index}`, filters, deleted: false };
      const reply = await provider('POST', FLAGS, body);
      expect(pick(reply.body, 'filters')).toEqual(filters);
    }
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
