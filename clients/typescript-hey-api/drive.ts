import assert from 'node:assert/strict';
import { createFeatureFlag, evaluateFlags, listFeatureFlagActivity } from './client';
import { client } from './client/client.gen';

const { BURGEE_URL = '', BURGEE_PERSONAL_API_KEY, BURGEE_PROJECT_API_KEY = '' } = process.env;
client.setConfig({ baseUrl: BURGEE_URL, auth: () => BURGEE_PERSONAL_API_KEY });
const project = { project_id: '@current' };

const created = await createFeatureFlag({
  path: project,
  body: { key: 'from-hey-api', filters: { groups: [{ rollout_percentage: 100 }] } },
});
assert.ok(created.data, JSON.stringify(created.error));

const evaluated = await evaluateFlags({
  query: { v: '2' },
  body: { token: BURGEE_PROJECT_API_KEY, distinct_id: 'a-person' },
});
assert.ok(evaluated.data && 'flags' in evaluated.data, JSON.stringify(evaluated.error));
assert.equal(evaluated.data.flags['from-hey-api']?.enabled, true);

const activity = await listFeatureFlagActivity({ path: { ...project, id: created.data.id } });
assert.equal(activity.data?.results[0]?.activity, 'created');
