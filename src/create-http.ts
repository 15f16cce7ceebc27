import type { Config } from './config.ts';
import { toDomainError } from './domain/database/database-error.ts';
import type { IdentityStore } from './domain/projects/identity-store.ts';
import { createAnswer } from './server/answer.ts';
import { createDirectAnswer } from './server/answer-directly.ts';
import { createContract } from './server/contract.ts';
import { readContract } from './server/contract-document.ts';
import { createHapi, createMethodTable, requestListenerOf } from './server/create-server.ts';
import { createHotPath } from './server/hot-path.ts';
import { createIngest } from './server/ingest.ts';
import type { Log } from './server/log.ts';
import type { Metrics } from './server/metrics.ts';
import type { Handlers } from './server/operation.ts';
import { createReplyCheck } from './server/reply-check.ts';

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
    checkReply: createReplyCheck(document.definition),
    checkedReplies: config.checkReplies ? 'every' : 'sample',
    translateError: toDomainError,
  });
  const hapi = await createHapi({ contract, document, metrics, answer, recordRefusal });
  return {
    hotPath: createHotPath(contract.operations, answer, recordRefusal),
    handOver: requestListenerOf(hapi),
    methodsOf: createMethodTable(contract.operations),
    stop: () => hapi.stop(),
  };
}
