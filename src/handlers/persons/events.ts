import { parseTimestamp } from '../../domain/capture/parse/capture-clock.ts';
import { invalidField } from '../../domain/common/refusal.ts';
import type { Db } from '../../domain/database/db.ts';
import { type EventPosition, listEvents } from '../../domain/events/events-queries.ts';
import type { Handlers } from '../../operations/operation.ts';
import { cursorLink, pageSize } from '../common/pagination.ts';

const DEFAULT_PAGE_SIZE = 100;

const CURSOR = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)_([0-9a-f-]{36})$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The operation that reads events. */
export function createEventHandlers({ db }: { readonly db: Db }): Pick<Handlers, 'listEvents'> {
  return {
    async listEvents({ query, access, origin, reply }) {
      const limit = pageSize(query.limit, DEFAULT_PAGE_SIZE);
      const { event, distinct_id, flag, after, before, cursor } = query;
      const found = await listEvents(db, access.projectId, {
        ...(event === undefined ? {} : { event }),
        ...(distinct_id === undefined ? {} : { distinctId: distinct_id }),
        ...(flag === undefined ? {} : { flagKey: flag }),
        ...(after === undefined ? {} : { after: readTime('after', after) }),
        ...(before === undefined ? {} : { before: readTime('before', before) }),
        ...(cursor === undefined ? {} : { behind: readCursor(cursor) }),
        limit: limit + 1,
      });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return reply(200, {
        next: cursorLink(origin, { limit, cursor: last === undefined ? null : toCursor(last) }),
        results: page.map(({ uuid, event: name, distinctId, properties, timestamp }) => ({
          id: uuid,
          event: name,
          distinct_id: distinctId,
          properties,
          timestamp: timestamp.toISOString(),
        })),
      });
    },
  };
}

function readTime(name: string, text: string): Date {
  const time = parseTimestamp(text);
  if (time === null) throw invalidField(name, 'Enter a valid date or time.');
  return time;
}

function toCursor({ timestamp, uuid }: EventPosition): string {
  return `${timestamp.toISOString()}_${uuid}`;
}

function readCursor(text: string): EventPosition {
  const [, time = '', uuid = ''] = CURSOR.exec(text) ?? [];
  const timestamp = new Date(time);
  if (Number.isNaN(timestamp.getTime()) || !UUID.test(uuid)) {
    throw invalidField('cursor', 'This is not the cursor of a page.');
  }
  return { timestamp, uuid };
}
