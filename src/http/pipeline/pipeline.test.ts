import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { handlersWith } from '../../../test/stub-handlers.ts';
import { type Contract, createContract } from '../contract/contract.ts';
import { type ContractOperation, readContract } from '../contract/contract-document.ts';
import { createReplyCheck } from '../contract/reply-check.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { type AnswerOptions, createAnswer } from './answer.ts';
import { jsonReply } from './error-reply.ts';
import type { WireReply, WireRequest } from './wire.ts';

const document = readContract();
const checkReply = await createReplyCheck(document);
const KEYS = jsonReply(200, { keys: {} });
const UNDOCUMENTED = jsonReply(200, { keys: {}, surprise: true });
const NO_JSON = { ...KEYS, body: '{' };
const TOO_LARGE_TO_SAMPLE = jsonReply(200, { surprise: 'x'.repeat(256 * 1024) });

const REQUEST: WireRequest = {
  method: 'post',
  path: '/',
  params: {},
  query: {},
  headers: {},
  payload: Buffer.alloc(0),
  baseUrl: 'http://localhost',
  requestId: '0192f0c1-7c40-7c7e-8f5a-2f6f1f0a9b3c',
  receivedAt: new Date('2026-01-01T00:00:00Z'),
};

let contract: Contract;
let metrics: Metrics;
let made: WireReply;

beforeAll(async () => {
  contract = await createContract({
    document,
    handlers: handlersWith({}),
    gatekeeper: {
      authenticate: async () => null,
      enterProject: async (caller) => ({ projectId: 1, caller }),
    },
  });
});

beforeEach(() => {
  metrics = createMetrics();
  made = KEYS;
});

function operation(id: string): ContractOperation {
  const found = contract.operations.find((each) => each.id === id);
  if (found === undefined) throw new Error(`There is no operation ${id}.`);
  return found;
}

function answering(checkedReplies: AnswerOptions['checkedReplies']) {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const { answer } = createAnswer({
    contract: { ...contract, answer: async () => made },
    answerIngest: async () => made,
    answerDirectly: async () => made,
    metrics,
    log,
    logsTraffic: false,
    checkReply,
    checkedReplies,
    translateError: (error) => error,
  });
  return async (id: string, times = 1) => {
    const replies = new Set<WireReply>();
    for (let sent = 0; sent < times; sent += 1) {
      replies.add(await answer(operation(id), REQUEST));
    }
    return [...replies];
  };
}

async function countViolations(id: string): Promise<number> {
  const line = new RegExp(`burgee_contract_violations_total{operation="${id}"} (\\d+)`);
  return Number(line.exec(await metrics.render())?.[1] ?? 0);
}

describe('replies that break the contract, where every one is checked', () => {
  it.each([
    ['an undocumented field', UNDOCUMENTED],
    ['a body that is no JSON', NO_JSON],
  ])('become a 500: %s', async (_what, broken) => {
    made = broken;
    const [reply] = await answering('every')('listFeatureFlagKeys');
    expect(reply?.status).toBe(500);
    expect(await countViolations('listFeatureFlagKeys')).toBe(1);
  });
});

describe('replies that break the contract, where a sample is checked', () => {
  it.each([
    ['an undocumented field', UNDOCUMENTED],
    ['a body that is no JSON', NO_JSON],
  ])('are counted once in a thousand and sent as they are: %s', async (_what, broken) => {
    made = broken;
    const send = answering('sample');
    expect(await send('listFeatureFlagKeys', 999)).toEqual([broken]);
    expect(await countViolations('listFeatureFlagKeys')).toBe(0);
    expect(await send('listFeatureFlagKeys', 1_001)).toEqual([broken]);
    expect(await countViolations('listFeatureFlagKeys')).toBe(2);
  });

  it.each(['evaluateFlags', 'captureEvent', 'getFlagDefinitions'])(
    'are not looked for in %s',
    async (id) => {
      made = UNDOCUMENTED;
      expect(await answering('sample')(id, 2_000)).toEqual([UNDOCUMENTED]);
      expect(await countViolations(id)).toBe(0);
    },
  );

  it('wait for one that is small enough', async () => {
    const send = answering('sample');
    made = TOO_LARGE_TO_SAMPLE;
    await send('listFeatureFlagKeys', 1_500);
    expect(await countViolations('listFeatureFlagKeys')).toBe(0);
    made = UNDOCUMENTED;
    await send('listFeatureFlagKeys');
    expect(await countViolations('listFeatureFlagKeys')).toBe(1);
  });
});

describe('replies that keep to the contract', () => {
  it.each(['every', 'sample'] as const)('pass as they are: %s', async (checked) => {
    expect(await answering(checked)('listFeatureFlagKeys', 1_000)).toEqual([KEYS]);
    expect(await countViolations('listFeatureFlagKeys')).toBe(0);
  });
});
