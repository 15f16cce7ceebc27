import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickNumber, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const DASHBOARDS = '/api/projects/1/dashboards/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});
afterAll(async () => {
  expect(burgee.errors()).toEqual([]);
  await burgee.stop();
});

const dashboardIdOf = (body: unknown) => pickNumber(body, 'usage_dashboard');

describe('dashboards', () => {
  it('are listed newest first, page by page', async () => {
    const [older, newer] = [await burgee.createFlag(), await burgee.createFlag()];
    const page = await burgee.api('GET', DASHBOARDS, { query: { limit: 1 } });
    expect(pick(page.body, 'results', 0, 'id')).toBe(dashboardIdOf(newer.body));
    expect(pick(page.body, 'results', 0, 'tiles')).toBeUndefined();
    const next = await burgee.api('GET', pickText(page.body, 'next').replace(burgee.url, ''));
    expect(pick(next.body, 'results', 0, 'id')).toBe(dashboardIdOf(older.body));
  });

  it('are not found once they are deleted, and can be restored', async () => {
    const flag = await burgee.createFlag();
    const path = `${DASHBOARDS}${dashboardIdOf(flag.body)}/`;
    const change = (body: object) => burgee.api('PATCH', path, { body });
    expect(pick((await change({ deleted: true })).body, 'deleted')).toBe(true);
    expect((await burgee.api('GET', path)).status).toBe(404);
    expect((await change({ name: 'x' })).status).toBe(404);
    expect((await change({ deleted: false })).status).toBe(200);
    expect((await burgee.api('GET', path)).status).toBe(200);
    expect((await change({})).status).toBe(200);
  });

  it.each([
    [{ name: '' }, 'name', 'blank'],
    [{ name: 'x'.repeat(401) }, 'name', 'max_length'],
    [{ name: 'nul \u0000' }, 'name', 'null_characters_not_allowed'],
    [{ deleted: 'yes' }, 'deleted', 'invalid'],
  ])('refuse %j', async (body, attr, code) => {
    const flag = await burgee.createFlag();
    const path = `${DASHBOARDS}${dashboardIdOf(flag.body)}/`;
    const reply = await burgee.api('PATCH', path, { body });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ attr, code: expect.stringContaining(code) });
  });

  it('of another project are not found, nor can flags be linked to them', async () => {
    const flag = await burgee.createFlag();
    const id = dashboardIdOf(flag.body);
    const other = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [other.id] });
    const reply = await burgee.request('GET', `/api/projects/${other.id}/dashboards/${id}/`, {
      key,
    });
    expect(reply.status).toBe(404);
    const linked = await burgee.request('POST', `/api/projects/${other.id}/feature_flags/`, {
      key,
      body: { key: 'linking', analytics_dashboards: [id] },
    });
    expect(linked.status).toBe(400);
    expect(linked.body).toMatchObject({ attr: 'analytics_dashboards', code: 'does_not_exist' });
  });

  it('can be linked to flags, which keep the link when it is deleted', async () => {
    const [flag, linking] = [await burgee.createFlag(), await burgee.createFlag()];
    const id = dashboardIdOf(flag.body);
    const link = (ids: number[]) =>
      burgee.api('PATCH', linking.path, { body: { analytics_dashboards: ids } });
    expect(pick((await link([id, id])).body, 'analytics_dashboards')).toEqual([id]);
    await burgee.api('PATCH', `${DASHBOARDS}${id}/`, { body: { deleted: true } });
    expect((await link([id])).status).toBe(200);
    expect((await link([])).status).toBe(200);
    expect((await link([id])).status).toBe(400);
  });
});
