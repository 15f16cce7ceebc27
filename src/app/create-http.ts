import { toRefusal } from '../domain/database/database-error.ts';
import type { IdentityStore } from '../domain/projects/identity-store.ts';
import { createContract } from '../http/contract/contract.ts';
import { readContract } from '../http/contract/contract-document.ts';
import { createReplyCheck } from '../http/contract/reply-check.ts';
import { createHapi, createMethodTable, requestListenerOf } from '../http/hapi/hapi-server.ts';
import { createHotPath } from '../http/listener/fast-lane.ts';
import type { Log } from '../http/metrics/log.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import { createAnswer } from '../http/pipeline/answer.ts';
import { createDirectAnswer } from '../http/pipeline/answer-directly.ts';
import { createIngest } from '../http/pipeline/ingest.ts';
import type { Handlers } from '../operations/operation.ts';
import type { Config } from './config.ts';

export interface HttpOptions {
  readonly config: Pick<Config, 'logLevel' | 'checkReplies'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly handlers: Handlers;
  readonly gatekeeper: IdentityStore;
}

/** Everything between the listener and the handlers, both lanes. */
export async function createHttp({ config, log, metrics, handlers, gatekeeper }: HttpOptions) {
  const document = readContract();
  const contract = await createContract({ document, handlers, gatekeeper });
  const { answer, recordRefusal } = createAnswer({
    contract,
    answerIngest: createIngest(contract, handlers),
    answerDirectly: createDirectAnswer(contract, handlers, gatekeeper),
    metrics,
    log,
    logsTraffic: config.logLevel === 'debug' || config.logLevel === 'trace',
    checkReply: await createReplyCheck(document),
    checkedReplies: config.checkReplies ? 'every' : 'sample',
    translateError: toRefusal,
  });
  const hapi = await createHapi({ contract, document, metrics, answer, recordRefusal });
  return {
    hotPath: createHotPath(contract.operations, answer, recordRefusal),
    handOver: requestListenerOf(hapi),
    methodsOf: createMethodTable(contract.operations),
    stop: () => hapi.stop(),
  };
}
