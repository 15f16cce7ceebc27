import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations, readContract } from './contract.ts';
import { evaluateLink, findLinkFaults, type Link, linksOf } from './contract-links.ts';
import { createMinimalRequest } from './minimal-requests.ts';
import { PROJECT_API_KEY, type StartedBurgee, startBurgee } from './start-burgee.ts';
import { fillPath, storeExamples } from './subjects.ts';

const links = linksOf(readContract());

/** A contract of two operations with one link between them. */
function contractWith(link: object): object {
  const id = { name: 'id', in: 'path', required: true };
  const schema = { type: 'object', properties: { things: { type: 'array', items: {} } } };
  const responses = { 201: { content: { 'application/json': { schema } }, links: { link } } };
  return {
    paths: {
      '/things/': { post: { operationId: 'createThing', responses } },
      '/things/{id}/': { parameters: [id], get: { operationId: 'getThing', responses: {} } },
    },
  };
}

describe('the links of the contract', () => {
  it('name operations, parameters and fields that exist', () => {
    expect(links.length).toBeGreaterThan(50);
    expect(findLinkFaults(readContract())).toEqual([]);
  });

  const good = { operationId: 'getThing', parameters: { id: '$response.body#/things/0' } };
  const faults: readonly [string, object, readonly string[]][] = [
    ['nothing when all exist', good, []],
    ['a target', { ...good, operationId: 'getThings' }, ['no operation getThings']],
    ['no parameter', { operationId: 'getThing' }, ['id is left out']],
    [
      'an unknown parameter',
      { ...good, parameters: { ...good.parameters, page: 1 } },
      ['no parameter page'],
    ],
    [
      'an unknown field',
      { ...good, parameters: { id: '$response.body#/thing' } },
      ['$response.body#/thing names nothing'],
    ],
    [
      'an unknown parameter of the request',
      { ...good, parameters: { id: '$request.path.id' } },
      ['$request.path.id names nothing'],
    ],
    ['a body', { ...good, requestBody: { id: 1 } }, ['has a body']],
    [
      'no expression',
      { ...good, parameters: { id: '$response.id' } },
      ['$response.id names nothing'],
    ],
  ];
  it.each(faults)('are checked: %s', (_, link, expected) => {
    const found = findLinkFaults(contractWith(link));
    expect(found).toEqual(expected.map((fault) => `createThing 201 link: ${fault}`));
  });
});

/** The links that examples cannot follow, because of what the thing is. All others lead to a success. */
const REFUSED: Readonly<Record<string, number>> = {
  // No view of the feature was reported yet.
  'createFeatureFlag enrichDashboard': 400,
  // The example is a dynamic cohort, which keeps no list.
  'createCohort members': 400,
  'createCohort addPersons': 400,
  'createCohort uploadPersons': 400,
  'createCohort removePersons': 400,
};

type Values = Readonly<Record<string, unknown>>;

/** Makes what a list has to hold for its links, where no list of project 1 holds it already. */
const lists: Readonly<Record<string, (burgee: StartedBurgee) => Promise<Values>>> = {
  listDependentFeatureFlags: async (burgee) => {
    const { id } = await burgee.createFlag();
    const filter = { key: String(id), type: 'flag', operator: 'flag_evaluates_to', value: true };
    await burgee.createFlag({ filters: { groups: [{ properties: [filter] }] } });
    return { id };
  },
  listCohortPersons: async (burgee) => {
    const id = await fillPath(burgee, 'cohorts/{id}').then((path) => path.split('/')[1]);
    const body = { distinct_ids: ['user-42'] };
    const path = `/api/projects/1/cohorts/${id}/add_persons_to_static_cohort/`;
    await burgee.api('PATCH', path, { body });
    return { id };
  },
};

describe('a link of the contract', () => {
  let burgee: StartedBurgee;

  beforeAll(async () => {
    burgee = await startBurgee();
  });

  beforeEach(async () => {
    await burgee.createFlag();
    await storeExamples(burgee);
    const body = { api_key: PROJECT_API_KEY, event: 'seen', distinct_id: 'user-42' };
    await burgee.request('POST', '/i/v0/e/', { body });
  });

  afterAll(async () => {
    await burgee.stop();
  });

  /** Sends a request that works to an operation, with these parameters in it. */
  async function ask(id: string, values: Values) {
    const operation = operations.find((each) => each.id === id);
    if (operation === undefined) throw new Error(`There is no operation ${id}.`);
    const { path, options } = await createMinimalRequest(burgee, operation);
    const names = operation.path.split('/').map((step) => /^\{(.*)\}$/.exec(step)?.[1] ?? '');
    const steps = path.split('/').map((step, index) => String(values[names[index] ?? ''] ?? step));
    const query = Object.entries(values).filter(([name]) => !names.includes(name));
    const reply = await burgee.api(operation.method, steps.join('/'), {
      ...options,
      query: {
        ...options.query,
        ...Object.fromEntries(query.map(([name, it]) => [name, String(it)])),
      },
    });
    const inPath = Object.fromEntries(names.map((name, index) => [name, steps[index]]));
    return { reply, request: { path: inPath, body: options.body } };
  }

  it.each(links.map((link): [string, Link] => [`${link.source} ${link.name}`, link]))(
    'leads on: %s',
    async (name, link) => {
      const values = (await lists[link.source]?.(burgee)) ?? {};
      const { reply, request } = await ask(link.source, values);
      expect(String(reply.status), reply.text).toBe(link.status);
      const parameters = evaluateLink(link.parameters, request, reply);
      expect(Object.values(Object(parameters))).not.toContain(undefined);
      const { reply: next } = await ask(link.target, Object(parameters));
      const refusal = REFUSED[name];
      if (refusal === undefined) expect(next.status, next.text).toBeLessThan(300);
      else expect(next.status, next.text).toBe(refusal);
    },
  );
});
