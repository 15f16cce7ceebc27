import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

const patch = (flag: TestFlag, body: object) => burgee.api('PATCH', flag.path, { body });
const read = async (flag: TestFlag) => (await burgee.api('GET', flag.path)).body;
const activityOf = async (flag: TestFlag) =>
  pickList((await burgee.api('GET', `${flag.path}activity/`)).body, 'results');

function refusal(detail: string) {
  return { error: detail, type: 'validation_error', code: 'invalid_input', detail, attr: null };
}

describe.each([
  ['enable', true],
  ['disable', false],
] as const)('the action %s', (action, active) => {
  it.each([
    ['no body', {}],
    ['an empty body', { raw: '', headers: { 'content-type': 'application/json' } }],
    ['an empty object', { body: {} }],
  ])('changes the flag and nothing else, with %s', async (_what, sent) => {
    const flag = await burgee.createFlag({ name: 'kept', active: !active });
    const reply = await burgee.api('POST', `${flag.path}${action}/`, sent);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ active, name: 'kept', version: 2, key: flag.key });
    expect(await read(flag)).toEqual(reply.body);
    const { body } = await burgee.evaluate();
    expect(pick(body, 'flags', flag.key, 'enabled') ?? false).toBe(active);
    expect(await activityOf(flag)).toHaveLength(2);
  });

  it('leaves a flag alone that is so already', async () => {
    const flag = await burgee.createFlag({ active });
    const reply = await burgee.api('POST', `${flag.path}${action}/`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual(flag.body);
    expect(await activityOf(flag)).toHaveLength(1);
  });

  it('is refused for a deleted flag, and finds no unknown one', async () => {
    const flag = await burgee.createFlag();
    await patch(flag, { deleted: true });
    const reply = await burgee.api('POST', `${flag.path}${action}/`);
    const doing = active ? 'enabling' : 'disabling';
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      success: false,
      ...refusal(`This feature flag has been deleted. Restore it before ${doing} it.`),
    });
    expect((await burgee.api('POST', `${FLAGS}999999/${action}/`)).status).toBe(404);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
