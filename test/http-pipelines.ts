import type { UserCaller } from '../src/domain/common/access.ts';
import { LargeWork } from '../src/domain/common/large-work.ts';
import type { ContractDocument } from '../src/http/contract/contract-document.ts';
import { createMetrics, type Metrics } from '../src/http/metrics/metrics.ts';
import type { Gatekeeper } from '../src/http/pipeline/identify.ts';
import { createPipeline } from '../src/http/pipeline/pipeline.ts';
import { compilePlans, type OperationPlan } from '../src/http/pipeline/plan.ts';
import { createRecorder, type RecorderOptions } from '../src/http/pipeline/record.ts';
import type { WireReply, WireRequest } from '../src/http/wire/wire.ts';
import type { Handlers } from '../src/operations/operation.ts';
import { compiledOnce, ownContract } from './own-contract.ts';
import { handlersWith } from './stub-handlers.ts';

/** A member of project 1 whose key may do anything. */
export const ANYBODY: UserCaller = {
  kind: 'user',
  user: { id: 1, uuid: '', distinctId: '', email: 'ann@example.com' },
  scopes: ['*'],
  keyProjectIds: null,
  memberProjectIds: [1],
};

/** A request for `/` that holds nothing. */
export const EMPTY_REQUEST: WireRequest = Object.freeze({
  method: 'GET',
  path: '/',
  params: {},
  query: {},
  headers: {},
  payload: Buffer.alloc(0),
  baseUrl: 'http://localhost',
  requestId: '0192f0c1-7c40-7c7e-8f5a-2f6f1f0a9b3c',
  receivedAt: new Date('2026-01-01T00:00:00Z'),
  peer: {},
});

export interface TestPipelineOptions {
  readonly document?: ContractDocument;
  readonly handlers?: Partial<Handlers>;
  readonly gatekeeper?: Partial<Gatekeeper>;
  readonly recording?: Partial<RecorderOptions>;
  readonly largeWork?: LargeWork;
}

/** A pipeline over a contract, with stub handlers, and a gatekeeper that lets everybody in. */
export interface TestPipeline {
  readonly plans: readonly OperationPlan[];
  readonly metrics: Metrics;
  /** The plan of an operation. */
  plan(id: string): OperationPlan;
  /** Sends a request with these parts to an operation. */
  send(id: string, parts?: Partial<WireRequest>): Promise<WireReply>;
}

/** Makes such a pipeline, of Burgee's own contract unless another is given. */
export async function createTestPipeline(options: TestPipelineOptions = {}): Promise<TestPipeline> {
  const { document = ownContract(), largeWork = new LargeWork() } = options;
  const handlers = handlersWith(options.handlers ?? {});
  const { backend, checkReply } = await compiledOnce(document);
  const plans = compilePlans(document, backend, handlers);
  const metrics = createMetrics();
  const recorder = createRecorder({
    metrics,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    logsTraffic: false,
    checkReply,
    checkedReplies: 'sample',
    translateError: (error) => error,
    ...options.recording,
  });
  const gatekeeper: Gatekeeper = {
    authenticate: () => ANYBODY,
    enterProject: (caller) => ({ projectId: 1, caller }),
    requireProjectToken() {},
    ...options.gatekeeper,
  };
  const pipeline = createPipeline({ handlers, gatekeeper, largeWork, recorder });
  const plan = (id: string): OperationPlan => {
    const found = plans.find(({ operation }) => operation.id === id);
    if (found === undefined) throw new Error(`There is no operation ${id}.`);
    return found;
  };
  return {
    plans,
    metrics,
    plan,
    async send(id, parts = {}) {
      const { operation } = plan(id);
      return pipeline.run(plan(id), { ...EMPTY_REQUEST, method: operation.method, ...parts });
    },
  };
}

/** What a reply says in its JSON, with its status. */
export function readReply({ status, body }: WireReply): Record<string, unknown> {
  return { status, ...JSON.parse(String(body)) };
}

/** The extension of a contract that bounds its bodies, far above what a test sends. */
export const WIDE_BOUNDS = {
  'x-body-bounds': Object.fromEntries(
    ['json', 'text'].map((kind) => [
      kind,
      {
        maxBytes: 1_000_000,
        maxUnpackedBytes: 1_000_000,
        maxRatio: 100,
        maxValues: 10_000,
        maxKeys: 10_000,
        maxDepth: 128,
      },
    ]),
  ),
};
