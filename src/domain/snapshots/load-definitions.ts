import { listCohortDefinitions } from '../cohorts/cohorts-queries.ts';
import type { Db } from '../database/db.ts';
import { LOAD_PROJECT_ANSWER_MS } from '../database/deadlines.ts';
import { pipelinedSnapshot } from '../database/pipeline.ts';
import type {
  CohortDefinition,
  CompilePattern,
  ProjectDefinitions,
} from '../evaluation/model/definitions.ts';
import type { Snapshot } from '../evaluation/model/snapshot.ts';
import { prepareSnapshot } from '../evaluation/prepare/prepare.ts';
import { listAllFlags } from '../flags/list/flags-queries.ts';
import type { FeatureFlag } from '../flags/model/flag-fields.ts';
import { type GroupType, listGroupTypes } from '../persons/persons-queries.ts';
import type { Project } from '../projects/project.ts';
import { getProject } from '../projects/projects-queries.ts';

/** One revision of a project's configuration, ready to be served. Never changes. */
export interface ServedProject {
  readonly project: Project;
  /** Every flag that is not deleted, by key. */
  readonly flags: readonly FeatureFlag[];
  readonly groupTypes: readonly GroupType[];
  readonly cohorts: readonly CohortDefinition[];
  readonly snapshot: Snapshot;
  readonly loadedAt: Date;
}

/**
 * Reads one revision of a project, all of it from the same moment, and prepares it. Undefined when
 * there is no such project.
 */
export async function loadProject(
  db: Db,
  projectId: number,
  compilePattern: CompilePattern,
  now: () => Date,
): Promise<ServedProject | undefined> {
  const loaded = await pipelinedSnapshot(db, LOAD_PROJECT_ANSWER_MS, async (tx) => {
    // One round trip: every writer waits for this after its commit.
    const [project, flags, groupTypes, cohorts] = await Promise.all([
      getProject(tx, projectId),
      listAllFlags(tx, projectId),
      listGroupTypes(tx, projectId),
      listCohortDefinitions(tx, projectId),
    ]);
    return project && { project, flags, groupTypes, cohorts };
  });
  if (loaded === undefined) return undefined;
  const snapshot = prepareSnapshot(toDefinitions(loaded), compilePattern);
  return { ...loaded, snapshot, loadedAt: now() };
}

function toDefinitions(loaded: Omit<ServedProject, 'snapshot' | 'loadedAt'>): ProjectDefinitions {
  return {
    projectId: loaded.project.id,
    revision: loaded.project.revision,
    timezone: loaded.project.timezone,
    groupTypes: loaded.groupTypes.map(({ index, groupType }) => ({ index, name: groupType })),
    // Secret payloads are served by remote configuration only, never by evaluation.
    flags: loaded.flags
      .filter((flag) => !flag.hasEncryptedPayloads)
      .map((flag) => ({
        id: flag.id,
        key: flag.key,
        version: flag.version,
        active: flag.active,
        filters: flag.filters,
        ensureExperienceContinuity: flag.ensureExperienceContinuity,
        bucketingIdentifier: flag.bucketingIdentifier,
        evaluationRuntime: flag.evaluationRuntime,
        evaluationContexts: flag.evaluationTags,
      })),
    cohorts: loaded.cohorts,
  };
}
