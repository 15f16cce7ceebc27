import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countAudience } from '../src/domain/audience/count-audience.ts';
import { prepareAudience } from '../src/domain/audience/prepare-audience.ts';
import type { JsonObject, JsonValue } from '../src/domain/common/json.ts';
import { createDb, type Db } from '../src/domain/database/db.ts';
import { migrateToLatest } from '../src/domain/database/migrate.ts';
import { prepareSnapshot } from '../src/domain/evaluation/prepare/prepare.ts';
import { createProject } from '../src/domain/projects/projects-commands.ts';
import { compilePattern } from '../src/domain/targeting/patterns.ts';
import { startEmbeddedPostgres } from '../src/embedded-postgres/embedded-postgres.ts';

/** Counts whom a condition reaches among a million persons: `npm run bench:blast`. */

const PERSONS = Number(process.env.PERSONS ?? 1_000_000);
const EXACT_TARGET_MS = 2_000;
const ENGINE_TARGET_MS = 15_000;
const STATIC_ID = 1;
const DYNAMIC_ID = 2;

const person = (key: string, operator: string, value: JsonValue = null): JsonObject => ({
  key,
  type: 'person',
  operator,
  value,
});
const within = (value: number, operator = 'in'): JsonObject => ({
  key: 'id',
  type: 'cohort',
  operator,
  value,
});

interface Scenario {
  readonly name: string;
  readonly filters: readonly JsonObject[];
  readonly targetMs: number;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'everybody', filters: [], targetMs: EXACT_TARGET_MS },
  ...(
    [
      ['exact', [person('plan', 'exact', ['pro', 'team'])]],
      ['is_not', [person('plan', 'is_not', 'pro')]],
      ['is_not_set', [person('team', 'is_not_set')]],
      ['icontains', [person('email', 'icontains', '99@example')]],
      ['gte', [person('seats', 'gte', 50)]],
      ['between', [person('seats', 'between', [10, 20])]],
      ['static cohort of a tenth', [within(STATIC_ID)]],
      ['outside the static cohort', [within(STATIC_ID, 'not_in')]],
      ['dynamic cohort', [within(DYNAMIC_ID)]],
      [
        'three filters',
        [
          person('plan', 'exact', 'pro'),
          person('seats', 'lt', 5),
          person('email', 'ends_with', '.com'),
        ],
      ],
    ] as const
  ).map(([name, filters]) => ({ name, filters, targetMs: EXACT_TARGET_MS })),
  ...(
    [
      ['regex, all different', [person('email', 'regex', '^person.*[02468]@')]],
      ['semver_gte, few different', [person('app', 'semver_gte', '1.5.0')]],
      ['is_date_after', [person('seen', 'is_date_after', '-100d')]],
      ['distinct_id', [person('distinct_id', 'icontains', '77')]],
    ] as const
  ).map(([name, filters]) => ({ name, filters, targetMs: ENGINE_TARGET_MS })),
];

async function fill(db: Db): Promise<number> {
  const { project } = await db.transaction((tx) => createProject(tx, { name: 'bench' }));
  await db.raw(
    `INSERT INTO persons (project_id, properties, created_at)
     SELECT ?, jsonb_build_object(
              'plan', (ARRAY['free', 'free', 'free', 'pro', 'team'])[1 + n % 5],
              'email', 'person' || n || '@example.com', 'seats', n % 100,
              'app', '1.' || n % 10 || '.' || n % 7, 'country', (ARRAY['ch', 'de', 'fr'])[1 + n % 3],
              'seen', to_char(now() - n % 1000 * interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
              '$browser', 'Firefox', '$os', 'Linux', '$current_url', 'https://example.com/' || n,
              '$initial_referrer', '$direct') ||
            CASE WHEN n % 4 = 0 THEN '{"team": "a"}'::jsonb ELSE '{}' END,
            now() - n % 1000 * interval '1 day'
     FROM generate_series(1, ?::int) AS n`,
    [project.id, PERSONS],
  );
  await db.raw(`INSERT INTO person_distinct_ids SELECT project_id, 'user-' || id, id FROM persons`);
  await db('cohorts').insert({ project_id: project.id, name: 'listed', is_static: true });
  await db.raw('INSERT INTO cohort_members SELECT ?, id FROM persons WHERE id % 10 = 0', [
    STATIC_ID,
  ]);
  await db.raw('VACUUM ANALYZE');
  return project.id;
}

const folder = mkdtempSync(join(tmpdir(), 'burgee-bench-'));
const silent = { info() {}, warn() {}, error() {} };
const postgres = await startEmbeddedPostgres({
  dataDir: join(folder, 'data'),
  mode: 'serve',
  log: silent,
});
const db = createDb(postgres.connection);
try {
  await migrateToLatest(db);
  const projectId = await fill(db);
  const definition = { isStatic: false, cohortType: null, filters: null, groups: [] };
  const values = [person('plan', 'exact', 'pro'), { ...person('seats', 'gt', 90), negation: true }];
  const snapshot = prepareSnapshot(
    {
      projectId,
      revision: 1,
      timezone: 'UTC',
      groupTypes: [],
      flags: [],
      cohorts: [
        { ...definition, id: STATIC_ID, name: 'listed', isStatic: true },
        {
          ...definition,
          id: DYNAMIC_ID,
          name: 'dynamic',
          filters: { properties: { type: 'OR', values } },
        },
      ],
    },
    compilePattern,
  );
  console.log(`Blast radius among ${PERSONS} persons`);
  for (const { name, filters, targetMs } of SCENARIOS) {
    const condition = prepareAudience(filters, null, snapshot, compilePattern);
    const startedAt = performance.now();
    const counted = await countAudience(db, snapshot, condition, {
      now: new Date(),
      timeoutMs: 120_000,
    });
    const ms = performance.now() - startedAt;
    const verdict = ms > targetMs ? `  above ${targetMs} ms` : '';
    console.log(
      `  ${name.padEnd(28)} ${String(counted.affected).padStart(8)}  ${ms.toFixed(0).padStart(6)} ms${verdict}`,
    );
    if (ms > targetMs && process.argv.includes('--check')) process.exitCode = 1;
  }
} finally {
  await db.destroy();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
