import { LargeWork } from '../domain/common/large-work.ts';
import { toRefusal } from '../domain/database/database-error.ts';
import { loadBackend } from '../http/contract/backend.ts';
import { readContract } from '../http/contract/contract-document.ts';
import { createReplyCheck } from '../http/contract/reply-check.ts';
import { createHapi, requestListenerOf } from '../http/hapi/hapi-server.ts';
import { createMethodTable } from '../http/hapi/methods.ts';
import { createFastLane } from '../http/listener/fast-lane.ts';
import type { Log } from '../http/metrics/log.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import type { Gatekeeper } from '../http/pipeline/identify.ts';
import { createPipeline } from '../http/pipeline/pipeline.ts';
import { compilePlans } from '../http/pipeline/plan.ts';
import { createRecorder } from '../http/pipeline/record.ts';
import type { Handlers } from '../operations/operation.ts';
import type { Config } from './config.ts';

export interface HttpOptions {
  readonly config: Pick<Config, 'logLevel' | 'checkReplies'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly handlers: Handlers;
  readonly gatekeeper: Gatekeeper;
  /** Gives memory back that large requests took; called when they are over. */
  readonly releaseMemory?: () => void;
}

/** Everything between the listener and the handlers: one pipeline, and its two adapters. */
export async function createHttp(options: HttpOptions) {
  const { config, log, metrics, handlers, gatekeeper } = options;
  const document = readContract();
  const plans = compilePlans(document, await loadBackend(document), handlers);
  const recorder = createRecorder({
    metrics,
    log,
    logsTraffic: config.logLevel === 'debug' || config.logLevel === 'trace',
    checkReply: await createReplyCheck(document),
    checkedReplies: config.checkReplies ? 'every' : 'sample',
    translateError: toRefusal,
  });
  const largeWork = new LargeWork({ onIdle: () => options.releaseMemory?.() });
  const pipeline = createPipeline({ handlers, gatekeeper, largeWork, recorder });
  const methodsOf = createMethodTable(plans);
  const hapi = await createHapi({ plans, pipeline, document, metrics, methodsOf });
  return {
    fastLane: createFastLane(plans, pipeline),
    forwardToHapi: requestListenerOf(hapi),
    methodsOf,
    stop: () => hapi.stop(),
  };
}
