import type { Db } from '../src/domain/database/db.ts';
import { createStoredDataLoader } from '../src/domain/persons/stored-data/stored-data-loader.ts';

/** What evaluation would find stored of one person and of some groups. */
export async function findStoredProperties(
  db: Db,
  projectId: number,
  subject: {
    readonly distinctId: string;
    readonly groups: readonly { readonly index: number; readonly key: string }[];
  },
) {
  const { persons, groups } = await createStoredDataLoader(db)({
    projectId,
    distinctIds: [subject.distinctId],
    groups: subject.groups,
    staticCohortIds: [],
    wantsOverrides: false,
  });
  const [found = null] = persons;
  if (found === null) return { person: null, groups };
  const { id, properties, createdAt } = found;
  return { person: { id, properties, createdAt }, groups };
}
