import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

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

const onFlag = (id: number | string, value: unknown = true) => ({
  key: String(id),
  type: 'flag',
  operator: 'flag_evaluates_to',
  value,
});

const onCohort = (value: unknown) => ({ key: 'id', type: 'cohort', operator: 'in', value });

const create = (filters: object, key = 'never-created') =>
  burgee.api('POST', FLAGS, { body: { key, filters } });

const patch = (flag: TestFlag, body: object) => burgee.api('PATCH', flag.path, { body });

async function addCohort(fields: object = {}): Promise<number> {
  const [row] = await burgee
    .db('cohorts')
    .insert({ project_id: 1, name: 'Buyers', ...fields })
    .returning('id');
  return row?.id ?? 0;
}

const tree = (...values: object[]) => ({
  filters: JSON.stringify({ properties: { type: 'OR', values: [{ type: 'AND', values }] } }),
});

describe('a cohort that a flag refers to', () => {
  it('has to exist, in this project and not deleted', async () => {
    const { id: other } = await burgee.createProject();
    const elsewhere = await addCohort({ project_id: other });
    const deleted = await addCohort({ deleted: true });
    for (const id of [999_999, elsewhere, deleted]) {
      const reply = await create(having(onCohort(id)));
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(
        fault('filters', `Cohort with id ${id} does not exist`, 'cohort_does_not_exist'),
      );
    }
  });

  it.each([
    [null, 'None'],
    [[1], '[1]'],
    ['x', 'x'],
    [1.5, '1.5'],
  ])('is named by its number, and %j is none', async (value, shown) => {
    const reply = await create(having(onCohort(value)));
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      fault('filters', `Cohort with id ${shown} does not exist`, 'cohort_does_not_exist'),
    );
  });

  it('may be named by its number as text, and works then', async () => {
    const id = await addCohort(tree({ key: 'plan', type: 'person', value: 'pro' }));
    const flag = await burgee.createFlag({ filters: having(onCohort(String(id))) });
    expect(pick(flag.body, 'filters')).toMatchObject(having(onCohort(id)));
    const { body } = await burgee.evaluate({ person_properties: { plan: 'pro' } });
    expect(pick(body, 'flags', flag.key, 'enabled')).toBe(true);
  });

  it.each([
    ['directly', tree({ key: 'signup', type: 'behavioral', value: 'performed_event' })],
    ['by a life cycle', tree({ key: 'new', type: 'lifecycle' })],
    ['by an event of the old kind', { groups: JSON.stringify([{ event_id: 'signup', days: 3 }]) }],
    ['by an action of the old kind', { groups: JSON.stringify([{ action_id: 5, days: 3 }]) }],
  ])('may not depend on events: %s', async (_how, fields) => {
    const onEvents = await addCohort({ ...fields, name: 'Signed up' });
    const around = await addCohort({ name: 'Around', ...tree(onCohort(onEvents)) });
    for (const id of [onEvents, around]) {
      const reply = await create(having(onCohort(id)));
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(
        fault(
          'filters',
          "Cohort 'Signed up' with filters on events cannot be used in feature flags.",
          'behavioral_cohort_found',
        ),
      );
    }
  });

  it('may depend on events when it is static, also inside another one', async () => {
    const onEvents = await addCohort({
      is_static: true,
      ...tree({ key: 'signup', type: 'behavioral', value: 'performed_event' }),
    });
    const around = await addCohort(tree(onCohort(onEvents)));
    for (const id of [onEvents, around]) {
      await burgee.createFlag({ filters: having(onCohort(id)) });
    }
  });

  it('is checked through cohorts that refer to each other', async () => {
    const first = await addCohort();
    const second = await addCohort(tree(onCohort(first)));
    await burgee
      .db('cohorts')
      .where({ id: first })
      .update(tree(onCohort(second)));
    await burgee.createFlag({ filters: having(onCohort(first)) });
  });

  it('is not asked for by a change that leaves the filters alone', async () => {
    const id = await addCohort();
    const flag = await burgee.createFlag({ filters: having(onCohort(id)) });
    await burgee.db('cohorts').where({ id }).update({ deleted: true });
    expect((await patch(flag, { name: 'still editable' })).status).toBe(200);
    const refused = await patch(flag, { filters: { early_exit: false } });
    expect(pick(refused.body, 'code')).toBe('cohort_does_not_exist');
  });

  it('has to exist still when the flag decides something again, unless it gets other filters', async () => {
    const id = await addCohort();
    const off = await burgee.createFlag({ filters: having(onCohort(id)), active: false });
    const gone = await burgee.createFlag({ filters: having(onCohort(id)) });
    expect((await patch(gone, { deleted: true })).status).toBe(200);
    await burgee.db('cohorts').where({ id }).update({ deleted: true });

    const refusal = fault(
      'filters',
      `Cohort with id ${id} does not exist`,
      'cohort_does_not_exist',
    );
    for (const reply of [
      await patch(off, { active: true }),
      await burgee.api('POST', `${off.path}enable/`),
      await patch(gone, { deleted: false }),
    ]) {
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(refusal);
    }
    // Restored but disabled, it decides nothing yet.
    expect((await patch(gone, { deleted: false, active: false })).status).toBe(200);
    expect((await patch(off, { active: true, filters: having() })).status).toBe(200);
  });
});

describe('a flag that a flag depends on', () => {
  it.each(['base-flag', '1.5', '-1', ' 1', 'x y'])(
    'is named by its id, and %j is none',
    async (key) => {
      const reply = await create(having(onFlag(key)));
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(
        fault(
          'filters',
          'Flag dependencies must reference flag IDs (integers), not flag keys. ' +
            `Invalid reference: '${key}'`,
        ),
      );
    },
  );

  it('has to exist, in this project and not deleted', async () => {
    const { id: projectId } = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [projectId] });
    const elsewhere = await burgee.request('POST', `/api/projects/${projectId}/feature_flags/`, {
      key,
      body: { key: 'elsewhere' },
    });
    const deleted = await burgee.createFlag();
    await patch(deleted, { deleted: true });
    for (const id of [999_999, 99_999_999_999, pick(elsewhere.body, 'id'), deleted.id]) {
      const reply = await create(having(onFlag(String(id))));
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(
        fault('filters', `Flag dependency references non-existent flag with ID ${id}`),
      );
    }
  });

  it('has to exist still when the flag is enabled again', async () => {
    const base = await burgee.createFlag();
    const flag = await burgee.createFlag({ filters: having(onFlag(base.id)), active: false });
    expect((await patch(base, { deleted: true })).status).toBe(200);
    const reply = await patch(flag, { active: true });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      fault('filters', `Flag dependency references non-existent flag with ID ${base.id}`),
    );
  });

  it('has to be enabled', async () => {
    const base = await burgee.createFlag({ key: 'off-base', active: false });
    const reply = await create(having(onFlag(base.id)));
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      fault(
        'filters',
        `Cannot create dependency on disabled flag 'off-base' (ID: ${base.id}). ` +
          'Flag dependencies must reference active flags only.',
      ),
    );
  });

  it('cannot be itself, under the name that it gets', async () => {
    const flag = await burgee.createFlag();
    const reply = await patch(flag, { key: 'renamed-self', filters: having(onFlag(flag.id)) });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      fault('filters', "Feature flag 'renamed-self' cannot depend on itself"),
    );
  });

  it.each([1, 2, 3])('cannot lead back to it: over %d others', async (length) => {
    const chain = [await burgee.createFlag({ key: `chain-${length}-0` })];
    for (let at = 1; at <= length; at += 1) {
      const below = chain[at - 1]?.id ?? 0;
      chain.push(
        await burgee.createFlag({ key: `chain-${length}-${at}`, filters: having(onFlag(below)) }),
      );
    }
    const [first, last] = [chain[0], chain.at(-1)];
    if (first === undefined || last === undefined) throw new Error('There is no chain.');
    const reply = await patch(first, { filters: having(onFlag(last.id)) });
    expect(reply.status).toBe(400);
    const around = [first.key, ...chain.toReversed().map(({ key }) => key)];
    expect(reply.body).toEqual(
      fault('filters', `Circular dependency detected: ${around.join(' → ')}`),
    );
  });

  it('may be reached on two ways, and then works', async () => {
    const base = await burgee.createFlag();
    const left = await burgee.createFlag({ filters: having(onFlag(base.id)) });
    const right = await burgee.createFlag({ filters: having(onFlag(base.id, true)) });
    const top = await burgee.createFlag({ filters: having(onFlag(left.id), onFlag(right.id)) });
    expect(pick((await burgee.evaluate()).body, 'flags', top.key, 'enabled')).toBe(true);
    expect((await patch(top, { filters: having(onFlag(left.id)) })).status).toBe(200);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
