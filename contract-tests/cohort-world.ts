import { expect, vi } from 'vitest';
import { pick, pickNumber } from './read.ts';
import type { StartedBurgee, TestFlag } from './start-burgee.ts';

export const COHORTS = '/api/projects/1/cohorts/';

/** A filter on a person property. */
export const person = (key: string, value: unknown, more: object = {}) => ({
  key,
  type: 'person',
  operator: 'exact',
  value,
  ...more,
});

/** A filter on membership in a cohort. */
export const within = (id: unknown, more: object = {}) => ({
  key: 'id',
  type: 'cohort',
  value: id,
  operator: 'in',
  ...more,
});

/** The filters of a cohort: all of these have to match. */
export const all = (...values: unknown[]) => ({ properties: { type: 'AND', values } });

/** A cohort that a test created. */
export interface TestCohort {
  readonly id: number;
  readonly path: string;
  readonly body: unknown;
}

/** What tests of cohorts do with a service. */
export function createCohortWorld(burgee: StartedBurgee) {
  async function get(path: string): Promise<unknown> {
    return (await burgee.api('GET', path)).body;
  }
  async function create(body: object): Promise<TestCohort> {
    const created = await burgee.api('POST', COHORTS, { body: { name: 'a cohort', ...body } });
    expect(created.status, created.text).toBe(201);
    const id = pickNumber(created.body, 'id');
    return { id, path: `${COHORTS}${id}/`, body: created.body };
  }
  /** Captures an event, with which the person of the distinct id is stored. */
  async function capture(event: string, distinct_id: string, properties = {}): Promise<void> {
    const body = { api_key: burgee.projectApiKey, event, distinct_id, properties };
    expect((await burgee.request('POST', '/i/v0/e/', { body })).status).toBe(200);
  }
  return {
    get,
    create,
    capture,
    createStatic: (name = 'a list') => create({ name, is_static: true }),

    /** Stores three persons: `ann` and `bob` have the plan `pro`, `eve` has `free`. */
    async captureThree(): Promise<void> {
      await capture('seen', 'ann', { $set: { plan: 'pro' } });
      await capture('seen', 'bob', { $set: { plan: 'pro' } });
      await capture('seen', 'eve', { $set: { plan: 'free' } });
    },

    /** The cohort once nothing goes on in the background. */
    settled: (path: string): Promise<unknown> =>
      vi.waitFor(
        async () => {
          const cohort = await get(path);
          expect(pick(cohort, 'is_calculating')).toBe(false);
          return cohort;
        },
        { timeout: 15_000 },
      ),

    async enabled(flagKey: string, distinct_id: string): Promise<unknown> {
      const reply = await burgee.evaluate({ distinct_id, flag_keys: [flagKey] });
      return pick(reply.body, 'flags', flagKey, 'enabled');
    },

    /** A flag for the members of a cohort. */
    flagIn: (id: number): Promise<TestFlag> =>
      burgee.createFlag({ filters: { groups: [{ properties: [within(id)] }] } }),
  };
}

export type CohortWorld = ReturnType<typeof createCohortWorld>;
