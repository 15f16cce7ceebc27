import { randomUUID } from 'node:crypto';
import { pickNumber, pickText } from './read.ts';
import type { StartedBurgee } from './start-burgee.ts';

/**
 * Makes something that a path can name, in project 1 or of its first user, and returns its id. By
 * the step of the path before the parameter, since parameters of different nouns share names.
 */
const subjects: Readonly<Record<string, (burgee: StartedBurgee) => Promise<string>>> = {
  projects: async () => '1',
  versions: async () => '1',
  array: async (burgee) => burgee.projectApiKey,
  feature_flags: async (burgee) => {
    const filters = { groups: [{ rollout_percentage: 100 }], payloads: { true: '"payload"' } };
    const { id, path } = await burgee.createFlag({ is_remote_configuration: true, filters });
    // As if views of it were reported: its dashboard can be enriched then.
    await burgee.api('PATCH', path, { body: { has_enriched_analytics: true } });
    return String(id);
  },
  cohorts: async (burgee) => {
    const body = { name: 'named by a path', is_static: true };
    const { body: created } = await burgee.api('POST', '/api/projects/1/cohorts/', { body });
    return String(pickNumber(created, 'id'));
  },
  dashboards: async (burgee) => {
    const { body } = await burgee.createFlag();
    return String(pickNumber(body, 'usage_dashboard'));
  },
  personal_api_keys: async (burgee) => {
    const body = { label: 'named by a path', scopes: ['user:read'] };
    const { body: created } = await burgee.api('POST', '/api/personal_api_keys/', { body });
    return pickText(created, 'id');
  },
  persons: async (burgee) => {
    const distinctId = `person-${randomUUID()}`;
    await capture(burgee, { event: 'named by a path', distinct_id: distinctId });
    const query = { distinct_id: distinctId };
    const { body: found } = await burgee.api('GET', '/api/projects/1/persons/', { query });
    return pickText(found, 'results', 0, 'uuid');
  },
};

/** Stores what the contract's examples refer to: the company `acme`, and with it its group type. */
export async function storeExamples(burgee: StartedBurgee): Promise<void> {
  const properties = { $group_type: 'company', $group_key: 'acme', $group_set: { plan: 'pro' } };
  await capture(burgee, { event: '$groupidentify', distinct_id: '$company_acme', properties });
}

async function capture(burgee: StartedBurgee, event: object): Promise<void> {
  const body = { api_key: burgee.projectApiKey, ...event };
  const reply = await burgee.request('POST', '/i/v0/e/', { body });
  if (reply.status !== 200) throw new Error(`The event was not stored: ${reply.text}`);
}

/** The path with something new that exists in the place of every parameter. */
export async function fillPath(burgee: StartedBurgee, template: string): Promise<string> {
  const steps = template.split('/');
  const filled = await Promise.all(
    steps.map((step, index) => {
      if (!step.startsWith('{')) return step;
      const noun = steps[index - 1] ?? '';
      const make = subjects[noun];
      if (make === undefined) {
        throw new Error(`Say in subjects.ts how to make what ${step} of ${template} names.`);
      }
      return make(burgee);
    }),
  );
  return filled.join('/');
}
