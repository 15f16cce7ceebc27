import type { CohortCommandsContext } from '../domain/cohorts/cohorts-commands.ts';
import type { FlagCommandsContext } from '../domain/flags/flags-commands.ts';
import type { IdentityChanges } from '../domain/projects/change-identities.ts';
import type { Handlers } from '../server/operation.ts';
import { type BlastRadiusContext, createBlastRadiusHandlers } from './blast-radius.ts';
import { createBrowserConfigHandlers } from './browser-config.ts';
import { type CaptureHandlersContext, createCaptureHandlers } from './capture.ts';
import { createAnalyticsHandlers } from './capture-v1.ts';
import { createCohortHandlers } from './cohorts.ts';
import { createDashboardHandlers } from './dashboards.ts';
import { createDefinitionHandlers, type DefinitionHandlersContext } from './definitions.ts';
import { createEvaluationHandlers, type EvaluationHandlersContext } from './evaluation.ts';
import { createEvaluationHelperHandlers } from './evaluation-helpers.ts';
import { createEventHandlers } from './events.ts';
import { createFlagReadHandlers } from './feature-flags.ts';
import { createFlagBulkHandlers } from './flag-bulk.ts';
import { createFlagDependentsHandlers } from './flag-dependents.ts';
import { createFlagListHandlers } from './flag-lists.ts';
import { createFlagStatusHandlers } from './flag-status.ts';
import { createTestEvaluationHandlers } from './flag-test-evaluation.ts';
import { createFlagVersionHandlers } from './flag-versions.ts';
import { createFlagWriteHandlers } from './flag-writes.ts';
import { createGroupHandlers } from './groups.ts';
import { createPersonalApiKeyHandlers } from './personal-api-keys.ts';
import { createPersonHandlers } from './persons.ts';
import { createProjectHandlers } from './projects.ts';
import { createRemoteConfigHandlers } from './remote-config.ts';
import { createUsageHandlers } from './usage.ts';
import { createUserHandlers } from './users.ts';

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
    ...createAnalyticsHandlers(context),
    ...createEventHandlers(context),
  };
}
