import type { FlagCommandsContext } from '../domain/flags/flags-commands.ts';
import type { Handlers } from '../server/operation.ts';
import { createBrowserConfigHandlers } from './browser-config.ts';
import { type CaptureHandlersContext, createCaptureHandlers } from './capture.ts';
import { createDefinitionHandlers, type DefinitionHandlersContext } from './definitions.ts';
import { createEvaluationHandlers, type EvaluationHandlersContext } from './evaluation.ts';
import { createEvaluationHelperHandlers } from './evaluation-helpers.ts';
import { createFlagHandlers } from './feature-flags.ts';
import { createRemoteConfigHandlers } from './remote-config.ts';

/** What the handlers work on; each module takes the part that it needs. */
export type HandlersContext = FlagCommandsContext &
  EvaluationHandlersContext &
  DefinitionHandlersContext &
  CaptureHandlersContext;

/** The handler of every operation of the contract. A missing one does not compile. */
export function createHandlers(context: HandlersContext): Handlers {
  return {
    ...createFlagHandlers(context),
    ...createDefinitionHandlers(context),
    ...createBrowserConfigHandlers(context.snapshots),
    ...createEvaluationHandlers(context),
    ...createEvaluationHelperHandlers(context),
    ...createRemoteConfigHandlers(context),
    ...createCaptureHandlers(context),
  };
}
