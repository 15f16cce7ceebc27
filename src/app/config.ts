import type { FlagLimits } from '../domain/flags/rules/flag-limits.ts';
import type { BootstrapKeys } from '../domain/projects/bootstrap.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Everything that can be set from outside. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Null runs the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly logLevel: LogLevel;
  /** The first one encrypts secret payloads, all of them decrypt. */
  readonly encryptionKeys: readonly string[];
  readonly flagLimits: FlagLimits;
  /** How many days events are kept after the day of their receipt. */
  readonly eventsRetentionDays: number;
  /** Used by the first start on an empty database only. */
  readonly bootstrapKeys: BootstrapKeys;
  /** Whether every reply is checked against the contract; in production a few are. */
  readonly checkReplies: boolean;
}

/** A variable with a value that Burgee cannot use. `problems` has one sentence for each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((text) => `  - ${text}`).join('\n')}`);
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS: readonly LogLevel[] = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
];

const PORT_MAX = 65_535;
const FLAGS_MAX = 1_000_000;
/** The largest body that the management API takes; larger filters never arrive. */
const FILTERS_MAX_BYTES = 4_194_304;
const RETENTION_DAYS_MAX = 36_500;

/** The shape that every SDK and the capture endpoint accept of a project API key. */
const PROJECT_API_KEY = /^(?!phx_)[\x21-\x7e]{1,64}$/;
const PERSONAL_API_KEY = /^(?!phs_)[\x21-\x7e]{20,200}$/;
const PROJECT_SECRET_KEY = /^phs_[a-zA-Z0-9]{16,200}$/;

/** Reads the configuration. Throws one ConfigError that names every problem. */
export function readConfig(env: Environment): Config {
  const problems: string[] = [];
  const read = <Value>(
    name: string,
    fallback: Value,
    parse: (text: string) => Value | undefined,
    expected: string,
  ): Value => {
    const text = env[name];
    if (text === undefined || text === '') return fallback;
    const value = parse(text);
    if (value !== undefined) return value;
    problems.push(`${name} ${expected}.`);
    return fallback;
  };
  const text = (value: string) => value;
  const matching = (pattern: RegExp) => (value: string) =>
    pattern.test(value) ? value : undefined;

  const config: Config = {
    port: read('PORT', 8000, parsePort, `must be a whole number from 0 to ${PORT_MAX}`),
    host: read('HOST', '127.0.0.1', text, ''),
    databaseUrl: read('DATABASE_URL', null, parseDatabaseUrl, 'must be a postgres:// URL'),
    dataDir: read('BURGEE_DATA_DIR', '.burgee', text, ''),
    logLevel: read('LOG_LEVEL', 'info', parseLogLevel, `must be one of ${LOG_LEVELS.join(', ')}`),
    encryptionKeys: read(
      'BURGEE_ENCRYPTION_KEYS',
      [],
      parseEncryptionKeys,
      `must be texts of at least ${ENCRYPTION_KEY_MIN_LENGTH} characters, separated by commas`,
    ),
    flagLimits: {
      maxFlagsPerProject: read(
        'BURGEE_MAX_FLAGS_PER_PROJECT',
        2_000,
        wholeNumberTo(FLAGS_MAX),
        `must be a whole number from 1 to ${FLAGS_MAX}`,
      ),
      maxFiltersBytes: read(
        'BURGEE_MAX_FILTERS_BYTES',
        524_288,
        wholeNumberTo(FILTERS_MAX_BYTES),
        `must be a whole number from 1 to ${FILTERS_MAX_BYTES}`,
      ),
    },
    eventsRetentionDays: read(
      'BURGEE_EVENTS_RETENTION_DAYS',
      90,
      wholeNumberTo(RETENTION_DAYS_MAX),
      `must be a whole number from 1 to ${RETENTION_DAYS_MAX}`,
    ),
    bootstrapKeys: {
      projectApiKey: read(
        'BURGEE_PROJECT_API_KEY',
        undefined,
        matching(PROJECT_API_KEY),
        'must be 1 to 64 visible ASCII characters and must not begin with phx_',
      ),
      personalApiKey: read(
        'BURGEE_PERSONAL_API_KEY',
        undefined,
        matching(PERSONAL_API_KEY),
        'must be 20 to 200 visible ASCII characters and must not begin with phs_',
      ),
      projectSecretKey: read(
        'BURGEE_PROJECT_SECRET_KEY',
        undefined,
        matching(PROJECT_SECRET_KEY),
        'must be phs_ and 16 to 200 letters or digits',
      ),
    },
    checkReplies: env.NODE_ENV === 'development' || env.NODE_ENV === 'test',
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** Short enough to type, long enough not to be guessed when it is random. */
const ENCRYPTION_KEY_MIN_LENGTH = 20;

function parseEncryptionKeys(text: string): string[] | undefined {
  const keys = text.split(',').map((key) => key.trim());
  return keys.every((key) => key.length >= ENCRYPTION_KEY_MIN_LENGTH) ? keys : undefined;
}

function parsePort(text: string): number | undefined {
  const port = Number(text);
  return /^\d+$/.test(text) && port <= PORT_MAX ? port : undefined;
}

function wholeNumberTo(max: number): (text: string) => number | undefined {
  return (text) => {
    const value = Number(text);
    return /^\d+$/.test(text) && value >= 1 && value <= max ? value : undefined;
  };
}

function parseLogLevel(text: string): LogLevel | undefined {
  return LOG_LEVELS.find((level) => level === text.toLowerCase());
}

/** A URL that names its host in the query, as those of Unix sockets do, has none after the `@`. */
function parseDatabaseUrl(text: string): string | undefined {
  const withHost = text.replace('@/', '@localhost/');
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(withHost) ? text : undefined;
}
