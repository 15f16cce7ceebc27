import { Agent, request } from 'node:http';
import { platform } from 'node:os';
import type { HostileRequest } from './bodies.ts';

/** What became of many requests of one kind. */
export interface AttackResult {
  /** How often each status came; `broken` counts connections that ended without a reply. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  /** What the replies 429 and 503 said of a later try. */
  readonly retryAfters: readonly (string | undefined)[];
  /** The first reply of each status, for people. */
  readonly examples: Readonly<Record<string, string>>;
}

export interface AttackOptions {
  readonly requests: number;
  readonly connections: number;
  /** The address that the attack comes from; null leaves it to the system. */
  readonly localAddress?: string | null;
  /** No request begins after this time, and whatever is under way is given up. */
  readonly withinMs?: number;
  /** Whether to go on: false ends it, as where the service has gone. */
  readonly isWorthIt?: () => boolean;
}

const WITHIN_MS = 30_000;
const EXAMPLE_MAX = 300;

let addresses = 0;

/**
 * An address of this machine that nobody has asked from, so that what one attack brings upon its
 * address does not hide the next; null where a system has only one loopback address.
 */
export function freshAddress(): string | null {
  if (platform() !== 'linux') return null;
  addresses += 1;
  return `127.${1 + (process.pid % 200)}.${1 + Math.floor(addresses / 250)}.${1 + (addresses % 250)}`;
}

/** Sends a request, or one made for each number, again and again over so many connections. */
export async function attack(
  url: string,
  hostile: HostileRequest | ((number: number) => HostileRequest),
  options: AttackOptions,
): Promise<AttackResult> {
  const { connections, requests, localAddress = null, isWorthIt = () => true } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const statuses: Record<string, number> = {};
  const examples: Record<string, string> = {};
  const retryAfters: (string | undefined)[] = [];
  const deadline = performance.now() + (options.withinMs ?? WITHIN_MS);
  let left = requests;
  let slowestMs = 0;

  async function work(): Promise<void> {
    while (left > 0 && performance.now() < deadline && isWorthIt()) {
      left -= 1;
      const sent = typeof hostile === 'function' ? hostile(left) : hostile;
      const startedAt = performance.now();
      const reply = await sendOnce(url, sent, agent, localAddress, deadline);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
      examples[reply.status] ??= reply.text;
      if (reply.status === '429' || reply.status === '503') retryAfters.push(reply.retryAfter);
    }
  }
  await Promise.all(Array.from({ length: connections }, work));
  agent.destroy();
  return { statuses, slowestMs, retryAfters, examples };
}

interface Reply {
  readonly status: string;
  readonly text: string;
  readonly retryAfter?: string | undefined;
}

function sendOnce(
  url: string,
  { method, path, headers, body }: HostileRequest,
  agent: Agent,
  localAddress: string | null,
  deadline: number,
): Promise<Reply> {
  return new Promise((resolve) => {
    const asked = request(`${url}${path}`, {
      agent,
      method,
      headers: { ...headers, ...(body === null ? {} : { 'content-length': body.length }) },
      ...(localAddress === null ? {} : { localAddress }),
    });
    const giveUp = setTimeout(
      () => {
        resolve({ status: 'late', text: '' });
        asked.destroy();
      },
      Math.max(0, deadline - performance.now()),
    );
    const done = (reply: Reply) => {
      clearTimeout(giveUp);
      resolve(reply);
    };
    asked.on('error', (error) => done({ status: 'broken', text: error.message }));
    asked.on('response', (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (piece: string) => {
        if (text.length < EXAMPLE_MAX) text += piece;
      });
      reply.on('error', (error) => done({ status: 'broken', text: error.message }));
      reply.on('end', () => {
        const { statusCode, headers: sent } = reply;
        const retryAfter = sent['retry-after'];
        done({ status: String(statusCode), text: text.slice(0, EXAMPLE_MAX), retryAfter });
      });
    });
    asked.end(body ?? undefined);
  });
}
