import { writeFile } from 'node:fs/promises';
import { KEYS } from './burgee.ts';
import { createRandom, distinctId, drawPerson, USERS } from './people.ts';
import type { RequestKind } from './scenarios.ts';

const SEED_OF_REQUESTS = 1;
/** One event in so many changes its person; the others only name it. */
const CHANGE_EVERY = 10;

/** The requests of a scenario, which load generators and the bare server's replies are made from. */
export interface Requests {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One for each request; the order is random, but the same in every run. Empty without a body. */
  readonly bodies: readonly string[];
  /** The status of every reply. */
  readonly status: number;
}

/** Makes the requests of a kind, one of each user where users ask. */
export async function createRequests(url: string, kind: RequestKind): Promise<Requests> {
  if (kind === 'definitions 304') return definitionsRequest(url);
  const random = createRandom(SEED_OF_REQUESTS);
  const users = shuffled(random);
  return {
    method: 'POST',
    path: kind === 'single events' ? '/i/v0/e/' : '/flags?v=2',
    headers: { 'content-type': 'application/json' },
    bodies: users.map((user, at) => JSON.stringify(createBody(kind, user, at, random))),
    status: 200,
  };
}

function createBody(kind: RequestKind, user: number, at: number, random: () => number): object {
  const distinct_id = distinctId(user);
  if (kind === 'single events') {
    const isChange = at % CHANGE_EVERY === 0;
    return {
      api_key: KEYS.BURGEE_PROJECT_API_KEY,
      event: 'order placed',
      distinct_id,
      timestamp: new Date().toISOString(),
      properties: {
        $lib: 'posthog-node',
        $lib_version: '5.70.0',
        total: Math.floor(random() * 10_000) / 100,
        currency: 'EUR',
        '$feature/new-checkout': random() < 0.5,
        ...(isChange ? { $set: { orders: Math.floor(random() * 1_000) } } : {}),
      },
    };
  }
  const person =
    kind === 'stored properties' ? {} : { person_properties: drawPerson(user, random) };
  return { token: KEYS.BURGEE_PROJECT_API_KEY, distinct_id, ...person };
}

/** An SDK that evaluates by itself asks whether the definitions have changed; they have not. */
async function definitionsRequest(url: string): Promise<Requests> {
  const path = `/flags/definitions?token=${KEYS.BURGEE_PROJECT_API_KEY}&send_cohorts`;
  const headers = { authorization: `Bearer ${KEYS.BURGEE_PERSONAL_API_KEY}` };
  const reply = await fetch(`${url}${path}`, { headers });
  await reply.arrayBuffer();
  const etag = reply.headers.get('etag') ?? '';
  return {
    method: 'GET',
    path,
    headers: { ...headers, 'if-none-match': etag },
    bodies: [''],
    status: 304,
  };
}

/** Sends one of the requests; returns the reply's body. Throws when its status is another. */
export async function sendOne(url: string, requests: Requests, at: number): Promise<string> {
  const body = requests.bodies[at % requests.bodies.length] ?? '';
  const { method, headers } = requests;
  const options = body === '' ? { method, headers } : { method, headers, body };
  const reply = await fetch(`${url}${requests.path}`, options);
  const text = await reply.text();
  if (reply.status !== requests.status)
    throw new Error(`${requests.path}: ${reply.status} ${text}`);
  return text;
}

/** Writes the requests as they go over the wire, each ended by a zero byte. */
export async function writeRequests(file: string, requests: Requests): Promise<void> {
  const { method, path, headers, bodies } = requests;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}`;
  const texts = bodies.map((body) => {
    const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
    return `${head}${length}\r\n${body}\0`;
  });
  await writeFile(file, texts.join(''));
}

/** The numbers of all users in a random order. */
function shuffled(random: () => number): number[] {
  const users = Array.from({ length: USERS }, (_, at) => at);
  for (let at = users.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [users[at], users[other]] = [users[other] ?? 0, users[at] ?? 0];
  }
  return users;
}
