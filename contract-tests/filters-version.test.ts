import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const refused = {
  type: 'validation_error',
  code: 'reserved_config_version',
  detail: 'filters.version is reserved. Remove it from the request.',
  attr: 'filters',
};

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

describe('filters', () => {
  it.each([[1], [2], [null]])('must not name their format, not even as %j', async (version) => {
    const filters = { groups: [{}], version };
    const created = await burgee.api('POST', '/api/projects/1/feature_flags/', {
      body: { key: `v${version}`, filters },
    });
    expect([created.status, created.body]).toEqual([400, refused]);
    const { path } = await burgee.createFlag({ key: `stored-${version}` });
    const changed = await burgee.api('PATCH', path, { body: { filters } });
    expect([changed.status, changed.body]).toEqual([400, refused]);
  });

  it('of a newer format that are stored can be changed in what else they say', async () => {
    const { id, path } = await burgee.createFlag({ key: 'newer-format' });
    const filters = JSON.stringify({ version: 2, groups: [{}] });
    await burgee.db('feature_flags').where({ id }).update({ filters });
    const changed = await burgee.api('PATCH', path, { body: { filters: { payloads: {} } } });
    expect(changed.status, changed.text).toBe(200);
    expect(pick(changed.body, 'filters', 'version')).toBe(2);
  });
});
