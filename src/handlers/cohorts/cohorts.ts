import {
  type Addition,
  addCohortMembers,
  addCohortMembersInParts,
  removeCohortMembers,
} from '../../domain/cohorts/cohort-members-commands.ts';
import { listCohortMembers } from '../../domain/cohorts/cohort-members-queries.ts';
import {
  type CohortCommandsContext,
  createCohort,
  updateCohort,
} from '../../domain/cohorts/cohorts-commands.ts';
import { getCohort, listCohorts } from '../../domain/cohorts/cohorts-queries.ts';
import { createCohortForFlag } from '../../domain/cohorts/from-flag/flag-cohort-commands.ts';
import { readMembersCsv } from '../../domain/cohorts/members-csv.ts';
import { invalidField, notFound } from '../../domain/common/refusal.ts';
import type { PersonReferences } from '../../domain/persons/person-references.ts';
import type { Handlers } from '../../operations/operation.ts';
import { authorOf } from '../common/caller.ts';
import { offsetLinks, pageSize } from '../common/pagination.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';
import { toCohortBody, toCohortInput, toPersonBody } from './cohort-body.ts';

const PAGE_SIZE = 100;

/** How many ids that belong to nobody a reply names. */
const UNKNOWN_IDS_MAX = 100;

/** The `Allow` header of one cohort's path. DELETE is refused and therefore not in it. */
const COHORT_METHODS = 'GET, HEAD, PATCH, OPTIONS';

type CohortHandlers = Pick<
  Handlers,
  | 'listCohorts'
  | 'createCohort'
  | 'getCohort'
  | 'updateCohort'
  | 'deleteCohort'
  | 'listCohortPersons'
  | 'addPersonsToStaticCohort'
  | 'removePersonFromStaticCohort'
  | 'uploadCohortMembers'
  | 'createStaticCohortForFlag'
>;

/** The operations on cohorts and their members. */
export function createCohortHandlers(
  context: CohortCommandsContext & { readonly now: () => Date },
): CohortHandlers {
  return {
    async listCohorts({ query, access, origin, reply }) {
      const limit = pageSize(query.limit, PAGE_SIZE);
      const offset = query.offset ?? 0;
      const { search } = query;
      if (search !== undefined) refuseUnstorableText({ search });
      const { count, cohorts } = await listCohorts(context.db, access.projectId, {
        limit,
        offset,
        ...(search === undefined ? {} : { search }),
      });
      return reply(200, {
        count,
        ...offsetLinks(origin, { limit, offset, total: count }),
        results: cohorts.map(toCohortBody),
      });
    },

    async createCohort({ body, access, reply }) {
      const input = { ...toCohortInput(body), name: body.name };
      return reply(201, toCohortBody(await createCohort(context, authorOf(access), input)));
    },

    async getCohort({ params, access, reply }) {
      const found = await getCohort(context.db, access.projectId, params.id);
      if (found === undefined) throw notFound();
      return reply(200, toCohortBody(found));
    },

    async updateCohort({ params, body, access, reply }) {
      const input = toCohortInput(body);
      const changed = await updateCohort(context, authorOf(access), params.id, input);
      return reply(200, toCohortBody(changed));
    },

    deleteCohort({ reply }) {
      return reply(
        405,
        {
          type: 'invalid_request',
          code: 'method_not_allowed',
          detail: 'Hard delete of this cohort is not allowed. Use PATCH to set deleted to true.',
          attr: null,
        },
        { allow: COHORT_METHODS },
      );
    },

    async listCohortPersons({ params, query, access, origin, reply }) {
      const found = await getCohort(context.db, access.projectId, params.id);
      if (found === undefined) throw notFound();
      if (!found.cohort.isStatic) {
        throw invalidField(null, 'Only the persons of a static cohort can be listed.');
      }
      const limit = pageSize(query.limit, PAGE_SIZE);
      const offset = query.offset ?? 0;
      const members = await listCohortMembers(context.db, params.id, { limit, offset });
      const count = found.cohort.count ?? 0;
      return reply(200, {
        count,
        ...offsetLinks(origin, { limit, offset, total: count }),
        results: members.map(toPersonBody),
      });
    },

    async addPersonsToStaticCohort({ params, body, access, reply }) {
      const references = toReferences(body);
      const cohort = { projectId: access.projectId, id: params.id };
      return reply(200, toAdditionBody(await addCohortMembers(context, cohort, references)));
    },

    async removePersonFromStaticCohort({ params, body, access, reply }) {
      const { person_id: uuid } = body;
      const references = toReferences({
        ...body,
        ...(uuid === undefined ? {} : { person_ids: [...(body.person_ids ?? []), uuid] }),
      });
      const cohort = { projectId: access.projectId, id: params.id };
      const { removed, notMembers } = await removeCohortMembers(context, cohort, references);
      return reply(200, { success: true, removed, not_members: notMembers });
    },

    async uploadCohortMembers({ params, body, access, reply }) {
      const references = await readMembersCsv(body);
      const cohort = { projectId: access.projectId, id: params.id };
      const addition = await addCohortMembersInParts(context, cohort, references);
      return reply(200, toAdditionBody(addition));
    },

    async createStaticCohortForFlag({ params, access, reply }) {
      const created = await createCohortForFlag(context, authorOf(access), params.id);
      return reply(201, { cohort: toCohortBody(created) });
    },
  };
}

function toReferences(body: {
  readonly person_ids?: readonly string[];
  readonly distinct_ids?: readonly string[];
}): PersonReferences {
  refuseUnstorableText(body);
  const { person_ids: uuids = [], distinct_ids: distinctIds = [] } = body;
  if (uuids.length + distinctIds.length > 0) return { uuids, distinctIds };
  throw invalidField('person_ids', 'Name at least one person.', 'required');
}

function toAdditionBody({ added, alreadyMembers, unknownIds }: Addition) {
  return {
    success: true,
    added,
    already_members: alreadyMembers,
    unknown: unknownIds.length,
    unknown_ids: unknownIds.slice(0, UNKNOWN_IDS_MAX),
  };
}
