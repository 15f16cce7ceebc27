import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { storeEvents } from '../../../../test/store-events.ts';
import type { JsonObject } from '../../common/json.ts';
import { ensurePartitions } from '../../events/event-partitions.ts';
import { deleteGroup } from '../groups-commands.ts';
import { deletePerson } from '../persons-commands.ts';
import { getPersonByDistinctId, listGroupTypes } from '../persons-queries.ts';

interface Sent {
  readonly event: string;
  readonly id: string;
  readonly other: string | null;
  readonly set: JsonObject;
  readonly setOnce: JsonObject;
  readonly unset: readonly string[];
  readonly isPersonless: boolean;
  readonly memberships: Readonly<Record<string, string>>;
  /** What `$groupidentify` describes. */
  readonly group: { readonly type: string; readonly key: string; readonly set: JsonObject };
}

/** What happens to a project: events that are committed together, or a privacy request. */
type Action =
  | { readonly kind: 'commit'; readonly events: readonly Sent[] }
  | { readonly kind: 'delete person'; readonly id: string; readonly withEvents: boolean }
  | { readonly kind: 'delete group'; readonly type: string; readonly key: string };

interface ModelPerson {
  ids: string[];
  properties: Record<string, unknown>;
  isIdentified: boolean;
}

interface ModelEvent {
  readonly event: string;
  readonly id: string;
  /** The `$group_<index>` properties. */
  readonly groups: Readonly<Record<string, unknown>>;
}

interface ModelProject {
  persons: ModelPerson[];
  readonly groupTypes: string[];
  /** By index and key. */
  readonly groups: Map<string, Record<string, unknown>>;
  events: ModelEvent[];
}

const NOW = new Date('2026-01-01T12:00:00Z');
const GROUP_TYPES_MAX = 5;

let database: DisposableDatabase;

beforeAll(async () => {
  database = await createDisposableDatabase();
  await ensurePartitions(database.db, NOW, 1);
});
afterAll(() => database.destroy());

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'null');
const properties = fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.integer({ min: 0, max: 3 }), {
  noNullPrototype: true,
});
const groupType = fc.constantFrom('company', 'team', 'site', 'ship', 'crew', 'dock', 'port');
const groupKey = fc.constantFrom('1', '2');
const memberships = fc.dictionary(groupType, groupKey, { maxKeys: 2, noNullPrototype: true });
const sent: fc.Arbitrary<Sent> = fc.record({
  event: fc.constantFrom('x', '$identify', '$create_alias', '$merge_dangerously', '$groupidentify'),
  id,
  other: fc.option(id),
  set: properties,
  setOnce: properties,
  unset: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
  isPersonless: fc.boolean().chain((one) => fc.boolean().map((other) => one && other)),
  memberships: fc.oneof(fc.constant({}), memberships),
  group: fc.record({ type: groupType, key: groupKey, set: properties }),
});
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(sent, { minLength: 1, maxLength: 8 })
      .map((events) => ({ kind: 'commit' as const, events })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete person' as const),
      id,
      withEvents: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete group' as const),
      type: groupType,
      key: groupKey,
    }),
  },
);

/** The documented rules, written as plainly as possible. */
function runModel(actions: readonly Action[]): ModelProject {
  const project: ModelProject = { persons: [], groupTypes: [], groups: new Map(), events: [] };
  for (const step of actions) {
    if (step.kind === 'commit') {
      for (const event of step.events) receive(project, event);
    } else if (step.kind === 'delete person') {
      const gone = findPerson(project, step.id);
      project.persons = project.persons.filter((person) => person !== gone);
      if (!step.withEvents || gone === undefined) continue;
      project.events = project.events.filter((event) => !gone.ids.includes(event.id));
    } else {
      project.groups.delete(`${project.groupTypes.indexOf(step.type)} ${step.key}`);
    }
  }
  return project;
}

function findPerson({ persons }: ModelProject, distinctId: string): ModelPerson | undefined {
  return persons.find(({ ids }) => ids.includes(distinctId));
}

function receive(project: ModelProject, sent: Sent): void {
  const { event, id: own, isPersonless } = sent;
  if (isPersonless) {
    if (event === 'x') project.events.push({ event, id: own, groups: {} });
    return;
  }
  const groups: Record<string, unknown> = {};
  for (const [type, key] of Object.entries(sent.memberships)) {
    const index = indexOf(project, type);
    if (index !== null) groups[`$group_${index}`] = key;
  }
  project.events.push({ event, id: own, groups });
  if (event !== '$groupidentify') {
    changePerson(project, sent);
    return;
  }
  const index = indexOf(project, sent.group.type);
  if (index === null) return;
  const group = `${index} ${sent.group.key}`;
  project.groups.set(group, { ...project.groups.get(group), ...sent.group.set });
}

/** The index of the group type, which it gets when it is new and there is room. */
function indexOf({ groupTypes }: ModelProject, type: string): number | null {
  if (!groupTypes.includes(type) && groupTypes.length < GROUP_TYPES_MAX) groupTypes.push(type);
  const index = groupTypes.indexOf(type);
  return index < 0 ? null : index;
}

function changePerson(project: ModelProject, { event, id: own, other, ...change }: Sent): void {
  const { set, setOnce, unset } = change;
  const mayMerge = event !== 'x' && other !== null && other !== own;
  if (mayMerge && other !== 'null' && own !== 'null') {
    const target = findPerson(project, own);
    const absorbed = findPerson(project, other);
    if (target === undefined && absorbed === undefined) {
      const person = { ids: [own, other], properties: { ...setOnce, ...set }, isIdentified: true };
      project.persons.push(person);
      return;
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
      project.persons = project.persons.filter((person) => person !== absorbed);
    }
  }
  const person = findPerson(project, own);
  if (person === undefined) {
    const created = { ids: [own], properties: { ...setOnce, ...set }, isIdentified: false };
    project.persons.push(created);
    return;
  }
  const before = person.properties;
  person.properties = { ...setOnce, ...before, ...set };
  for (const key of unset) if (key in before) delete person.properties[key];
}

function toCaptured({ event, id: own, other, group, memberships, ...sent }: Sent) {
  const properties: JsonObject = {
    ...(event === '$identify' ? { $anon_distinct_id: other } : { alias: other }),
    $set: sent.set,
    $set_once: sent.setOnce,
    $unset: sent.unset,
    ...(sent.isPersonless ? { $process_person_profile: false } : {}),
    ...(Object.keys(memberships).length === 0 ? {} : { $groups: memberships }),
    ...(event === '$groupidentify'
      ? { $group_type: group.type, $group_key: group.key, $group_set: group.set }
      : {}),
  };
  const uuid = randomUUID();
  return { uuid, event, distinctId: own, properties, timestamp: NOW, receivedAt: NOW };
}

async function runDatabase(actions: readonly Action[]): Promise<ModelProject> {
  const { db } = database;
  const row = { name: 'p', api_token: `phc_${randomUUID()}` };
  const [project] = await db('projects').insert(row).returning('id');
  const projectId = project?.id ?? 0;
  for (const step of actions) {
    if (step.kind === 'commit') {
      await db.transaction((tx) => storeEvents(tx, projectId, step.events.map(toCaptured)));
    } else if (step.kind === 'delete person') {
      const person = await getPersonByDistinctId(db, projectId, step.id);
      if (person === null) continue;
      const deletion = { projectId, uuid: person.uuid, deletesEvents: step.withEvents };
      await deletePerson(db, deletion, NOW);
    } else {
      const types = await listGroupTypes(db, projectId);
      const index = types.find((type) => type.groupType === step.type)?.index ?? 0;
      const isThere = await db('groups').where({
        project_id: projectId,
        group_type_index: index,
        group_key: step.key,
      });
      if (types[index]?.groupType !== step.type || isThere.length === 0) continue;
      await deleteGroup(db, projectId, { index, key: step.key });
    }
  }
  return readProject(projectId);
}

async function readProject(projectId: number): Promise<ModelProject> {
  const { db } = database;
  const of = { project_id: projectId };
  const distinctIds = await db('person_distinct_ids').where(of);
  const persons = (await db('persons').where(of)).map((person) => ({
    ids: distinctIds.filter((row) => row.person_id === person.id).map((row) => row.distinct_id),
    properties: person.properties,
    isIdentified: person.is_identified,
  }));
  const groups = (await db('groups').where(of)).map((row): [string, JsonObject] => [
    `${row.group_type_index} ${row.group_key}`,
    row.properties,
  ]);
  const events = (await db('events').where(of)).map(({ event, distinct_id, properties }) => ({
    event,
    id: distinct_id,
    groups: Object.fromEntries(
      Object.entries(properties).filter(([name]) => /^\$group_\d$/.test(name)),
    ),
  }));
  const groupTypes = (await listGroupTypes(db, projectId)).map((type) => type.groupType);
  return { persons, groupTypes, groups: new Map(groups), events };
}

function sorted({ persons, events, ...project }: ModelProject) {
  return {
    ...project,
    persons: persons
      .map((person) => ({ ...person, ids: person.ids.toSorted() }))
      .toSorted((a, b) => (a.ids.join() < b.ids.join() ? -1 : 1)),
    events: events
      .map(
        ({ event, id, groups }) => `${event} ${id} ${Object.entries(groups).toSorted().join(' ')}`,
      )
      .toSorted(),
  };
}

it('agrees with the rules for any events and deletions, however they are committed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 7 }), async (actions) => {
      expect(sorted(await runDatabase(actions))).toEqual(sorted(runModel(actions)));
    }),
    { numRuns: 100 },
  );
}, 120_000);
