import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EvaluationContext } from '../evaluation/context.ts';
import { evaluateFlags } from '../evaluation/evaluate-flags.ts';
import type { PreparedFlag, Snapshot } from '../evaluation/snapshot.ts';
import { type ClaimedJob, checkNotStopped, HopelessJob, type JobHandler } from '../jobs/job.ts';
import type { JsonObject } from '../json.ts';
import { lockPersons } from '../persons/persons-writes.ts';
import { addMembers } from './cohort-members-writes.ts';
import { listCohortIdsAbove } from './cohorts-queries.ts';
import { noteFailure, noteSuccess, requestCount } from './cohorts-writes.ts';
import type { CohortJobsContext } from './count-cohort-job.ts';
import { readPersonPage, type StoredPerson } from './person-pages.ts';

/** Persons in one batch: few enough to be decided without holding requests up. */
const BATCH_SIZE = 1_000;

/**
 * The job that adds everybody for whom a flag is enabled to a static cohort. Persons are decided by
 * the engine in batches, by what is stored about them; how far it got is stored with each batch, so
 * that after a crash it goes on from there.
 */
export function createFillCohortJob(
  context: CohortJobsContext & { readonly batchSize?: number },
): JobHandler {
  return {
    async run(job) {
      const snapshot = await context.getSnapshot(job.projectId);
      if (snapshot === undefined) return;
      const flag = findFlag(snapshot, job);
      // Nobody gets a flag that is off.
      const progress = flag.isActive ? await addEverybody(context, job, snapshot, flag) : {};
      await job.save(progress, async (tx) => {
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
  if (flag === undefined) throw new HopelessJob('The feature flag has been deleted.');
  if (flag.settledBy !== null || flag.isCyclic) {
    throw new HopelessJob('The feature flag cannot be evaluated: its filters are not valid.');
  }
  return flag;
}

async function addEverybody(
  context: CohortJobsContext & { readonly batchSize?: number },
  job: ClaimedJob,
  snapshot: Snapshot,
  flag: PreparedFlag,
): Promise<JsonObject> {
  const { db, now, batchSize = BATCH_SIZE } = context;
  const startedAt = now();
  const { projectId } = job;
  let cursor = typeof job.progress.after === 'string' ? job.progress.after : null;
  for (;;) {
    checkNotStopped(job);
    const persons = await readPersonPage(db, { projectId, after: cursor, limit: batchSize });
    const last = persons.at(-1);
    if (last === undefined) return { after: cursor };
    const enabled = persons.filter((person) => isEnabled(snapshot, flag, person, startedAt));
    cursor = last.uuid;
    await job.save({ after: cursor }, async (tx) => {
      await lockPersons(tx, [projectId]);
      await addMembers(
        tx,
        { id: job.subjectId, projectId },
        enabled.map(({ id }) => id),
      );
    });
    // Requests that came meanwhile go first.
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
    throw new HopelessJob(`The feature flag cannot be evaluated: ${outcome.description}.`);
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
