import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import type { JsonObject } from '../json.ts';
import { applyPersonChanges, lockPersons, readPersonChange } from './persons-writes.ts';

interface Step {
  readonly event: string;
  readonly id: string;
  readonly other: string | null;
  readonly set: JsonObject;
  readonly setOnce: JsonObject;
  readonly unset: readonly string[];
}

interface ModelPerson {
  ids: string[];
  properties: Record<string, unknown>;
  isIdentified: boolean;
}

let database: DisposableDatabase;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'null');
const properties = fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.integer({ min: 0, max: 3 }), {
  noNullPrototype: true,
});
const step: fc.Arbitrary<Step> = fc.record({
  event: fc.constantFrom('x', '$identify', '$create_alias', '$merge_dangerously'),
  id,
  other: fc.option(id),
  set: properties,
  setOnce: properties,
  unset: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
});

/** The documented rules, written as plainly as possible over a list of persons. */
function runModel(steps: readonly Step[]): ModelPerson[] {
  let persons: ModelPerson[] = [];
  const find = (distinctId: string) => persons.find(({ ids }) => ids.includes(distinctId));
  for (const { event, id: own, other, set, setOnce, unset } of steps) {
    const mayMerge = event !== 'x' && other !== null && other !== own;
    if (mayMerge && other !== 'null' && own !== 'null') {
      const target = find(own);
      const absorbed = find(other);
      if (target === undefined && absorbed === undefined) {
        const properties = { ...setOnce, ...set };
        persons.push({ ids: [own, other], properties, isIdentified: true });
        continue;
      }
      if (target === undefined || absorbed === undefined) {
        const known = target ?? absorbed;
        known?.ids.push(target === undefined ? own : other);
        if (known !== undefined) known.isIdentified = true;
      } else if (target === absorbed) {
        target.isIdentified = true;
      } else if (!absorbed.isIdentified || event === '$merge_dangerously') {
        target.properties = { ...absorbed.properties, ...target.properties };
        target.ids.push(...absorbed.ids);
        target.isIdentified = true;
        persons = persons.filter((person) => person !== absorbed);
      }
    }
    const person = find(own);
    if (person === undefined) {
      persons.push({ ids: [own], properties: { ...setOnce, ...set }, isIdentified: false });
      continue;
    }
    const before = person.properties;
    person.properties = { ...setOnce, ...before, ...set };
    for (const key of unset) if (key in before) delete person.properties[key];
  }
  return persons;
}

function toEntry(projectId: number, { event, id: own, other, set, setOnce, unset }: Step) {
  const timestamp = new Date('2026-01-01');
  const otherId = event === '$identify' ? { $anon_distinct_id: other } : { alias: other };
  const person = { $set: set, $set_once: setOnce, $unset: unset };
  const change = readPersonChange({
    event,
    distinctId: own,
    properties: { ...otherId, ...person },
    timestamp,
  });
  return { projectId, distinctId: own, timestamp, change };
}

async function runDatabase(commits: readonly (readonly Step[])[]): Promise<ModelPerson[]> {
  const { db } = database;
  const [project] = await db('projects')
    .insert({ name: 'p', api_token: `phc_${Math.random()}` })
    .returning('id');
  const projectId = project?.id ?? 0;
  for (const steps of commits) {
    await db.transaction(async (tx) => {
      await lockPersons(tx, [projectId]);
      await applyPersonChanges(
        tx,
        steps.map((item) => toEntry(projectId, item)),
      );
    });
  }
  const rows = await db('persons').where({ project_id: projectId });
  return Promise.all(
    rows.map(async ({ id: personId, properties: stored, is_identified }) => ({
      ids: await db('person_distinct_ids').where({ person_id: personId }).pluck('distinct_id'),
      properties: stored,
      isIdentified: is_identified,
    })),
  );
}

function sorted(persons: readonly ModelPerson[]): ModelPerson[] {
  return persons
    .map((person) => ({ ...person, ids: person.ids.toSorted() }))
    .toSorted((a, b) => (a.ids.join() < b.ids.join() ? -1 : 1));
}

it('agrees with the rules for any events in any division into commits', async () => {
  const commits = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(commits, async (steps) => {
      expect(sorted(await runDatabase(steps))).toEqual(sorted(runModel(steps.flat())));
    }),
    { numRuns: 150 },
  );
}, 60_000);
