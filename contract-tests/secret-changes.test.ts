import { afterAll, beforeAll, expect, it } from 'vitest';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});
afterAll(async () => {
  await burgee.stop();
});

const NEEDLE = '"a needle in the log"';

it('A payload that becomes secret is in no entry of the activity log that tells of it', async () => {
  const flag = await burgee.createFlag({
    is_remote_configuration: true,
    filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: NEEDLE } },
  });
  const changed = await burgee.api('PATCH', flag.path, { body: { has_encrypted_payloads: true } });
  expect(changed.status, changed.text).toBe(200);
  const { text } = await burgee.api('GET', `${flag.path}activity/`);
  expect(text).toContain('has_encrypted_payloads');
  expect(text).not.toContain('needle');
});

it('The secret payload of a variant goes with the variant, and the flag stays editable', async () => {
  const flag = await burgee.createFlag({
    is_remote_configuration: true,
    has_encrypted_payloads: true,
    filters: {
      groups: [{ rollout_percentage: 100 }],
      multivariate: { variants: [{ key: 'blue', rollout_percentage: 100 }] },
      payloads: { blue: '"b"' },
    },
  });
  const filters = { multivariate: null, payloads: { true: '"t"' } };
  const single = await burgee.api('PATCH', flag.path, { body: { filters } });
  expect(single.status, single.text).toBe(200);
  expect(single.body).toMatchObject({ filters: { payloads: { true: '"t"' } } });
  expect(single.text).not.toContain('blue');
  const later = await burgee.api('PATCH', flag.path, {
    body: { filters: { groups: [{ rollout_percentage: 50 }] } },
  });
  expect(later.status, later.text).toBe(200);
});

it.each([
  { flag_keys: 'on' },
  { $properties: 5 },
  { $groups: [1] },
  { device_id: 5 },
  { evaluation_environments: 'x' },
  { $token: 5 },
])('A field under an older name has to have its type as well: %j', async (fields) => {
  const reply = await burgee.evaluate(fields);
  expect(reply.status).toBe(400);
  expect(reply.text).toContain(`invalid JSON: ${Object.keys(fields)[0]} `);
});

it('A project API key of any length is unknown, and not a malformed request', async () => {
  const reply = await burgee.evaluate({ token: 'x'.repeat(5_000) });
  expect(reply.status).toBe(401);
});
