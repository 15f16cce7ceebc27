import { PostHog } from 'posthog-node';
import { evaluateFlags } from '../src/domain/evaluation/match/evaluate-flags.ts';
import { prepareSnapshot } from '../src/domain/evaluation/prepare/prepare.ts';
import { compilePattern } from '../src/domain/targeting/patterns.ts';
import { aContext, aFlag, aProject } from '../test/builders.ts';

/** How many times a second all flags are decided for one person. */
export interface SdkResult {
  readonly engine: number;
  readonly sdk: number;
  readonly ratio: number;
}

const SLICE_MS = 400;
const SLICES = 4;
const PERSON = { plan: 'pro', email: 'ann@example.com' };

/** The engine beside posthog-node's own local evaluation of the same flags. */
export async function benchSdk(flags: number): Promise<SdkResult> {
  const definitions = Array.from({ length: flags }, (_, index) => ({
    id: index + 1,
    key: `bench-flag-${index}`,
    filters: {
      groups: [
        {
          properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }],
          rollout_percentage: 50,
        },
      ],
    },
  }));
  const engine = createEngine(definitions);
  const sdk = await createSdk(definitions);
  const best = { engine: 0, sdk: 0 };
  // In turns, and the best of each: what else the machine does can only make a slice slower.
  for (let slice = 0; slice < SLICES; slice += 1) {
    best.engine = Math.max(best.engine, await perSecond(engine.decide));
    best.sdk = Math.max(best.sdk, await perSecond(sdk.decide));
  }
  await sdk.stop();
  return { ...best, ratio: best.engine / best.sdk };
}

type Definitions = readonly { id: number; key: string; filters: { groups: object[] } }[];

function createEngine(definitions: Definitions) {
  const flags = definitions.map(({ id, key, filters }) =>
    aFlag({ id, key, filters: JSON.parse(JSON.stringify(filters)) }),
  );
  const snapshot = prepareSnapshot(aProject({ flags }), compilePattern);
  const now = new Date();
  const decide = async (round: number) => {
    const context = aContext({ distinctId: `user-${round}`, personProperties: PERSON });
    evaluateFlags(snapshot, context, { now });
  };
  return { decide };
}

async function createSdk(definitions: Definitions) {
  const feed = JSON.stringify({
    flags: definitions.map((flag) => ({ ...flag, active: true, deleted: false, version: 1 })),
    group_type_mapping: {},
    cohorts: {},
  });
  const client = new PostHog('phc_bench', {
    host: 'http://127.0.0.1:9',
    personalApiKey: 'phx_bench',
    featureFlagsPollingInterval: 3_600_000,
    fetch: async () => ({
      status: 200,
      text: async () => feed,
      json: async () => JSON.parse(feed),
    }),
  });
  await client.waitForLocalEvaluationReady();
  const options = { personProperties: PERSON, onlyEvaluateLocally: true };
  return {
    decide: (round: number) => client.getAllFlags(`user-${round}`, options),
    stop: () => client.shutdown(),
  };
}

async function perSecond(work: (round: number) => Promise<unknown>): Promise<number> {
  for (let round = 0; round < 200; round += 1) await work(round);
  const startedAt = performance.now();
  let rounds = 0;
  while (performance.now() - startedAt < SLICE_MS) {
    await work(rounds);
    rounds += 1;
  }
  return (rounds * 1_000) / (performance.now() - startedAt);
}
