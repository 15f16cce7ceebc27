import { PostHog } from 'posthog-node';
import type { StartedBurgee } from './start-burgee.ts';

type Options = ConstructorParameters<typeof PostHog>[1];

/** Runs work with an unchanged SDK and closes it, whatever happens. */
export async function withClient<Result>(
  burgee: StartedBurgee,
  options: Options,
  work: (client: PostHog) => Promise<Result>,
): Promise<Result> {
  const client = new PostHog(burgee.projectApiKey, {
    host: burgee.url,
    fetchRetryCount: 0,
    ...options,
  });
  try {
    return await work(client);
  } finally {
    await client.shutdown();
  }
}

export const EVERYBODY = { groups: [{ properties: [], rollout_percentage: 100 }] };
export const NOBODY = { groups: [{ properties: [], rollout_percentage: 0 }] };
export const PRO_ONLY = {
  groups: [
    {
      properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }],
      rollout_percentage: 100,
    },
  ],
};
export const ALWAYS_BLUE = {
  ...EVERYBODY,
  multivariate: {
    variants: [
      { key: 'red', rollout_percentage: 0 },
      { key: 'blue', rollout_percentage: 100 },
    ],
  },
  payloads: { blue: '{"colour":"#00f","sizes":[1,2]}' },
};
export const BIG_COMPANIES = {
  aggregation_group_type_index: 0,
  groups: [
    {
      properties: [
        { key: 'seats', type: 'group', group_type_index: 0, operator: 'gt', value: 100 },
      ],
      rollout_percentage: 100,
    },
  ],
};
