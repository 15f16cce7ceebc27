import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SentLoad } from './generate-load.ts';
import type { Load, LoadFigure, LoadGenerator } from './load.ts';
import { quantile } from './statistics.ts';

const SCRIPT = fileURLToPath(new URL('generate-load.ts', import.meta.url));

/** Our own load generator, for machines without wrk: so many processes share the connections. */
export function createOwnGenerator(processes: number): LoadGenerator {
  const children = Array.from({ length: processes }, () =>
    fork(SCRIPT, { execArgv: ['--import', 'tsx'], serialization: 'advanced' }),
  );
  return {
    name: `own generator (processes: ${processes})`,
    run: (load) => runOnAll(children, load),
    stop() {
      for (const child of children) child.kill();
    },
  };
}

async function runOnAll(children: readonly ChildProcess[], load: Load): Promise<LoadFigure> {
  const figures = await Promise.all(
    children.map((child, at) =>
      runOn(child, {
        ...load,
        offset: load.offset + at * 7_919,
        connections: Math.ceil((load.connections - at) / children.length),
      }),
    ),
  );
  const times = figures.flatMap(({ timesMs }) => [...timesMs]).sort((a, b) => a - b);
  return {
    requests: times.length,
    seconds: Math.max(...figures.map(({ seconds }) => seconds)),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    generatorShare: Math.max(...figures.map(({ cpuSeconds, seconds }) => cpuSeconds / seconds)),
  };
}

function runOn(child: ChildProcess, load: Load): Promise<SentLoad> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('A process of the load generator has ended.'));
    child.once('exit', fail);
    child.once('message', (message: SentLoad | string) => {
      child.off('exit', fail);
      if (typeof message === 'string') reject(new Error(message));
      else resolve(message);
    });
    child.send(load);
  });
}
