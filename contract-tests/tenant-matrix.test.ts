import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, operations, readContract } from './contract.ts';
import type { HttpReply, RequestOptions } from './http.ts';
import type { TestKey, TestProject } from './identities.ts';
import { createMinimalRequest, type MinimalRequest } from './minimal-requests.ts';
import { readProject } from './project-digest.ts';
import { pick, pickList, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';
import { storeExamples } from './subjects.ts';

/**
 * Every operation of the contract with every kind of caller. What to expect follows from the
 * contract alone, so a new operation is held to it without being named here.
 */

/** Evaluation and capture are for everybody who knows a project API key. */
const PUBLIC_TAGS = ['evaluation', 'capture', 'capture_v1'];

const SCOPES = pickList(readContract(), 'components', 'schemas', 'Scope', 'enum').map(String);

const withProjectApiKey = operations.filter(({ takesProjectApiKey }) => takesProjectApiKey);
const secured = operations.filter(
  (operation) => operation.schemes.length > 0 && !withProjectApiKey.includes(operation),
);
const open = operations.filter(({ schemes }) => schemes.length === 0);
const forPeople = secured.filter(({ schemes }) => schemes.includes('personalApiKey'));
const forServers = secured.filter(({ schemes }) => schemes.includes('projectSecretKey'));

/** Whether the path of the operation names the project. */
const namesProject = ({ path }: Operation) => path.includes('{project_id}');
/** Whether it runs in one project, named by the path or chosen by the key. */
const runsInProject = (operation: Operation) =>
  namesProject(operation) || operation.tag === 'definitions';

let burgee: StartedBurgee;
let other: TestProject;
/** A key with every scope whose user is a member of the other project only. */
let theirs: TestKey;
/** What is in project 1 and may never reach somebody from outside. */
let marks: readonly string[];
const keysByScope = new Map<string, string>();

beforeAll(async () => {
  burgee = await startBurgee();
  await storeExamples(burgee);
  other = await burgee.createProject('The others');
  theirs = await burgee.createKey({ memberOf: [other.id] });
  await burgee.createFlag({ key: 'marked-key', name: 'marked name', tags: ['marked-tag'] });
  marks = [burgee.projectApiKey, 'marked', 'admin@burgee.local', 'acme'];
  for (const scope of SCOPES) {
    const body = { label: scope, scopes: [scope] };
    const made = await burgee.api('POST', '/api/personal_api_keys/', { body });
    keysByScope.set(scope, pickText(made.body, 'value'));
  }
}, 60_000);

afterAll(async () => {
  await burgee.stop();
});

/** Sends a request that may succeed, on things that are made for it. */
async function send(operation: Operation, change: RequestOptions) {
  const request = await createMinimalRequest(burgee, operation);
  const reply = await transmit(operation, request, change);
  return { reply, isSuccess: request.succeeds(reply.status) };
}

function transmit(
  operation: Operation,
  { path, options }: MinimalRequest,
  change: RequestOptions,
  projectId = 1,
): Promise<HttpReply> {
  return burgee.request(
    operation.method,
    path.replace('/api/projects/1/', `/api/projects/${projectId}/`),
    { ...options, ...change, query: { ...options.query, ...change.query } },
  );
}

function told(reply: HttpReply) {
  return [reply.status, pick(reply.body, 'code'), pick(reply.body, 'detail')];
}

const NO_KEY = [401, 'not_authenticated', 'Authentication credentials were not provided.'];
const BAD_KEY = [
  401,
  'authentication_failed',
  'Personal API key found in request Authorization header is invalid.',
];
const BAD_SECRET = [401, 'authentication_failed', 'Secret API token is invalid.'];
const NO_MEMBER = [403, 'permission_denied', "You don't have access to the project."];
const NOT_ITS_OWN = [
  403,
  'permission_denied',
  'You do not have permission to perform this action.',
];

const requests = new Map<string, Promise<MinimalRequest>>();

/** The same request for every refusal of an operation: what it names stays as it is. */
function findRequest(operation: Operation): Promise<MinimalRequest> {
  const request = requests.get(operation.id) ?? createMinimalRequest(burgee, operation);
  requests.set(operation.id, request);
  return request;
}

/** Sends a request that must not change project 1. */
async function sendInVain(operation: Operation, change: RequestOptions, projectId = 1) {
  const request = await findRequest(operation);
  const before = await readProject(burgee);
  const reply = await transmit(operation, request, change, projectId);
  expect(await readProject(burgee)).toEqual(before);
  return reply;
}

function expectNoMark(reply: HttpReply): void {
  for (const mark of marks) expect(reply.text).not.toContain(mark);
}

describe('the contract', () => {
  it('knows only the kinds of keys that this test knows', () => {
    const kinds = new Set(operations.flatMap(({ schemes }) => schemes));
    expect([...kinds].toSorted()).toEqual(['personalApiKey', 'projectApiKey', 'projectSecretKey']);
  });

  it('is open for evaluation and capture, and for nothing else', () => {
    const wrong = operations.filter(
      (operation) => PUBLIC_TAGS.includes(operation.tag) === secured.includes(operation),
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('asks for a scope of the closed list wherever it asks for a key', () => {
    for (const operation of operations) {
      const { id, requiredScope } = operation;
      const isKnown = requiredScope !== null && requiredScope !== '*';
      const asks = isKnown && SCOPES.includes(requiredScope);
      expect([id, asks]).toEqual([id, secured.includes(operation)]);
    }
  });

  it('lets nobody change anything with a scope to read, apart from what only looks', () => {
    const changing = secured.filter(({ method }) => ['PUT', 'PATCH', 'DELETE'].includes(method));
    const reading = secured.filter(({ method }) => method === 'GET');
    expect(changing.filter(({ requiredScope }) => !requiredScope?.endsWith(':write'))).toEqual([]);
    expect(reading.filter(({ requiredScope }) => !requiredScope?.endsWith(':read'))).toEqual([]);
  });
});

describe.each(open)('$id, which is open,', (operation) => {
  it.each([null, 'phx_nobody'])('answers with the key %s', async (key) => {
    const { reply, isSuccess } = await send(operation, { key });
    expect(isSuccess, reply.text).toBe(true);
  });
});

describe.each(withProjectApiKey)('$id, which takes the project API key,', (operation) => {
  it('answers with it', async () => {
    const { reply, isSuccess } = await send(operation, { key: burgee.projectApiKey });
    expect(isSuccess, reply.text).toBe(true);
  });

  it.each([null, 'phx_nobody', 'phs_nobody', 'phc_nobody'])(
    'is closed with the key %s',
    async (key) => {
      expect((await sendInVain(operation, { key })).status).toBe(401);
    },
  );
});

// The secret key of project 1 first: some operations draw a new one.
describe.each(secured)('$id', (operation) => {
  const takesSecretKey = forServers.includes(operation);

  it(takesSecretKey ? 'takes the secret key of a project' : 'takes no secret key', async () => {
    const { reply, isSuccess } = await send(operation, { key: burgee.projectSecretKey });
    if (takesSecretKey) expect(isSuccess, reply.text).toBe(true);
    else expect(told(reply)).toEqual(BAD_KEY);
  });

  it('keeps a foreign secret key out of the project', async () => {
    const reply = await sendInVain(operation, { key: other.projectSecretKey });
    if (!takesSecretKey) expect(told(reply)).toEqual(BAD_KEY);
    else if (namesProject(operation)) expect(told(reply)).toEqual(NOT_ITS_OWN);
    else expect(reply.status).toBe(200);
    expectNoMark(reply);
  });
});

describe.each(secured)('$id', (operation) => {
  it('is closed without a key', async () => {
    expect(told(await sendInVain(operation, { key: null }))).toEqual(NO_KEY);
  });

  it.each(['phx_nobody', 'phs_nobody', 'phc_contractTestsProjectApiKey00000000000001'])(
    'is closed with the bad key %s',
    async (key) => {
      const isTakenForSecret = forServers.includes(operation) && key.startsWith('phs_');
      expect(told(await sendInVain(operation, { key }))).toEqual(
        isTakenForSecret ? BAD_SECRET : BAD_KEY,
      );
    },
  );
});

describe.each(forPeople)('$id, for somebody of another project,', (operation) => {
  it('shows and changes nothing of this one', async () => {
    const isOfOneProject = runsInProject(operation);
    const isOfSomething = operation.path.replace('{project_id}', '').includes('{');
    const reply = await sendInVain(operation, { key: theirs.key });
    if (namesProject(operation)) expect(told(reply)).toEqual(NO_MEMBER);
    // What is the user's own and not a project's is simply not there for another user.
    else if (!isOfOneProject && isOfSomething) expect(reply.status).toBe(404);
    else expect(reply.status).toBeLessThan(300);
    expectNoMark(reply);
  });

  it('is not widened by the project API key of this one', async () => {
    const change = { key: theirs.key, query: { token: burgee.projectApiKey } };
    const reply = await sendInVain(operation, change, other.id);
    const isChosenByToken = operation.method === 'GET' && runsInProject(operation);
    if (isChosenByToken) expect(told(reply)).toEqual(NO_MEMBER);
    else expect(reply.status).toBeLessThan(500);
    expectNoMark(reply);
  });

  it('does not move to another project by its token either', async () => {
    const change = { key: theirs.key, query: { token: other.projectApiKey } };
    const reply = await sendInVain(operation, change);
    // A GET runs in the project of the token; everything else stays in that of the path.
    if (namesProject(operation) && operation.method !== 'GET') {
      expect(told(reply)).toEqual(NO_MEMBER);
    }
    expect(reply.status).toBeLessThan(500);
    expectNoMark(reply);
  });

  it('is refused with a token that is nobody’s', async () => {
    const { reply } = await send(operation, {
      key: burgee.personalApiKey,
      query: { token: 'phc_nobody' },
    });
    const isChosenByToken = operation.method === 'GET' && runsInProject(operation);
    expect(reply.status === 401).toBe(isChosenByToken);
  });
});

describe.each(forPeople)('$id, with one scope alone,', (operation) => {
  const required = operation.requiredScope ?? '';
  const sufficient = ['*', required, required.replace(/:read$/, ':write')];

  it.each(SCOPES.filter((scope) => sufficient.includes(scope)))('is open to %s', async (scope) => {
    const { reply, isSuccess } = await send(operation, { key: keyOf(scope) });
    expect(isSuccess, `${reply.status} ${reply.text}`).toBe(true);
  });

  it('is closed to every other one', async () => {
    const request = await findRequest(operation);
    const before = await readProject(burgee);
    const insufficient = SCOPES.filter((scope) => !sufficient.includes(scope));
    const replies = await Promise.all(
      insufficient.map((scope) => transmit(operation, request, { key: keyOf(scope) })),
    );
    const refusal = [403, 'permission_denied', `API key missing required scope '${required}'`];
    expect(replies.map(told)).toEqual(insufficient.map(() => refusal));
    expect(await readProject(burgee)).toEqual(before);
  });
});

function keyOf(scope: string): string {
  const key = keysByScope.get(scope);
  if (key === undefined) throw new Error(`There is no key with the scope ${scope}.`);
  return key;
}

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
