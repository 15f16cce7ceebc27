import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

function fault(attr: string | null, detail: string, code = 'invalid_input') {
  return { type: 'validation_error', code, detail, attr };
}

/** Filters with one condition that has these properties. */
function having(...properties: object[]): object {
  return { groups: [{ properties, rollout_percentage: 100 }] };
}

const onFlag = (id: number | string) => ({
  key: String(id),
  type: 'flag',
  operator: 'flag_evaluates_to',
  value: true,
});

const patch = (flag: TestFlag, body: object) => burgee.api('PATCH', flag.path, { body });

describe('a flag that others depend on', () => {
  /** A base with so many dependents; their names as a refusal lists them. */
  async function aBase(dependents: number) {
    const base = await burgee.createFlag();
    const children: TestFlag[] = [];
    for (let at = 0; at < dependents; at += 1) {
      const key = `${base.key}-child-${at}`;
      children.push(await burgee.createFlag({ key, filters: having(onFlag(base.id)) }));
    }
    const names = children.slice(0, 5).map(({ key, id }) => `${key} (ID: ${id})`);
    const more = dependents > 5 ? `, and ${dependents - 5} more` : '';
    return { base, children, names: `${names.join(', ')}${more}` };
  }

  it.each([1, 5, 7])('is neither disabled nor deleted: %d of them', async (count) => {
    const { base, names } = await aBase(count);
    const disabled = await patch(base, { active: false });
    expect(disabled.status).toBe(400);
    expect(disabled.body).toEqual(
      fault(
        null,
        `Cannot disable this feature flag because other flags depend on it: ${names}. ` +
          'Please update or disable the dependent flags first.',
      ),
    );
    const deleted = await patch(base, { deleted: true });
    expect(deleted.status).toBe(400);
    expect(deleted.body).toEqual(
      fault(
        null,
        `Cannot delete this feature flag because other flags depend on it: ${names}. ` +
          'Please update or delete the dependent flags first.',
      ),
    );
    expect((await burgee.api('POST', `${base.path}disable/`)).body).toEqual(disabled.body);
    expect((await burgee.api('GET', base.path)).body).toEqual(base.body);
  });

  it('is, once they are disabled, deleted or changed', async () => {
    const { base, children } = await aBase(3);
    const changes = [{ active: false }, { deleted: true }, { filters: having() }];
    for (const [at, child] of children.entries()) {
      expect((await patch(base, { active: false })).status).toBe(400);
      expect((await patch(child, changes[at] ?? {})).status).toBe(200);
    }
    expect((await patch(base, { active: false })).status).toBe(200);
    expect((await patch(base, { deleted: true })).status).toBe(200);
  });

  it('takes what is no change of its state', async () => {
    const { base } = await aBase(1);
    const reply = await patch(base, { active: true, deleted: false, name: 'x' });
    expect(reply.status).toBe(200);
  });

  it('has to be enabled before they are', async () => {
    const { base, children } = await aBase(2);
    for (const child of children) await patch(child, { active: false });
    await patch(base, { active: false });
    const [child] = children;
    if (child === undefined) throw new Error();
    const expected = fault(
      null,
      `Cannot enable this feature flag because it depends on disabled flags: ${base.key} ` +
        `(ID: ${base.id}). Please enable the dependency flags first.`,
    );
    const refused = await patch(child, { active: true });
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual(expected);
    expect((await burgee.api('POST', `${child.path}enable/`)).body).toEqual(expected);
    expect((await patch(child, { active: true, filters: having() })).status).toBe(200);
    await patch(base, { active: true });
    expect((await burgee.api('POST', `${children[1]?.path}enable/`)).status).toBe(200);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
