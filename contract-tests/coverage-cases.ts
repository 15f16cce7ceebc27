import { captureOperations } from './operations/capture.ts';
import { cohortOperations } from './operations/cohorts.ts';
import { dashboardOperations } from './operations/dashboards.ts';
import { evaluationOperations } from './operations/evaluation.ts';
import { eventOperations } from './operations/events.ts';
import { featureFlagOperations } from './operations/feature-flags.ts';
import { flagActionOperations } from './operations/flag-actions.ts';
import { flagReadOperations } from './operations/flag-reads.ts';
import { groupOperations } from './operations/groups.ts';
import { personalApiKeyOperations } from './operations/personal-api-keys.ts';
import { personOperations } from './operations/persons.ts';
import { projectOperations } from './operations/projects.ts';
import type { CoverageTable } from './operations/provoke.ts';
import { userOperations } from './operations/users.ts';

/** One entry for each documented status but 500, which is documented and not provoked. */
export const coverageTable: CoverageTable = {
  ...featureFlagOperations,
  ...flagActionOperations,
  ...flagReadOperations,
  ...cohortOperations,
  ...evaluationOperations,
  ...captureOperations,
  ...dashboardOperations,
  ...userOperations,
  ...projectOperations,
  ...personalApiKeyOperations,
  ...groupOperations,
  ...personOperations,
  ...eventOperations,
};
