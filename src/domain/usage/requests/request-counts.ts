import { readSdkName } from './sdk-name.ts';

/** What a request asked for. Unchanged definitions are a kind of their own: they cost nothing. */
export type RequestKind = 'evaluation' | 'definitions' | 'definitions_unchanged';

/** The requests of one project, day, kind and SDK. */
export interface RequestCount {
  readonly projectId: number;
  readonly day: string;
  readonly kind: RequestKind;
  readonly sdk: string;
  readonly version: string;
  requests: number;
}

const DAY_MS = 86_400_000;

/** Different User-Agents that are distinguished in one day; the rest counts as unknown. */
const USER_AGENTS_MAX = 1_000;

type CountsOfKind = Map<string, RequestCount>;
type CountsOfProject = Record<RequestKind, CountsOfKind>;

/** Requests that were counted since the last write. Counting one that was seen before allocates nothing. */
export class RequestCounts {
  readonly #finished: RequestCount[] = [];
  #projects = new Map<number, CountsOfProject>();
  /** The User-Agents of the day. Anybody may invent more: each would become a stored row. */
  #agents = new Set<string>();
  #dayNumber = Number.NaN;
  #day = '';

  add(projectId: number, kind: RequestKind, userAgent: string, nowMs: number): void {
    const dayNumber = Math.floor(nowMs / DAY_MS);
    if (dayNumber !== this.#dayNumber) this.#turnTo(dayNumber);
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      project = { evaluation: new Map(), definitions: new Map(), definitions_unchanged: new Map() };
      this.#projects.set(projectId, project);
    }
    const agent = this.#tellApart(userAgent);
    const counts = project[kind];
    let count = counts.get(agent);
    if (count === undefined) {
      count = { projectId, day: this.#day, kind, ...readSdkName(agent), requests: 0 };
      counts.set(agent, count);
    }
    count.requests += 1;
  }

  /** Adds back what could not be written. */
  restore(counts: readonly RequestCount[]): void {
    this.#finished.push(...counts);
  }

  /**
   * Everything that was counted, in a fixed order, so that two processes that write it cannot wait
   * for each other's rows; afterwards nothing is.
   */
  take(): RequestCount[] {
    this.#turnTo(this.#dayNumber);
    return merge(this.#finished.splice(0));
  }

  #tellApart(userAgent: string): string {
    if (this.#agents.has(userAgent)) return userAgent;
    if (this.#agents.size >= USER_AGENTS_MAX) return '';
    this.#agents.add(userAgent);
    return userAgent;
  }

  #turnTo(dayNumber: number): void {
    for (const project of this.#projects.values()) {
      for (const counts of Object.values(project)) this.#finished.push(...counts.values());
    }
    this.#projects = new Map();
    if (dayNumber !== this.#dayNumber) this.#agents = new Set();
    this.#dayNumber = dayNumber;
    this.#day = Number.isNaN(dayNumber)
      ? ''
      : new Date(dayNumber * DAY_MS).toISOString().slice(0, 10);
  }
}

/** User-Agents that name the same SDK are one count, and what could not be written joins the new. */
function merge(counts: readonly RequestCount[]): RequestCount[] {
  const merged = new Map<string, RequestCount>();
  for (const count of counts) {
    const key = [count.projectId, count.day, count.kind, count.sdk, count.version].join(' ');
    const same = merged.get(key);
    if (same === undefined) merged.set(key, { ...count });
    else same.requests += count.requests;
  }
  return [...merged.keys()].sort().flatMap((key) => merged.get(key) ?? []);
}
