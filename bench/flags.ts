/** A flag or a cohort as it is sent to the service. */
export type Definition = Readonly<Record<string, unknown>>;

const person = (key: string, operator: string, value: unknown) => ({
  key,
  type: 'person',
  operator,
  value,
});

/** How many cohorts a project of so many flags needs: one flag in ten asks for one. */
export function cohortsFor(flags: number): number {
  return Math.ceil(flags / KINDS.length);
}

/** A cohort of people by two of their properties; no other cohort has the same conditions. */
export function createCohort(at: number): Definition {
  const values = [
    person('country', 'exact', at % 2 === 0 ? ['ch', 'de', 'fr', 'at'] : ['us', 'gb', 'br']),
    person('orders', 'gt', 50 + 17 * at),
  ];
  return { name: `Bench cohort ${at}`, filters: { properties: { type: 'AND', values } } };
}

/**
 * A flag of a project whose conditions all differ. Ten flags in a row have an operator each; every
 * second one has another condition behind that. `cohorts` are the ids of the project's cohorts.
 */
export function createFlag(at: number, cohorts: readonly number[]): Definition {
  const kind = KINDS[at % KINDS.length];
  if (kind === undefined) throw new Error('There is no such kind of flag.');
  const rollout = 5 + ((at * 37) % 91);
  const first = { properties: kind(at, cohorts), rollout_percentage: rollout };
  const second = {
    properties: [person('company', 'icontains', `y ${at % 1_000}`), person('seats', 'lt', 9 + at)],
    rollout_percentage: 100 - rollout / 2,
  };
  const groups = at % 2 === 0 ? [first] : [first, second];
  return { key: `bench-flag-${at}`, filters: { groups, ...(hasVariants(at) ? variants(at) : {}) } };
}

type Kind = (at: number, cohorts: readonly number[]) => object[];

const KINDS: readonly Kind[] = [
  (at) => [person('plan', 'exact', ['pro', 'team', `plan-${at}`])],
  (at) => [person('email', 'icontains', `${at % 97}@`)],
  (at) => [person('email', 'regex', `^person\\.\\d*${at % 10}\\d*@(example|mail${at})\\.`)],
  (at) => [person('orders', 'gt', (at * 13) % 1_000)],
  (at) => [person('seats', 'lt', 10 + ((at * 7) % 190)), person('orders', 'gte', at % 300)],
  (at) => [person('app_version', 'semver_gte', `${1 + (at % 4)}.${at % 20}.${at % 7}`)],
  (at) => [person('signed_up', 'is_date_before', day(at * 11))],
  (at) => [person('last_seen', 'is_date_after', day(at * 5 + 300)), staff(at)],
  (at, cohorts) => [{ key: 'id', type: 'cohort', value: cohorts[Math.floor(at / KINDS.length)] }],
  (at) => [person('country', 'is_not', ['jp', 'in', `country-${at}`])],
];

/** One flag in ten answers with a variant, and with a payload. */
function hasVariants(at: number): boolean {
  return at % KINDS.length === KINDS.length - 1;
}

function variants(at: number) {
  return {
    multivariate: {
      variants: [
        { key: 'control', rollout_percentage: 40 },
        { key: 'blue', rollout_percentage: 35 },
        { key: 'green', rollout_percentage: 25 },
      ],
    },
    payloads: { blue: JSON.stringify({ colour: 'blue', flag: at }) },
  };
}

function staff(at: number) {
  return person('is_staff', 'exact', at % 3 === 0 ? 'true' : 'false');
}

/** A day from 2020 on. */
function day(days: number): string {
  return new Date(Date.UTC(2020, 0, 1) + days * 86_400_000).toISOString().slice(0, 10);
}
