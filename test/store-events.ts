import { writeEvents } from '../src/domain/capture/commit/events-writes.ts';
import { prepareEvents } from '../src/domain/capture/commit/prepared-event.ts';
import type { CaptureEvent } from '../src/domain/capture/parse/capture-event.ts';
import { runAtOnce } from '../src/domain/common/time-slices.ts';
import type { Statements } from '../src/domain/database/pipeline.ts';
import { FullProjects } from '../src/domain/usage/flags/full-projects.ts';

/** Stores the events of a project where nobody evaluates, so that nobody is told of group types. */
export async function storeEvents(
  tx: Statements,
  projectId: number,
  events: readonly CaptureEvent[],
  fullProjects: FullProjects = new FullProjects(),
): Promise<void> {
  await writeEvents(tx, runAtOnce(prepareEvents(projectId, events)), {
    onGroupTypesAdded: async () => {},
    onMergeRefused: () => {},
    mayRepeat: true,
    fullProjects,
  });
}
