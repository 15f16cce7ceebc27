import { Agent, request } from 'node:http';

/** How long requests took. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LatencyLoad {
  readonly url: string;
  /** Makes the JSON of one more request. */
  readonly createBody: () => string;
  readonly connections: number;
  readonly seconds: number;
}

/** Posts over a few connections, each waiting for its reply; throws unless all are 200. */
export async function measureLatency(load: LatencyLoad): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const times: number[] = [];
  const until = performance.now() + load.seconds * 1_000;
  const work = async (): Promise<void> => {
    while (performance.now() < until) {
      const body = load.createBody();
      const startedAt = performance.now();
      const status = await post(agent, load.url, body);
      times.push(performance.now() - startedAt);
      if (status !== 200) throw new Error(`${load.url} answered ${status}.`);
    }
  };
  try {
    await Promise.all(Array.from({ length: load.connections }, work));
  } finally {
    agent.destroy();
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

function post(agent: Agent, url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = request(url, { agent, method: 'POST', headers }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
