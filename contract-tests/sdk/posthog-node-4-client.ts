import { PostHog } from 'posthog-node-4';
import { expect } from 'vitest';
import { PERSONAL_API_KEY, PROJECT_API_KEY } from '../start-burgee.ts';

type Options = ConstructorParameters<typeof PostHog>[1];

/** Runs work with an unchanged SDK of the older major and closes it, whatever happens. */
export async function withClient(
  host: string,
  options: Options,
  work: (client: PostHog) => Promise<void>,
): Promise<void> {
  const client = new PostHog(PROJECT_API_KEY, { host, fetchRetryCount: 0, ...options });
  try {
    await work(client);
  } finally {
    await client.shutdown();
  }
}

/** Runs work with an SDK that holds the definitions of flags, and keeps them fresh. */
export async function withLocalClient(
  host: string,
  work: (client: PostHog) => Promise<void>,
): Promise<void> {
  const options = { personalApiKey: PERSONAL_API_KEY, featureFlagsPollingInterval: 100 };
  await withClient(host, options, async (client) => {
    expect(await client.waitForLocalEvaluationReady(5_000)).toBe(true);
    await work(client);
  });
}
