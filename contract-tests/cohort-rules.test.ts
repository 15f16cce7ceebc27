import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  all,
  COHORTS,
  type CohortWorld,
  createCohortWorld,
  person,
  within,
} from './cohort-world.ts';
import { pick, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;
let world: CohortWorld;

beforeAll(async () => {
  burgee = await startBurgee();
  world = createCohortWorld(burgee);
});

afterAll(async () => {
  expect(burgee.errors()).toEqual([]);
  await burgee.stop();
});

describe('a dynamic cohort', () => {
  it.each<[string, object, string, string, string]>([
    ['no filters', {}, 'filters', 'invalid_input', 'must contain a'],
    ['no root', { filters: { a: 1 } }, 'filters', 'invalid_input', 'must contain a'],
    ['a leaf as root', { filters: { properties: person('a', 1) } }, 'filters', 'invalid_input', ''],
    ['nothing in a group', { filters: all() }, 'filters', 'invalid_input', 'must not be empty'],
    [
      'values that are no list',
      { filters: { properties: { type: 'OR', values: 1 } } },
      'filters',
      'invalid_input',
      'must be a list',
    ],
    [
      'an unknown type',
      { filters: all({ ...person('a', 1), type: 'group' }) },
      'filters',
      'invalid_input',
      'properties.values[0].type',
    ],
    [
      'an unknown operator',
      { filters: all(person('a', 'b', { operator: 'like' })) },
      'filters',
      'invalid_operator',
      'Invalid operator: like',
    ],
    [
      'a broken pattern',
      { filters: all(person('a', '(', { operator: 'regex' })) },
      'filters',
      'invalid_input',
      'invalid regex pattern',
    ],
    [
      'no value',
      { filters: all({ key: 'a', type: 'person' }) },
      'filters',
      'invalid_input',
      'values[0].value is required',
    ],
    [
      'a flag',
      { filters: all(person('1', true, { operator: 'flag_evaluates_to' })) },
      'filters',
      'invalid_input',
      'cannot be used in a cohort',
    ],
    [
      'an unknown cohort',
      { filters: all(within(99_999)) },
      'filters',
      'cohort_does_not_exist',
      'Cohort with id 99999 does not exist',
    ],
    ['a cohort by text', { filters: all(within('1')) }, 'filters', 'invalid_input', 'as a number'],
    [
      'behaviour',
      { filters: all({ key: 'signup', type: 'behavioral', value: 'performed_event' }) },
      'filters',
      'behavioral_cohort_found',
      'Filters on events are not supported',
    ],
    [
      'behaviour, older form',
      { groups: [{ action_id: 1 }] },
      'groups',
      'behavioral_cohort_found',
      '',
    ],
    [
      'an older group of nothing',
      { groups: [{}] },
      'groups',
      'invalid_input',
      'groups[0].properties',
    ],
    [
      'negation that is none',
      { filters: all(person('a', 'b', { negation: 'yes' })) },
      'filters',
      'invalid_input',
      'negation',
    ],
    [
      'a static one with filters',
      { is_static: true, filters: all(person('a', 1)) },
      'filters',
      'invalid_input',
      'has no filters',
    ],
    ['a query', { query: { kind: 'ActorsQuery' } }, 'query', 'invalid_input', 'not supported'],
    [
      'a NUL character',
      { filters: all(person('a\0', 1)) },
      'filters',
      'null_characters_not_allowed',
      '',
    ],
    ['no name', { name: '', filters: all(person('a', 1)) }, 'name', 'blank', ''],
  ])('is refused with %s', async (_name, body, attr, code, detail) => {
    const reply = await burgee.api('POST', COHORTS, { body: { name: 'refused', ...body } });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', attr, code });
    expect(pickText(reply.body, 'detail')).toContain(detail);
  });

  it('is refused when cohorts refer to each other in a loop', async () => {
    const first = await world.create({ filters: all(person('plan', 'pro')) });
    const second = await world.create({ filters: all(within(first.id)) });
    for (const id of [first.id, second.id]) {
      const body = { filters: all(within(id)) };
      const reply = await burgee.api('PATCH', first.path, { body });
      expect(reply.status).toBe(400);
      expect(pickText(reply.body, 'detail')).toBe(
        'Cohorts cannot reference other cohorts in a loop.',
      );
    }
  });

  it('is refused when it is nested too deeply', async () => {
    let node: object = person('a', 1);
    for (let depth = 0; depth < 21; depth += 1) node = { type: 'AND', values: [node] };
    const body = { name: 'deep', filters: { properties: node } };
    const reply = await burgee.api('POST', COHORTS, { body });
    expect([reply.status, pick(reply.body, 'attr')]).toEqual([400, 'filters']);
  });
});
