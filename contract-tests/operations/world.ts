import { PROJECT_API_KEY, type StartedBurgee } from '../start-burgee.ts';
import { storeExamples } from '../subjects.ts';
import type { CoverageWorld } from './provoke.ts';

/** Makes what the cases work on. */
export async function createWorld(burgee: StartedBurgee): Promise<CoverageWorld> {
  await storeExamples(burgee);
  const useless = await burgee.createKey({ scopes: ['dashboard:read'] });
  const flag = await burgee.createFlag({
    key: 'covering',
    filters: {
      groups: [{ properties: [{ key: 'plan', type: 'person', value: 'pro' }], variant: 'a' }],
      multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
      payloads: { a: '{"size": 1}' },
    },
    tags: ['web'],
  });
  const config = await burgee.createFlag({
    key: 'configuring',
    is_remote_configuration: true,
    filters: {
      groups: [{ properties: [], rollout_percentage: 100 }],
      payloads: { true: '{"color": "red"}' },
    },
  });
  const limitedProject = await burgee.createProject('Used up');
  await burgee.setQuota(limitedProject.id, 0);
  return {
    burgee,
    flag,
    limitedProject,
    configPath: `${config.path}remote_config/`,
    uselessKey: useless.key,
    send: burgee.request,
  };
}

/** An example of the contract as a request to a real project; `id` makes its flag key unused. */
export function fillExample(text: string, id: number): string {
  return text
    .replace('phc_exampleexampleexampleexample', PROJECT_API_KEY)
    .replace(/"key":\s*"new-checkout"/, `"key":"new-checkout-${id}"`);
}
