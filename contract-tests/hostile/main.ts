import { parseArgs } from 'node:util';
import { createTemporaryFolder } from '../../test/temporary-folder.ts';
import { startAttackedService } from './attacked-service.ts';
import {
  type HostileKind,
  managementKinds,
  placeKinds,
  tableKinds,
  variantKinds,
} from './bodies.ts';
import { type Arena, type Measured, openArena } from './measure.ts';

/**
 * `npm run hostile`: what hostile requests cost, one line each. The service is started from the
 * folder that `--build` names (this one without it), on an embedded database and with a heap of 256
 * MB (`--heap`); `--requests` and `--connections` say how often each is sent, `--only` chooses those
 * whose name has a text, `--fresh` takes a new process for each, `--groups` are among table, variants, capture, analytics, evaluation and management.
 */
const { values } = parseArgs({
  options: {
    build: { type: 'string' },
    heap: { type: 'string', default: '256' },
    requests: { type: 'string', default: '100' },
    connections: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    groups: { type: 'string', default: 'table,variants' },
    senders: { type: 'string', default: 'nobody' },
    fresh: { type: 'boolean', default: false },
    within: { type: 'string', default: '30' },
  },
});

const folder = createTemporaryFolder();
const build = values.build;
const arena = await openArena(() =>
  startAttackedService({
    ...(build === undefined ? {} : { build }),
    env: { BURGEE_DATA_DIR: folder.path },
    heapMb: Number(values.heap),
  }),
);
try {
  printHead();
  for (const kind of await chosenKinds(arena)) {
    if (!kind.name.includes(values.only)) continue;
    printRow(
      await arena.measure(kind, {
        requests: Number(values.requests),
        connections: Math.min(Number(values.connections), Number(values.requests)),
        withinMs: Number(values.within) * 1_000,
      }),
    );
    if (values.fresh) await arena.retire();
  }
} finally {
  await arena.stop();
  folder.remove();
}

async function chosenKinds(from: Arena): Promise<readonly HostileKind[]> {
  const { subjects } = await from.service();
  const groups = values.groups.split(',');
  const senders = values.senders.split(',').map((name) => {
    if (name === 'nobody' || name === 'stranger' || name === 'customer') return name;
    throw new Error(`There is no sender ${name}.`);
  });
  return senders.flatMap((sender) => {
    const families = {
      table: () => tableKinds(sender),
      variants: () => variantKinds(sender),
      capture: () => placeKinds('capture', sender),
      analytics: () => placeKinds('analytics', sender),
      evaluation: () => placeKinds('evaluation', sender),
      management: () => managementKinds(subjects, sender),
    };
    return Object.entries(families).flatMap(([name, kinds]) =>
      groups.includes(name) ? kinds() : [],
    );
  });
}

function printHead(): void {
  console.log(
    [
      'body bytes'.padStart(10),
      'CPU s'.padStart(7),
      'live p99'.padStart(9),
      'live max'.padStart(9),
      'slowest'.padStart(8),
      'RSS MB'.padStart(7),
      'rise'.padStart(6),
      'statuses'.padEnd(24),
      'request',
    ].join(' '),
  );
}

function printRow(measured: Measured): void {
  const { seen } = measured;
  const statuses = Object.entries(measured.statuses).map(([status, count]) => `${status}x${count}`);
  console.log(
    [
      String(measured.bodyBytes).padStart(10),
      measured.cpuSeconds.toFixed(2).padStart(7),
      `${Math.round(seen.liveness.p99Ms)} ms`.padStart(9),
      `${Math.round(seen.liveness.maxMs)} ms`.padStart(9),
      `${(measured.slowestMs / 1_000).toFixed(2)} s`.padStart(8),
      String(Math.round(seen.rssPeakMb)).padStart(7),
      String(Math.round(measured.riseMb)).padStart(6),
      `${measured.hasDied ? 'DIED ' : ''}${statuses.join(' ')}`.padEnd(24),
      measured.name,
    ].join(' '),
  );
}
