import type { FlagCommandsContext } from '../domain/flags/flags-commands.ts';
import type { Handlers } from '../server/operation.ts';
import { type CaptureHandlersContext, createCaptureHandlers } from './capture.ts';
import { createDefinitionHandlers } from './definitions.ts';
import { createEvaluationHandlers, type EvaluationHandlersContext } from './evaluation.ts';
import { createFlagHandlers } from './feature-flags.ts';

/** What the handlers work on; each module takes the part that it needs. */
export type HandlersContext = FlagCommandsContext &
  EvaluationHandlersContext &
  CaptureHandlersContext;

/** The handler of every operation of the contract. A missing one does not compile. */
export function createHandlers(context: HandlersContext): Handlers {
  return {
    ...createFlagHandlers(context),
    ...createDefinitionHandlers(context.snapshots),
    ...createEvaluationHandlers(context),
    ...createCaptureHandlers(context),
  };
}
