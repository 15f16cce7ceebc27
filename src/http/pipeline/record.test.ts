import { describe, expect, it } from 'vitest';
import { createTestPipeline, EMPTY_REQUEST } from '../../../test/http-pipelines.ts';
import { ownContract } from '../../../test/own-contract.ts';
import { createReplyCheck } from '../contract/reply-check.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { jsonReply } from '../wire/replies.ts';
import type { WireReply } from '../wire/wire.ts';
import { createRecorder, type RecorderOptions } from './record.ts';

const document = ownContract();
const checkReply = await createReplyCheck(document);
const planned = createTestPipeline({ document });
const KEYS = jsonReply(200, { keys: {} });
const UNDOCUMENTED = jsonReply(200, { keys: {}, surprise: true });
const NO_JSON = { ...KEYS, body: '{' };
const TOO_LARGE_TO_SAMPLE = jsonReply(200, { surprise: 'x'.repeat(256 * 1024) });

/** A recorder with metrics of its own, and a way to record a reply several times. */
async function recording(checkedReplies: RecorderOptions['checkedReplies']) {
  const metrics = createMetrics();
  const recorder = createRecorder({
    metrics,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    logsTraffic: false,
    checkReply,
    checkedReplies,
    translateError: (error) => error,
  });
  const { plan } = await planned;
  const record = (id: string, made: WireReply, times = 1) => {
    const replies = new Set<WireReply>();
    for (let sent = 0; sent < times; sent += 1) {
      replies.add(recorder.finish(plan(id), EMPTY_REQUEST, made, performance.now()));
    }
    return [...replies];
  };
  return { record, metrics };
}

async function countViolations(metrics: Metrics, id: string): Promise<number> {
  const line = new RegExp(`burgee_contract_violations_total{operation="${id}"} (\\d+)`);
  return Number(line.exec(await metrics.render())?.[1] ?? 0);
}

describe('replies that break the contract, where every one is checked', () => {
  it.each([
    ['an undocumented field', UNDOCUMENTED],
    ['a body that is no JSON', NO_JSON],
  ])('become a 500: %s', async (_what, broken) => {
    const { record, metrics } = await recording('every');
    const [reply] = record('listFeatureFlagKeys', broken);
    expect(reply?.status).toBe(500);
    expect(await countViolations(metrics, 'listFeatureFlagKeys')).toBe(1);
  });
});

describe('replies that break the contract, where a sample is checked', () => {
  it.each([
    ['an undocumented field', UNDOCUMENTED],
    ['a body that is no JSON', NO_JSON],
  ])('are counted once in a thousand and sent as they are: %s', async (_what, broken) => {
    const { record, metrics } = await recording('sample');
    expect(record('listFeatureFlagKeys', broken, 999)).toEqual([broken]);
    expect(await countViolations(metrics, 'listFeatureFlagKeys')).toBe(0);
    expect(record('listFeatureFlagKeys', broken, 1_001)).toEqual([broken]);
    expect(await countViolations(metrics, 'listFeatureFlagKeys')).toBe(2);
  });

  it.each(['evaluateFlags', 'captureEvent', 'getFlagDefinitions'])(
    'are not looked for in %s',
    async (id) => {
      const { record, metrics } = await recording('sample');
      expect(record(id, UNDOCUMENTED, 2_000)).toEqual([UNDOCUMENTED]);
      expect(await countViolations(metrics, id)).toBe(0);
    },
  );

  it('wait for one that is small enough', async () => {
    const { record, metrics } = await recording('sample');
    record('listFeatureFlagKeys', TOO_LARGE_TO_SAMPLE, 1_500);
    expect(await countViolations(metrics, 'listFeatureFlagKeys')).toBe(0);
    record('listFeatureFlagKeys', UNDOCUMENTED);
    expect(await countViolations(metrics, 'listFeatureFlagKeys')).toBe(1);
  });
});

describe('replies that keep to the contract', () => {
  it.each(['every', 'sample'] as const)('pass as they are: %s', async (checked) => {
    const { record, metrics } = await recording(checked);
    expect(record('listFeatureFlagKeys', KEYS, 1_000)).toEqual([KEYS]);
    expect(await countViolations(metrics, 'listFeatureFlagKeys')).toBe(0);
  });
});
