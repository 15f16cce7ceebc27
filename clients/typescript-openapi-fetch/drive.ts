import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

const { BURGEE_URL = '', BURGEE_PERSONAL_API_KEY, BURGEE_PROJECT_API_KEY = '' } = process.env;
const client = createClient<paths>({
  baseUrl: BURGEE_URL,
  headers: { authorization: `Bearer ${BURGEE_PERSONAL_API_KEY}` },
});
const project = { project_id: '@current' };

const created = await client.POST('/api/projects/{project_id}/feature_flags/', {
  params: { path: project },
  body: { key: 'from-openapi-fetch', filters: { groups: [{ rollout_percentage: 100 }] } },
});
assert.ok(created.data, JSON.stringify(created.error));

const evaluated = await client.POST('/flags', {
  params: { query: { v: '2' } },
  body: { token: BURGEE_PROJECT_API_KEY, distinct_id: 'a-person' },
});
assert.ok(evaluated.data && 'flags' in evaluated.data, JSON.stringify(evaluated.error));
assert.equal(evaluated.data.flags['from-openapi-fetch']?.enabled, true);

const activity = await client.GET('/api/projects/{project_id}/feature_flags/{id}/activity/', {
  params: { path: { ...project, id: created.data.id } },
});
assert.equal(activity.data?.results[0]?.activity, 'created');

const refused = await client.POST('/api/projects/{project_id}/feature_flags/', {
  params: { path: project },
  body: { key: 'from-openapi-fetch' },
});
assert.equal(refused.error?.code, 'unique');
