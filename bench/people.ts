/** How many people ask: a service that keeps what it knows of each has to keep it for all of them. */
export const USERS = 100_000;

const PLANS = ['free', 'free', 'free', 'starter', 'pro', 'pro', 'team', 'enterprise'];
const COUNTRIES = ['ch', 'de', 'fr', 'at', 'it', 'us', 'gb', 'br', 'in', 'jp'];
const DOMAINS = ['example.com', 'example.org', 'mail.example', 'corp.example', 'uni.example'];
const FIRST_DAY = Date.UTC(2020, 0, 1);
const DAYS = 2_000;
const DAY_MS = 86_400_000;

/** What is known of a person; each of the ten properties has a condition that asks for it. */
export type Person = Readonly<Record<string, string | number | boolean>>;

/** Numbers from 0 to 1 that are the same in every run. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    // A linear congruence with the constants of Numerical Recipes: good enough to draw people.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The distinct id of the person with this number. */
export function distinctId(at: number): string {
  return `0190a1b2-c3d4-7e8f-9a0b-${String(at).padStart(12, '0')}`;
}

/** Draws what a person is like. */
export function drawPerson(at: number, random: () => number): Person {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = (from: readonly string[]) => from[below(from.length)] ?? '';
  return {
    plan: pick(PLANS),
    country: pick(COUNTRIES),
    email: `person.${at}@${pick(DOMAINS)}`,
    company: `Company ${below(1_000)}`,
    seats: below(200),
    orders: below(1_000),
    app_version: `${1 + below(4)}.${below(20)}.${below(10)}`,
    signed_up: new Date(FIRST_DAY + below(DAYS) * DAY_MS).toISOString(),
    last_seen: new Date(FIRST_DAY + below(DAYS) * DAY_MS).toISOString().slice(0, 10),
    is_staff: below(10) === 0,
  };
}
