import {
  createEventBuffer,
  type EventBuffer,
  type EventBufferOptions,
} from '../src/domain/capture/commit/event-buffer.ts';
import type { CaptureEvent } from '../src/domain/capture/parse/capture-event.ts';
import type { JsonObject } from '../src/domain/common/json.ts';
import type { Db } from '../src/domain/database/db.ts';
import { parseCaptureBody } from './parse-capture-body.ts';

/** A project that only events are stored for; returns its id. */
export async function insertProject(db: Db): Promise<number> {
  const [project] = await db('projects')
    .insert({ name: 'p', api_token: `phc_${Math.random()}` })
    .returning('id');
  if (project === undefined) throw new Error('No project was stored.');
  return project.id;
}

/** A buffer that commits at once, where nobody evaluates and nobody reads a log. */
export function aBuffer(db: Db, options: Partial<EventBufferOptions> = {}): EventBuffer {
  return createEventBuffer({
    db,
    flushAfterMs: 0,
    onGroupTypesAdded: async () => undefined,
    log: { warn: () => {}, error: () => {} },
    ...options,
  });
}

/** Events as a batch brings them; each is called `x` and is of `u`, unless it says otherwise. */
export function events(...batch: readonly JsonObject[]): CaptureEvent[] {
  const items = batch.map((item) => ({ event: 'x', distinct_id: 'u', ...item }));
  const context = { path: 'event' as const, receivedAt: new Date() };
  return parseCaptureBody({ api_key: 't', batch: items }, context).events;
}
