import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import type { JsonObject } from '../../common/json.ts';
import type { PersonDraft } from '../model/person-ledger.ts';
import { getPersonByDistinctId } from '../persons-queries.ts';
import { writeMerges } from './persons-merge.ts';
import { applyPersonChanges, lockPersons, readPersonChange } from './persons-writes.ts';

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());
beforeEach(async () => {
  const [project] = await database
    .db('projects')
    .insert({ name: 'p', api_token: `phc_${Math.random()}` })
    .returning('id');
  projectId = project?.id ?? 0;
});

interface TestEvent {
  readonly event?: string;
  readonly id: string;
  readonly properties?: JsonObject;
  readonly at?: string;
}

function toEntry({ event = 'x', id, properties = {}, at = '2026-01-01' }: TestEvent) {
  const timestamp = new Date(at);
  const change = readPersonChange({ event, distinctId: id, properties, timestamp });
  return { projectId, distinctId: id, timestamp, change };
}

/** Applies the events in one transaction. */
function apply(...events: TestEvent[]): Promise<(number | null)[]> {
  return database.db.transaction(async (tx) => {
    await lockPersons(tx, [projectId]);
    return applyPersonChanges(tx, events.map(toEntry));
  });
}

function find(distinctId: string) {
  return getPersonByDistinctId(database.db, projectId, distinctId);
}

function alias(id: string, other: string): TestEvent {
  return { event: '$create_alias', id, properties: { alias: other } };
}

function identify(id: string, anonymous?: string): TestEvent {
  const properties = anonymous === undefined ? {} : { $anon_distinct_id: anonymous };
  return { event: '$identify', id, properties };
}

function set(id: string, $set: JsonObject): TestEvent {
  return { id, properties: { $set } };
}

describe.each(['in one commit', 'in a commit each'])('person properties %s', (mode) => {
  async function run(...events: TestEvent[]): Promise<void> {
    if (mode === 'in one commit') await apply(...events);
    else for (const event of events) await apply(event);
  }

  it('set, set once and unset in order of arrival', async () => {
    await run(
      set('u', { a: 1 }),
      { id: 'u', properties: { $set_once: { a: 2, b: 3 } } },
      { id: 'u', properties: { $unset: ['a'] } },
    );
    expect((await find('u'))?.properties).toEqual({ b: 3 });
  });

  it('let the last arrival win, whatever its own time', async () => {
    await run(set('u', { a: 1 }), { ...set('u', { a: 2 }), at: '2020-01-01' });
    expect(await find('u')).toMatchObject({
      properties: { a: 2 },
      createdAt: new Date('2026-01-01'),
      isIdentified: false,
    });
  });

  it('replace nested objects whole and store null as null', async () => {
    await run(set('u', { o: { a: 1 }, n: 1 }), set('u', { o: { b: 2 }, n: null }));
    expect((await find('u'))?.properties).toEqual({ o: { b: 2 }, n: null });
  });

  it('let $set win over $set_once and ignore $unset of what was not there before', async () => {
    await run({ id: 'u', properties: { $set: { a: 1 }, $set_once: { a: 2 }, $unset: ['a'] } });
    expect((await find('u'))?.properties).toEqual({ a: 1 });
    await run({ id: 'u', properties: { $set: { a: 9, c: 1 }, $unset: ['a', 'c'] } });
    expect((await find('u'))?.properties).toEqual({ c: 1 });
  });

  it('keep keys that mean something to JavaScript', async () => {
    const $set: JsonObject = JSON.parse('{"__proto__":1,"constructor":2}');
    await run(set('u', {}), { id: 'u', properties: { $set } });
    const result: { rows: { text: string }[] } = await database.db.raw(
      'SELECT properties::text AS text FROM persons WHERE project_id = ?',
      [projectId],
    );
    expect(result.rows).toEqual([{ text: '{"__proto__": 1, "constructor": 2}' }]);
  });

  it('do not write a person for a page view that moved nothing but noise', async () => {
    await run(
      { event: '$pageview', id: 'u', properties: { $current_url: '/a', $browser: 'x' } },
      { event: '$pageview', id: 'u', properties: { $current_url: '/b' } },
    );
    expect((await find('u'))?.properties).toMatchObject({
      $current_url: '/a',
      $initial_current_url: '/a',
    });
    await run({
      event: '$pageview',
      id: 'u',
      properties: { $current_url: '/c', utm_source: 'mail' },
    });
    expect((await find('u'))?.properties).toMatchObject({
      $current_url: '/c',
      $initial_current_url: '/a',
    });
  });

  it('merge an unidentified person into the one that is named', async () => {
    await run(
      { ...set('u1', { x: 1, y: 1 }), at: '2026-01-05' },
      { ...set('anon1', { y: 2, z: 2 }), at: '2026-01-02' },
      alias('u1', 'anon1'),
    );
    const person = await find('u1');
    expect(person).toMatchObject({
      distinctIds: ['anon1', 'u1'],
      properties: { x: 1, y: 1, z: 2 },
      isIdentified: true,
      createdAt: new Date('2026-01-02'),
    });
    expect((await find('anon1'))?.id).toBe(person?.id);
    expect(await database.db('persons').where({ project_id: projectId })).toHaveLength(1);
  });

  it('do not merge an identified person, unless by force', async () => {
    await run(identify('u1', 'anon'), set('u2', {}), identify('u2', 'u1'));
    expect((await find('u2'))?.distinctIds).toEqual(['u2']);
    expect((await find('u1'))?.distinctIds).toEqual(['anon', 'u1']);
    await run({ event: '$merge_dangerously', id: 'u2', properties: { alias: 'u1' } });
    expect((await find('u1'))?.distinctIds).toEqual(['anon', 'u1', 'u2']);
  });

  it('follow chains of merges', async () => {
    await run(
      set('a', { a: 1, k: 'a' }),
      set('b', { b: 1, k: 'b' }),
      alias('b', 'a'),
      set('c', { c: 1, k: 'c' }),
      { event: '$merge_dangerously', id: 'c', properties: { alias: 'b', $set: { last: true } } },
      set('a', { after: true }),
    );
    expect(await find('a')).toMatchObject({
      distinctIds: ['a', 'b', 'c'],
      properties: { a: 1, b: 1, c: 1, k: 'c', last: true, after: true },
    });
    expect(await database.db('persons').where({ project_id: projectId })).toHaveLength(1);
  });
});

describe('identify and alias', () => {
  it('create one identified person with both ids when neither is known', async () => {
    await apply({
      event: '$identify',
      id: 'u',
      properties: { $anon_distinct_id: 'anon', $set: { a: 1 }, $unset: ['a'] },
    });
    expect(await find('anon')).toMatchObject({
      distinctIds: ['anon', 'u'],
      properties: { a: 1 },
      isIdentified: true,
    });
  });

  it.each(['u', 'anon'])('attach the missing id when only %s is known', async (known) => {
    await apply(set(known, { a: 1 }));
    await apply(identify('u', 'anon'));
    expect(await find('u')).toMatchObject({
      distinctIds: ['anon', 'u'],
      properties: { a: 1 },
      isIdentified: true,
    });
  });

  it('only set properties without another id', async () => {
    await apply({ event: '$identify', id: 'u', properties: { $set: { a: 1 } } });
    expect(await find('u')).toMatchObject({ properties: { a: 1 }, isIdentified: false });
  });

  it('treat a refused merge as an ordinary event', async () => {
    await apply({ event: '$identify', id: 'u', properties: { $anon_distinct_id: 'null' } });
    expect(await find('u')).toMatchObject({ distinctIds: ['u'], isIdentified: false });
    expect(await find('null')).toBeNull();
  });
});

describe('links between events and persons', () => {
  it('give every event the person that its distinct id ends up with', async () => {
    const ids = await apply(set('a', {}), set('b', {}), alias('b', 'a'), set('a', {}));
    expect(new Set(ids).size).toBe(1);
    expect((await find('b'))?.id).toBe(ids[0]);
  });

  it('link personless events to a person that exists and create none', async () => {
    const personless = { properties: { $process_person_profile: false, $set: { a: 1 } } };
    const [known] = await apply(set('u', {}));
    expect(await apply({ id: 'u', ...personless }, { id: 'v', ...personless })).toEqual([
      known,
      null,
    ]);
    expect((await find('u'))?.properties).toEqual({});
    expect(await find('v')).toBeNull();
  });

  it('keep projects apart', async () => {
    await apply(set('u', { a: 1 }));
    const first = projectId;
    const [other] = await database
      .db('projects')
      .insert({ name: 'q', api_token: `phc_${first}_other` })
      .returning('id');
    await database.db.transaction((tx) =>
      applyPersonChanges(tx, [
        { ...toEntry(set('u', { b: 2 })), projectId: other?.id ?? 0 },
        toEntry(set('u', { c: 3 })),
      ]),
    );
    expect((await find('u'))?.properties).toEqual({ a: 1, c: 3 });
    const second = await getPersonByDistinctId(database.db, other?.id ?? 0, 'u');
    expect(second?.properties).toEqual({ b: 2 });
  });
});

it('moves other rows step by step, before the absorbed person goes', async () => {
  const ids = await apply(set('a', {}), set('b', {}), set('c', {}));
  const drafts = ids.map((id): PersonDraft => ({ ...emptyDraft(), id }));
  const [a, b, c] = drafts;
  if (a === undefined || b === undefined || c === undefined) throw new Error('no persons');
  a.mergedInto = b;
  b.mergedInto = c;
  const moves: number[][] = [];
  await database.db.transaction((tx) =>
    writeMerges(
      tx,
      [
        {
          projectId,
          merges: [
            { from: a, to: b },
            { from: b, to: c },
          ],
        },
      ],
      [
        async (openTx, project, from, to) => {
          const both = 'SELECT id FROM persons WHERE id IN (?, ?)';
          expect((await openTx.raw(both, [from, to])).rows).toHaveLength(2);
          moves.push([project, from, to]);
        },
      ],
    ),
  );
  expect(moves).toEqual([
    [projectId, a.id, b.id],
    [projectId, b.id, c.id],
  ]);
  expect((await find('a'))?.distinctIds).toEqual(['a', 'b', 'c']);
});

function emptyDraft(): PersonDraft {
  return {
    id: null,
    properties: new Map(),
    isIdentified: false,
    createdAt: new Date(0),
    isChanged: false,
    mergedInto: null,
  };
}
