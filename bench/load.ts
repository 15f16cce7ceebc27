/** One stretch of load on a server. */
export interface Load {
  /** Of the server, without a path. */
  readonly url: string;
  /** Whole HTTP requests that are sent one after the other, each ended by a zero byte. */
  readonly requestsFile: string;
  /** Which of them is sent first. */
  readonly offset: number;
  /** The status that every reply has to have. */
  readonly status: number;
  readonly connections: number;
  readonly seconds: number;
}

/** What a load generator saw, and what it cost. */
export interface LoadFigure {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The share of a core that the busiest thread of the generator used. */
  readonly generatorShare: number;
}

/** A program that sends requests over connections that each wait for a reply. */
export interface LoadGenerator {
  /** What it is, for people. */
  readonly name: string;
  /** Sends requests for a while; throws when a reply is not the expected one. */
  run(load: Load): Promise<LoadFigure>;
  stop(): void;
}
