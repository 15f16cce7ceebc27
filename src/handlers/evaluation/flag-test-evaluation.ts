import { isJsonObject, type JsonObject } from '../../domain/common/json.ts';
import { invalidField, notFound } from '../../domain/common/refusal.ts';
import { getFlag } from '../../domain/flags/list/flags-queries.ts';
import type { FeatureFlag } from '../../domain/flags/model/flag-fields.ts';
import type { FlagCommandsContext } from '../../domain/flags/write/flags-commands.ts';
import {
  getPersonByDistinctId,
  getPersonByUuid,
  type Person,
} from '../../domain/persons/persons-queries.ts';
import { getProject } from '../../domain/projects/projects-queries.ts';
import type { ServedProject } from '../../domain/snapshots/load-definitions.ts';
import { traceSubject } from '../../domain/snapshots/trace-subject.ts';
import type { Body, Handlers } from '../../operations/operation.ts';
import type { EvaluationHandlersContext } from './evaluation.ts';
import { flagValue } from './evaluation-shape.ts';
import { toDetailedConditionBody } from './evaluation-trace.ts';

type TestEvaluationContext = FlagCommandsContext & EvaluationHandlersContext;

/** Whom a flag is tried on. */
interface TestSubject {
  readonly distinctId: string;
  /** Null when the caller named a person: their ids are not the caller's to learn. */
  readonly shownDistinctId: string | null;
  readonly person: Person | null;
}

/** The operation with which people try a flag on somebody. */
export function createTestEvaluationHandlers(
  context: TestEvaluationContext,
): Pick<Handlers, 'testFeatureFlagEvaluation'> {
  return {
    async testFeatureFlagEvaluation({ params, body, access, reply }) {
      const { projectId } = access;
      const found = await getFlag(context.db, projectId, params.id);
      if (found === undefined) throw notFound();
      refuseUntestable(found.flag);
      const subject = await findSubject(context, projectId, body);
      const served = await serveCurrent(context, projectId);
      const decided = await decide(context, served, found.flag, subject, body);
      return reply(200, {
        flag_key: found.flag.key,
        ...decided,
        person_properties: { ...subject.person?.properties },
        evaluation_distinct_id: subject.shownDistinctId,
      });
    },
  };
}

function refuseUntestable(flag: FeatureFlag): void {
  if (flag.deleted) {
    throw invalidField(null, 'This feature flag has been deleted. Restore it before testing it.');
  }
  if (flag.hasEncryptedPayloads) {
    throw invalidField(null, 'A flag with encrypted payloads is not evaluated for anybody.');
  }
}

async function findSubject(
  { db }: TestEvaluationContext,
  projectId: number,
  body: Body<'testFeatureFlagEvaluation'>,
): Promise<TestSubject> {
  const { distinct_id: distinctId, person_id: personId } = body;
  if (distinctId && personId) {
    throw invalidField(null, 'Cannot provide both distinct_id and person_id');
  }
  if (distinctId) {
    const person = await getPersonByDistinctId(db, projectId, distinctId);
    return { distinctId, shownDistinctId: distinctId, person };
  }
  if (!personId) throw invalidField(null, 'Either distinct_id or person_id must be provided');
  const person = await getPersonByUuid(db, projectId, personId);
  if (person === null) throw notFound('Person not found.');
  return { distinctId: person.distinctIds[0] ?? person.uuid, shownDistinctId: null, person };
}

/** What is served, not older than what is stored now: whoever tests a flag has often just saved it. */
async function serveCurrent(
  { db, snapshots }: TestEvaluationContext,
  projectId: number,
): Promise<ServedProject> {
  const project = await getProject(db, projectId);
  if (project !== undefined) await snapshots.catchUp(projectId, project.revision);
  const served = await snapshots.getByProjectId(projectId);
  if (served === undefined) throw notFound('Project not found.');
  return served;
}

const DISABLED = {
  result: false,
  reason: 'flag_disabled',
  reason_description: 'Feature flag is disabled',
  condition_index: null,
  payload: null,
  conditions: [],
};

/** Flags on which dependencies run in a circle are left out of every evaluation. */
const CYCLIC = {
  ...DISABLED,
  reason: 'dependency_cycle_flag',
  reason_description: 'Flag dependency cycle detected',
};

async function decide(
  context: TestEvaluationContext,
  served: ServedProject,
  flag: FeatureFlag,
  subject: TestSubject,
  body: Body<'testFeatureFlagEvaluation'>,
) {
  if (!flag.active) return DISABLED;
  const request = {
    distinctId: subject.distinctId,
    deviceId: null,
    anonDistinctId: null,
    personProperties: {},
    groups: readGroups(body.groups),
    groupProperties: {},
    runtime: 'all' as const,
    evaluationContexts: [],
    stored: null,
  };
  const { evaluation, conditions } = await traceSubject(context, served, request, {
    flagKeys: [flag.key],
    now: readMoment(body.timestamp) ?? context.now(),
  });
  const outcome = evaluation.outcomes.find((each) => each.flag.id === flag.id);
  if (outcome === undefined) return CYCLIC;
  return {
    result: flagValue(outcome),
    reason: outcome.reason,
    reason_description: outcome.description,
    condition_index: outcome.conditionIndex,
    payload: outcome.payload ?? null,
    conditions: (conditions.get(flag.id) ?? []).map(toDetailedConditionBody),
  };
}

function readGroups(groups: unknown): JsonObject {
  return isJsonObject(groups) ? groups : {};
}

/** The contract lets through what no Date can say, like a leap second. */
function readMoment(text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null;
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) throw invalidField('timestamp', 'Not a valid date-time.');
  return moment;
}
