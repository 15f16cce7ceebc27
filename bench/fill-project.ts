import { KEYS } from './burgee.ts';
import { cohortsFor, createCohort, createFlag, type Definition } from './flags.ts';
import { createRandom, distinctId, drawPerson, USERS } from './people.ts';
import type { Scenario } from './scenarios.ts';

const PERSONS_PER_BATCH = 1_000;
const SEED_OF_STORED = 2;

/** What of a scenario is in the project. */
export type Contents = Pick<Scenario, 'flags' | 'kind'>;

/** Makes a scenario's flags, cohorts and persons, all by the service's own interface. */
export async function fillProject(url: string, scenario: Contents): Promise<void> {
  const manage = async (path: string, body: Definition): Promise<number> => {
    const reply = await post(`${url}/api/projects/1/${path}/`, body);
    const { id }: { id: number } = JSON.parse(reply);
    return id;
  };
  const cohorts: number[] = [];
  for (let at = 0; at < cohortsFor(scenario.flags); at += 1) {
    cohorts.push(await manage('cohorts', createCohort(at)));
  }
  for (let at = 0; at < scenario.flags; at += 1) {
    await manage('feature_flags', createFlag(at, cohorts));
  }
  if (scenario.kind === 'stored properties') await storePersons(url);
}

/** Stores what is known of every user. */
async function storePersons(url: string): Promise<void> {
  const random = createRandom(SEED_OF_STORED);
  for (let from = 0; from < USERS; from += PERSONS_PER_BATCH) {
    const batch = Array.from({ length: PERSONS_PER_BATCH }, (_, at) => ({
      event: '$set',
      distinct_id: distinctId(from + at),
      properties: { $set: drawPerson(from + at, random) },
    }));
    await post(`${url}/batch/`, { api_key: KEYS.BURGEE_PROJECT_API_KEY, batch });
  }
}

async function post(url: string, body: Definition): Promise<string> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${KEYS.BURGEE_PERSONAL_API_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`POST ${url}: ${text}`);
  return text;
}
