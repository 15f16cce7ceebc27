import type { EventBuffer } from '../domain/capture/commit/event-buffer.ts';
import type { Db } from '../domain/database/db.ts';
import { readPoolStats } from '../domain/database/pool-stats.ts';
import type { SnapshotStore } from '../domain/snapshots/snapshot-store.ts';
import type { Load } from '../http/listener/admission.ts';
import type { Metrics } from '../http/metrics/metrics.ts';

const MS_PER_SECOND = 1_000;

/** What gauges are read from. */
export interface Gauged {
  readonly db: Db;
  readonly snapshots: SnapshotStore;
  readonly events: EventBuffer;
  readonly readLoad: () => Load;
}

/** Adds the gauges of a running service. */
export function addGauges(metrics: Metrics, { db, snapshots, events, readLoad }: Gauged): void {
  metrics.addLabelledGauge(
    'burgee_snapshot_revision',
    'Revision of the configuration that is served, by project.',
    'project',
    () => [...snapshots.list()].map(({ project }) => [String(project.id), project.revision]),
  );
  metrics.addLabelledGauge(
    'burgee_snapshot_age_seconds',
    'Time since the configuration that is served was loaded, by project.',
    'project',
    () =>
      [...snapshots.list()].map(({ project, loadedAt }) => [
        String(project.id),
        (Date.now() - loadedAt.getTime()) / MS_PER_SECOND,
      ]),
  );
  metrics.addGauge('burgee_event_buffer_depth', 'Events that wait for their commit.', () =>
    events.depth(),
  );
  metrics.addLabelledGauge(
    'burgee_database_connections',
    'Connections of the pool, and requests that wait for one, by state.',
    'state',
    () => Object.entries(readPoolStats(db)),
  );
  metrics.addGauge(
    'burgee_requests_under_way',
    'Requests that were begun and not answered.',
    () => readLoad().requests,
  );
  metrics.addGauge(
    'burgee_body_bytes_held',
    'Bytes of bodies that arrive or are worked on.',
    () => readLoad().bytes,
  );
  metrics.addCounter(
    'burgee_overloaded_total',
    'Requests that were refused with 503 because too much was under way.',
    () => readLoad().refused,
  );
}
