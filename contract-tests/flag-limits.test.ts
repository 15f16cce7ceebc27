import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';
const LIMITS = { BURGEE_MAX_FLAGS_PER_PROJECT: '3', BURGEE_MAX_FILTERS_BYTES: '1000' };

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee({ env: LIMITS });
});

afterAll(async () => {
  await burgee.stop();
});

function fault(attr: string | null, detail: string) {
  return { type: 'validation_error', code: 'invalid_input', detail, attr };
}

const FULL = fault(
  null,
  'Maximum of 3 feature flags allowed per team. Please delete unused flags or contact support to increase this limit.',
);

const patch = (flag: TestFlag, body: object) => burgee.api('PATCH', flag.path, { body });

describe('the limits that the operator sets', () => {
  it('hold for the flags of one project that are not deleted, also for restored ones', async () => {
    const deleted = await burgee.createFlag();
    await patch(deleted, { deleted: true });
    const [first] = [
      await burgee.createFlag(),
      await burgee.createFlag(),
      await burgee.createFlag(),
    ];
    const refused = await burgee.api('POST', FLAGS, { body: { key: 'one-too-many' } });
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual(FULL);
    const restored = await patch(deleted, { deleted: false });
    expect(restored.status).toBe(400);
    expect(restored.body).toEqual(FULL);
    expect((await patch(first, { name: 'still editable', deleted: false })).status).toBe(200);
    await patch(first, { deleted: true });
    expect((await patch(deleted, { deleted: false })).status).toBe(200);
    const { id: projectId } = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [projectId] });
    const path = `/api/projects/${projectId}/feature_flags/`;
    const statuses = await Promise.all(
      Array.from({ length: 5 }, async (_, at) => {
        const reply = await burgee.request('POST', path, { key, body: { key: `at-once-${at}` } });
        return reply.status;
      }),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 201, 400, 400]);
  });

  it('hold for the bytes of filters, after they are merged', async () => {
    const { id: projectId } = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [projectId] });
    const path = `/api/projects/${projectId}/feature_flags/`;
    const filters = (length: number) => ({ groups: [{ description: 'ü'.repeat(length) }] });
    const bytesOf = (value: object) => Buffer.byteLength(JSON.stringify(value));
    const tooLarge = (bytes: number) =>
      fault(
        'filters',
        'Feature flag filters exceed maximum size of 1000 bytes. ' +
          `Current size: ${bytes} bytes. Please simplify conditions or reduce payload sizes.`,
      );
    const send = (method: string, to: string, body: object) =>
      burgee.request(method, to, { key, body });
    const refused = await send('POST', path, { key: 'large', filters: filters(490) });
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual(tooLarge(bytesOf(filters(490))));
    const taken = await send('POST', path, { key: 'large', filters: filters(480) });
    expect(taken.status).toBe(201);
    const payloads = { payloads: { true: '"12345678901234"' } };
    const merged = await send('PATCH', `${path}${pick(taken.body, 'id')}/`, { filters: payloads });
    expect(merged.status).toBe(400);
    expect(merged.body).toEqual(tooLarge(bytesOf({ ...filters(480), ...payloads })));
  });
});
