import { afterAll, beforeAll, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const MARKER = '"********* (encrypted)"';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

it('A payload that no key decrypts any more is told as that, and logged with its flag', async () => {
  const filters = { groups: [{ rollout_percentage: 100 }], payloads: { true: '"secret"' } };
  const flag = await burgee.createFlag({
    is_remote_configuration: true,
    has_encrypted_payloads: true,
    filters,
  });
  const lost = `burgee-enc-1:00000000:${'A'.repeat(60)}`;
  await burgee
    .db('feature_flags')
    .where({ id: flag.id })
    .update({ filters: JSON.stringify({ ...filters, payloads: { true: lost } }) });

  const reply = await burgee.api('GET', `${flag.path}remote_config/`);
  expect(reply.status).toBe(500);
  expect(reply.body).toEqual({
    type: 'server_error',
    code: 'remote_config_decrypt_failed',
    detail:
      'Failed to decrypt the remote config payload. Please contact support if the problem persists.',
    attr: null,
  });
  const logged = burgee.errors().map(({ fields }) => String(pick(fields, 'err')));
  expect(logged).toEqual([`Error: No encryption key fits the payload of flag ${flag.id}.`]);

  const key = burgee.projectSecretKey;
  const covered = await burgee.request('GET', `${flag.path}remote_config/`, { key });
  expect([covered.status, covered.body]).toEqual([200, MARKER]);
});
