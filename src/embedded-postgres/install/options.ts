/** Where the launcher reports: long steps, surprises and failures, in plain sentences. */
export interface LaunchLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string, cause?: unknown): void;
}

/**
 * `serve` is the service: one per data folder, and it restarts PostgreSQL when that dies.
 * `adopt-or-start` is a command: it joins a running server, or runs one while it works.
 */
export type LaunchMode = 'serve' | 'adopt-or-start';

export interface EmbeddedPostgresOptions {
  /** Burgee's data folder, absolute or relative to the working directory. */
  readonly dataDir: string;
  readonly log: LaunchLog;
  readonly mode: LaunchMode;
  /** More PostgreSQL settings; they win over the launcher's own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** How the server listens. A Unix socket, except on Windows, where it is TCP on 127.0.0.1. */
  readonly transport?: 'socket' | 'tcp';
  /** Where the database goes when we are root and PostgreSQL's account cannot reach `dataDir`. */
  readonly systemFolder?: string;
}
