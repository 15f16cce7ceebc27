import type { PostHog } from 'posthog-js';
import { expect } from 'vitest';
import { type StartedBurgee, startBurgee } from '../start-burgee.ts';
import { createClientFlags } from './client-flags.ts';
import {
  type RecordedRequest,
  type RecordingProxy,
  startRecordingProxy,
} from './recording-proxy.ts';

/** How long a page may take for what a person waits for. */
export const SOON = { timeout: 10_000 };

/** A Burgee with flags that browsers ask for, and what they send recorded. */
export interface BrowserWorld {
  readonly burgee: StartedBurgee;
  readonly proxy: RecordingProxy;
  /** The requests that pass while this runs. */
  record(work: () => Promise<void>): Promise<readonly RecordedRequest[]>;
  /** Waits for the first flags of a page; returns the keys of those that are on. */
  loadFlags(posthog: PostHog): Promise<readonly string[]>;
  /** Does something that asks for the flags again, and waits until the page has them. */
  reloadFlags(posthog: PostHog, act: () => void): Promise<void>;
  /** Waits until so many events of this name and this id are stored. */
  storedEvents(event: string, distinctId: string, count?: number): Promise<readonly StoredEvent[]>;
  stop(): Promise<void>;
}

interface StoredEvent {
  readonly project_id: number;
  readonly properties: unknown;
}

const COMPANY = {
  event: '$groupidentify',
  distinct_id: 'company_acme',
  properties: { $group_type: 'company', $group_key: 'acme', $group_set: { seats: 500 } },
};

export async function startBrowserWorld(): Promise<BrowserWorld> {
  const burgee = await startBurgee();
  const proxy = await startRecordingProxy(burgee.url);
  await burgee.request('POST', '/e/', { body: { api_key: burgee.projectApiKey, ...COMPANY } });
  await createClientFlags(burgee);
  const countAnswered = () =>
    proxy.requests().filter(({ path }) => path.startsWith('/flags')).length;
  const waitForFlags = async (posthog: PostHog, answered: number, act: () => void) => {
    let loaded: readonly string[] | undefined;
    posthog.onFeatureFlags((keys) => {
      // It is called at once with flags that were there before; those are not waited for.
      if (countAnswered() > answered) loaded = keys;
    });
    act();
    await expect.poll(() => loaded, SOON).toBeDefined();
    return loaded ?? [];
  };
  return {
    burgee,
    proxy,
    async record(work) {
      const before = proxy.requests().length;
      await work();
      // What was sent can be seen in the database before its answer has passed.
      await proxy.settled();
      return proxy.requests().slice(before);
    },
    loadFlags: (posthog) => waitForFlags(posthog, -1, () => {}),
    async reloadFlags(posthog, act) {
      await waitForFlags(posthog, countAnswered(), act);
    },
    async storedEvents(event, distinctId, count = 1) {
      const read = () => burgee.db('events').where({ event, distinct_id: distinctId });
      await expect.poll(read, SOON).toHaveLength(count);
      return read();
    },
    async stop() {
      await proxy.stop();
      await burgee.stop();
    },
  };
}
