import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../common/json.ts';
import { evaluateFlags } from '../../evaluation/match/evaluate-flags.ts';
import type { EvaluationContext } from '../../evaluation/model/context.ts';
import type { PreparedFlag, Snapshot } from '../../evaluation/model/snapshot.ts';
import {
  type ClaimedJob,
  checkNotStopped,
  type JobHandler,
  PermanentJobError,
} from '../../jobs/job.ts';
import { lockPersons } from '../../persons/write/persons-writes.ts';
import { listCohortIdsAbove } from '../cohorts-queries.ts';
import { noteFailure, noteSuccess, requestCount } from '../cohorts-writes.ts';
import type { CohortJobsContext } from '../counts/count-cohort-job.ts';
import { addMembers, removeAllMembers } from '../members/cohort-members-writes.ts';
import { readPersonPage, type StoredPerson } from './person-pages.ts';

/** Persons in one batch: few enough to be evaluated without delaying requests. */
const BATCH_SIZE = 1_000;

/**
 * The job that adds everybody for whom a flag is enabled to a static cohort. Persons are decided by
 * the engine in batches, by what is stored about them; how far it got is stored with each batch, so
 * that after a crash it goes on from there. When the project's definitions changed in the meantime it
 * begins again, so that one definition and one moment decide about everybody.
 */
export function createFillCohortJob(
  context: CohortJobsContext & { readonly batchSize?: number },
): JobHandler {
  return {
    async run(job) {
      // An earlier run finished the work but could not record it.
      if (job.progress.done === true) return;
      const snapshot = await context.getSnapshot(job.projectId);
      if (snapshot === undefined) return;
      const flag = findFlag(snapshot, job);
      const begun = await beginOrResume(context, job, snapshot);
      // Nobody gets a flag that is off.
      const ended = flag.isActive
        ? await addEverybody(context, job, { snapshot, flag }, begun)
        : begun;
      await job.save({ ...toJson(ended), done: true }, async (tx) => {
        await noteSuccess(tx, job.subjectId);
        const above = await listCohortIdsAbove(tx, job.projectId, job.subjectId);
        await requestCount(tx, job.projectId, [...above]);
      });
    },
    fail: (tx, job, reason) => noteFailure(tx, job.subjectId, reason),
  };
}

function findFlag(snapshot: Snapshot, { payload }: ClaimedJob): PreparedFlag {
  const flag = snapshot.flagsById.get(Number(payload.flag_id));
  if (flag === undefined) throw new PermanentJobError('The feature flag has been deleted.');
  if (flag.preparationFailure !== null || flag.isCyclic) {
    throw new PermanentJobError('The feature flag cannot be evaluated: its filters are not valid.');
  }
  return flag;
}

/** How far a fill got, and by what it decides. */
interface Progress {
  /** The uuid of the last person that was decided; null at first. */
  readonly after: string | null;
  /** The revision of the definitions. */
  readonly revision: number;
  /** The moment for which relative dates are counted. */
  readonly startedAt: Date;
}

function toJson({ after, revision, startedAt }: Progress): JsonObject {
  return { after, revision, started_at: startedAt.toISOString() };
}

/** Goes on from where an earlier run stopped, or takes back what it did by other definitions. */
async function beginOrResume(
  { now }: CohortJobsContext,
  job: ClaimedJob,
  { revision }: Snapshot,
): Promise<Progress> {
  const { after, revision: earlier, started_at: startedAt } = job.progress;
  if (typeof after === 'string' && typeof startedAt === 'string' && earlier === revision) {
    return { after, revision, startedAt: new Date(startedAt) };
  }
  const begun = { after: null, revision, startedAt: now() };
  if (typeof after === 'string') {
    await job.save(toJson(begun), async (tx) => {
      await lockPersons(tx, [job.projectId]);
      await removeAllMembers(tx, job.subjectId);
    });
  }
  return begun;
}

async function addEverybody(
  context: CohortJobsContext & { readonly batchSize?: number },
  job: ClaimedJob,
  { snapshot, flag }: { readonly snapshot: Snapshot; readonly flag: PreparedFlag },
  begun: Progress,
): Promise<Progress> {
  const { db, batchSize = BATCH_SIZE } = context;
  const { projectId } = job;
  let progress = begun;
  for (;;) {
    checkNotStopped(job);
    const persons = await readPersonPage(db, {
      projectId,
      after: progress.after,
      limit: batchSize,
    });
    const last = persons.at(-1);
    if (last === undefined) return progress;
    const enabled = persons.filter((each) => isEnabled(snapshot, flag, each, begun.startedAt));
    progress = { ...begun, after: last.uuid };
    await job.save(toJson(progress), async (tx) => {
      await lockPersons(tx, [projectId]);
      await addMembers(
        tx,
        { id: job.subjectId, projectId },
        enabled.map(({ id }) => id),
      );
    });
    // Requests that arrived in the meantime go first.
    await nextTurn();
  }
}

function isEnabled(
  snapshot: Snapshot,
  flag: PreparedFlag,
  person: StoredPerson,
  now: Date,
): boolean {
  const { outcomes } = evaluateFlags(snapshot, toContext(person), { flagKeys: [flag.key], now });
  const outcome = outcomes.find((each) => each.flag.id === flag.id);
  if (outcome?.failed === true) {
    throw new PermanentJobError(`The feature flag cannot be evaluated: ${outcome.description}.`);
  }
  return outcome?.enabled === true;
}

/** The person as in a request of their own that sends nothing but their id, from anywhere. */
function toContext(person: StoredPerson): EvaluationContext {
  return {
    distinctId: person.distinctId,
    deviceId: null,
    anonDistinctId: null,
    personProperties: {},
    groups: {},
    groupProperties: {},
    runtime: 'all',
    evaluationContexts: [],
    stored: {
      person: { properties: person.properties, createdAt: person.createdAt },
      groups: new Map(),
      staticCohortIds: new Set(person.cohortIds),
      hashKeyOverrides: new Map(Object.entries(person.overrides)),
    },
  };
}
