import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pick, pickList, pickNumber, pickText } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const TIMEZONE = 'Pacific/Auckland';
const DAYS_SHOWN = 31;
const DAY_MS = 86_400_000;
const BATCHES = 25;
const BATCH_MAX = 60;
const PEOPLE = 40;

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
  await burgee.db('projects').where({ id: 1 }).update({ timezone: TIMEZONE });
});
afterAll(async () => {
  await burgee.stop();
});

interface SentEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinct_id: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Numbers from 0 to `below`, the same ones for the same seed. */
function createDice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Calls and merges by many people over more days than are shown. */
function makeEvents(dice: (below: number) => number, flags: readonly TestFlag[]): SentEvent[] {
  const count = 1 + dice(BATCH_MAX);
  return Array.from({ length: count }, () => {
    const timestamp = new Date(Date.now() - dice(36 * DAY_MS)).toISOString();
    const common = { uuid: randomUUID(), distinct_id: `person-${dice(PEOPLE)}`, timestamp };
    if (dice(12) === 0) {
      const properties = { alias: `person-${dice(PEOPLE)}` };
      return { ...common, event: '$merge_dangerously', properties };
    }
    const properties = {
      $feature_flag: flags[dice(flags.length)]?.key,
      $feature_flag_response: [true, false, 'blue', null][dice(4)],
      ...(dice(2) === 0 ? { $process_person_profile: false } : {}),
    };
    return { ...common, event: '$feature_flag_called', properties };
  });
}

/** Who is who in the end: a forced merge always joins both. */
function joinPeople(events: readonly SentEvent[]): (distinctId: string) => string {
  const parents = new Map<string, string>();
  const find = (id: string): string => {
    const parent = parents.get(id);
    return parent === undefined ? id : find(parent);
  };
  for (const { event, distinct_id: id, properties } of events) {
    if (event !== '$merge_dangerously') continue;
    const [left, right] = [find(id), find(String(properties.alias))];
    if (left !== right) parents.set(left, right);
  }
  return find;
}

interface Truth {
  readonly calls: Record<string, number[]>;
  readonly users: Record<string, number[]>;
  readonly allUsers: Record<string, number>;
}

function countTruth(events: readonly SentEvent[], flagKey: string, days: readonly string[]): Truth {
  const personOf = joinPeople(events);
  const dayOf = new Intl.DateTimeFormat('en-CA', { timeZone: TIMEZONE, dateStyle: 'short' });
  const truth: Truth = { calls: {}, users: {}, allUsers: {} };
  const calls = events.filter(({ properties }) => properties.$feature_flag === flagKey);
  const shown = calls.filter(({ timestamp }) => days.includes(dayOf.format(new Date(timestamp))));
  for (const response of new Set(
    shown.map(({ properties }) => properties.$feature_flag_response),
  )) {
    const own = shown.filter(({ properties }) => properties.$feature_flag_response === response);
    const onDay = days.map((day) =>
      own.filter(({ timestamp }) => dayOf.format(new Date(timestamp)) === day),
    );
    const countPeople = (some: readonly SentEvent[]) =>
      new Set(some.map(({ distinct_id }) => personOf(distinct_id))).size;
    const variant = response === null ? '$$_posthog_breakdown_null_$$' : String(response);
    truth.calls[variant] = onDay.map((some) => some.length);
    truth.users[variant] = onDay.map(countPeople);
    truth.allUsers[variant] = countPeople(own);
  }
  return truth;
}

async function readShown(flag: TestFlag): Promise<{ days: string[]; shown: Truth }> {
  const id = pickNumber(flag.body, 'usage_dashboard');
  const { body } = await burgee.api('GET', `/api/projects/1/dashboards/${id}/`);
  const seriesOf = (tile: number) => pickList(body, 'tiles', tile, 'insight', 'result');
  const byVariant = (tile: number, ...path: string[]) =>
    Object.fromEntries(
      seriesOf(tile).map((series) => [pickText(series, 'label'), pick(series, ...path)]),
    );
  for (const series of [...seriesOf(0), ...seriesOf(1)]) {
    const sum = pickList(series, 'data').reduce((total: number, each) => total + Number(each), 0);
    expect(pick(series, 'count')).toBe(sum);
    expect(pick(series, 'breakdown_value')).toBe(pick(series, 'label'));
  }
  const days = pickList(body, 'tiles', 0, 'insight', 'result', 0, 'days').map(String);
  const shown = {
    calls: byVariant(0, 'data'),
    users: byVariant(1, 'data'),
    allUsers: byVariant(1, 'aggregated_value'),
  };
  return { days, shown: JSON.parse(JSON.stringify(shown)) };
}

it.each([1, 2, 3])(
  'Every number of the dashboards is exact, with the seed %i',
  async (seed) => {
    const dice = createDice(seed);
    const flags = [await burgee.createFlag(), await burgee.createFlag(), await burgee.createFlag()];
    const events: SentEvent[] = [];
    const prefix = randomUUID();
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const fresh = makeEvents(dice, flags).map((event) => ({
        ...event,
        // Nobody of another seed.
        distinct_id: `${prefix} ${event.distinct_id}`,
        properties: {
          ...event.properties,
          ...('alias' in event.properties ? { alias: `${prefix} ${event.properties.alias}` } : {}),
        },
      }));
      events.push(...fresh);
      const repeated = events.slice(dice(events.length)).slice(0, 5);
      const reply = await burgee.request('POST', '/batch/', {
        body: { api_key: burgee.projectApiKey, batch: [...fresh, ...repeated] },
      });
      expect(reply.status, reply.text).toBe(200);
    }
    for (const flag of flags) {
      const { days, shown } = await readShown(flag);
      expect(days).toHaveLength(DAYS_SHOWN);
      expect(shown).toEqual(countTruth(events, flag.key, days));
    }
  },
  60_000,
);
