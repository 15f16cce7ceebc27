import { notFound } from '../../domain/common/refusal.ts';
import type { Db } from '../../domain/database/db.ts';
import { deletePerson } from '../../domain/persons/persons-commands.ts';
import {
  getPersonByDistinctId,
  getPersonByUuid,
  listPersonsBefore,
  type Person,
} from '../../domain/persons/persons-queries.ts';
import type { Handlers } from '../../operations/operation.ts';
import { cursorLink, pageSize } from '../common/pagination.ts';

export interface PersonHandlersContext {
  readonly db: Db;
  readonly now: () => Date;
}

type PersonHandlers = Pick<Handlers, 'listPersons' | 'getPerson' | 'deletePerson'>;

const PAGE_SIZE = 100;

/** The operations on stored persons. */
export function createPersonHandlers({ db, now }: PersonHandlersContext): PersonHandlers {
  return {
    async listPersons({ query, access, origin, reply }) {
      if (query.distinct_id !== undefined) {
        const person = await getPersonByDistinctId(db, access.projectId, query.distinct_id);
        return reply(200, { next: null, results: person === null ? [] : [toPersonBody(person)] });
      }
      const limit = pageSize(query.limit, PAGE_SIZE);
      const id = query.cursor ?? Number.MAX_SAFE_INTEGER;
      // One more than asked for tells whether there is another page.
      const found = await listPersonsBefore(db, access.projectId, { id, limit: limit + 1 });
      const page = found.slice(0, limit);
      const cursor = found.length > limit ? (page.at(-1)?.id ?? null) : null;
      return reply(200, {
        next: cursorLink(origin, { limit, cursor }),
        results: page.map(toPersonBody),
      });
    },

    async getPerson({ params, access, reply }) {
      const person = await getPersonByUuid(db, access.projectId, params.uuid);
      if (person === null) throw notFound();
      return reply(200, toPersonBody(person));
    },

    async deletePerson({ params, query, access, reply }) {
      const { projectId } = access;
      const deletesEvents = query.delete_events === true;
      await deletePerson(db, { projectId, uuid: params.uuid, deletesEvents }, now());
      return reply(204, undefined);
    },
  };
}

function toPersonBody(person: Person) {
  return {
    id: person.id,
    uuid: person.uuid,
    distinct_ids: [...person.distinctIds],
    properties: person.properties,
    is_identified: person.isIdentified,
    created_at: person.createdAt.toISOString(),
  };
}
