import type { Db } from '../src/domain/database/db.ts';

/**
 * Stores so many persons in project 1, `user-1` and so on, and one event of each of them for each of
 * the last days, as capture would have left them. The database must hold no persons yet.
 */
export async function fillDatabase(db: Db, persons: number, days: number): Promise<void> {
  await db.raw(
    `INSERT INTO persons (project_id, properties, is_identified, created_at)
     SELECT 1,
            jsonb_build_object(
              'plan', CASE WHEN n % 2 = 0 THEN 'pro' ELSE 'free' END,
              'email', 'user-' || n || '@example.com',
              'orders', n % 100
            ),
            true, now() - make_interval(secs => n)
     FROM generate_series(1, ?::int) AS n`,
    [persons],
  );
  await db.raw(
    `INSERT INTO person_distinct_ids (project_id, distinct_id, person_id)
     SELECT project_id, 'user-' || id, id FROM persons`,
  );
  for (let ago = days - 1; ago >= 0; ago -= 1) {
    await db.raw(
      `WITH stored AS (
         INSERT INTO events (received_on, project_id, uuid, event, distinct_id, person_id,
                             properties, timestamp, received_at)
         SELECT current_date - ?::int, 1, uuidv7(), 'order placed', 'user-' || n, n,
                '{"$lib": "posthog-node", "$lib_version": "5.70.0", "total": 12.5,
                  "currency": "EUR", "$feature/new-checkout": true}',
                current_date - ?::int + make_interval(secs => n % 86400),
                current_date - ?::int + make_interval(secs => n % 86400)
         FROM generate_series(1, ?::int) AS n
         RETURNING project_id, uuid, received_on
       )
       INSERT INTO event_uuids (project_id, uuid, received_on) SELECT * FROM stored`,
      [ago, ago, ago, persons],
    );
  }
  // What autovacuum does to a table that grows more slowly than this one did.
  for (const table of ['persons', 'person_distinct_ids', 'event_uuids', 'events']) {
    await db.raw('VACUUM (ANALYZE) ??', [table]);
  }
}
