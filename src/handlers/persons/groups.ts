import type { Db } from '../../domain/database/db.ts';
import { deleteGroup, nameGroupTypes } from '../../domain/persons/groups-commands.ts';
import {
  type Group,
  listGroups,
  listNamedGroupTypes,
  type NamedGroupType,
} from '../../domain/persons/groups-queries.ts';
import type { Handlers } from '../../operations/operation.ts';
import { cursorLink, pageSize } from '../common/pagination.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';

type GroupHandlers = Pick<
  Handlers,
  'listGroupTypes' | 'nameGroupTypes' | 'listGroups' | 'deleteGroup'
>;

const PAGE_SIZE = 100;

/** The operations on stored groups and on their kinds. */
export function createGroupHandlers({ db }: { readonly db: Db }): GroupHandlers {
  return {
    async listGroups({ query, access, origin, reply }) {
      const limit = pageSize(query.limit, PAGE_SIZE);
      // One more than asked for tells whether there is another page.
      const found = await listGroups(db, {
        projectId: access.projectId,
        index: query.group_type_index,
        key: query.group_key,
        after: query.cursor,
        limit: limit + 1,
      });
      const page = found.slice(0, limit);
      const cursor = found.length > limit ? (page.at(-1)?.key ?? null) : null;
      return reply(200, {
        next: cursorLink(origin, { limit, cursor }),
        results: page.map(toGroupBody),
      });
    },

    async deleteGroup({ query, access, reply }) {
      const group = { index: query.group_type_index, key: query.group_key };
      await deleteGroup(db, access.projectId, group);
      return reply(204, undefined);
    },

    async listGroupTypes({ access, reply }) {
      const types = await listNamedGroupTypes(db, access.projectId);
      return reply(200, types.map(toGroupTypeBody));
    },

    async nameGroupTypes({ body, access, reply }) {
      for (const [position, names] of body.entries()) refuseUnstorableText(names, `${position}__`);
      const namings = body.map((names) => ({
        index: names.group_type_index,
        nameSingular: names.name_singular,
        namePlural: names.name_plural,
      }));
      const types = await nameGroupTypes(db, access.projectId, namings);
      return reply(200, types.map(toGroupTypeBody));
    },
  };
}

function toGroupBody(group: Group) {
  return {
    group_type_index: group.index,
    group_key: group.key,
    group_properties: group.properties,
    created_at: group.createdAt.toISOString(),
  };
}

function toGroupTypeBody(type: NamedGroupType) {
  return {
    group_type: type.groupType,
    group_type_index: type.index,
    name_singular: type.nameSingular,
    name_plural: type.namePlural,
    created_at: type.createdAt.toISOString(),
  };
}
