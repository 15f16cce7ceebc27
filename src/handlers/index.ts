import type { CohortCommandsContext } from '../domain/cohorts/cohorts-commands.ts';
import type { FlagCommandsContext } from '../domain/flags/write/flags-commands.ts';
import type { IdentityChanges } from '../domain/projects/change-identities.ts';
import type { Handlers } from '../operations/operation.ts';
import { type CaptureHandlersContext, createCaptureHandlers } from './capture/capture.ts';
import { createCaptureV1Handlers } from './capture/capture-v1.ts';
import { createCohortHandlers } from './cohorts/cohorts.ts';
import { createDashboardHandlers } from './dashboards/dashboards.ts';
import { createUsageHandlers } from './dashboards/usage.ts';
import {
  createDefinitionHandlers,
  type DefinitionHandlersContext,
} from './definitions/definitions.ts';
import { createRemoteConfigHandlers } from './definitions/remote-config.ts';
import { createBrowserConfigHandlers } from './evaluation/browser-config.ts';
import {
  createEvaluationHandlers,
  type EvaluationHandlersContext,
} from './evaluation/evaluation.ts';
import { createEvaluationHelperHandlers } from './evaluation/evaluation-helpers.ts';
import { createTestEvaluationHandlers } from './evaluation/flag-test-evaluation.ts';
import {
  type BlastRadiusContext,
  createBlastRadiusHandlers,
} from './feature-flags/blast-radius.ts';
import { createFlagReadHandlers } from './feature-flags/feature-flags.ts';
import { createFlagBulkHandlers } from './feature-flags/flag-bulk.ts';
import { createFlagDependentsHandlers } from './feature-flags/flag-dependents.ts';
import { createFlagListHandlers } from './feature-flags/flag-lists.ts';
import { createFlagStatusHandlers } from './feature-flags/flag-status.ts';
import { createFlagVersionHandlers } from './feature-flags/flag-versions.ts';
import { createFlagWriteHandlers } from './feature-flags/flag-writes.ts';
import { createPersonalApiKeyHandlers } from './identity/personal-api-keys.ts';
import { createProjectHandlers } from './identity/projects.ts';
import { createUserHandlers } from './identity/users.ts';
import { createEventHandlers } from './persons/events.ts';
import { createGroupHandlers } from './persons/groups.ts';
import { createPersonHandlers } from './persons/persons.ts';

/** What the handlers work on; each module takes the part that it needs. */
export type HandlersContext = FlagCommandsContext &
  CohortCommandsContext &
  BlastRadiusContext &
  EvaluationHandlersContext &
  DefinitionHandlersContext &
  CaptureHandlersContext &
  IdentityChanges;

/** The handler of every operation of the contract. A missing one does not compile. */
export function createHandlers(context: HandlersContext): Handlers {
  return {
    ...createFlagReadHandlers(context),
    ...createFlagWriteHandlers(context),
    ...createFlagBulkHandlers(context),
    ...createFlagVersionHandlers(context),
    ...createFlagListHandlers(context),
    ...createFlagDependentsHandlers(context),
    ...createTestEvaluationHandlers(context),
    ...createFlagStatusHandlers(context),
    ...createCohortHandlers(context),
    ...createBlastRadiusHandlers(context),
    ...createDefinitionHandlers(context),
    ...createBrowserConfigHandlers(context.snapshots),
    ...createEvaluationHandlers(context),
    ...createEvaluationHelperHandlers(context),
    ...createRemoteConfigHandlers(context),
    ...createCaptureHandlers(context),
    ...createDashboardHandlers(context),
    ...createUsageHandlers(context),
    ...createUserHandlers(context),
    ...createProjectHandlers(context),
    ...createPersonalApiKeyHandlers(context),
    ...createPersonHandlers(context),
    ...createGroupHandlers(context),
    ...createCaptureV1Handlers(context),
    ...createEventHandlers(context),
  };
}
