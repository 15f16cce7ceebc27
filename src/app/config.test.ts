import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

function problemsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('readConfig', () => {
  it('runs the embedded database on the local machine when nothing is set', () => {
    expect(readConfig({})).toEqual({
      port: 8000,
      host: '127.0.0.1',
      databaseUrl: null,
      dataDir: '.burgee',
      logLevel: 'info',
      encryptionKeys: [],
      flagLimits: { maxFlagsPerProject: 2_000, maxFiltersBytes: 524_288 },
      eventsRetentionDays: 90,
      bootstrapKeys: {
        projectApiKey: undefined,
        personalApiKey: undefined,
        projectSecretKey: undefined,
      },
      checkReplies: false,
    });
  });

  it('takes every variable', () => {
    const config = readConfig({
      PORT: '9000',
      HOST: '0.0.0.0',
      DATABASE_URL: 'postgres://me:secret@db:5432/flags',
      BURGEE_DATA_DIR: '/var/lib/burgee',
      LOG_LEVEL: 'debug',
      BURGEE_EVENTS_RETENTION_DAYS: '30',
      BURGEE_ENCRYPTION_KEYS: 'new-key-0123456789ab, old-key-0123456789ab',
      BURGEE_MAX_FLAGS_PER_PROJECT: '50000',
      BURGEE_MAX_FILTERS_BYTES: '1000000',
      BURGEE_PROJECT_API_KEY: 'phc_public',
      BURGEE_PERSONAL_API_KEY: 'phx_0123456789abcdef',
      BURGEE_PROJECT_SECRET_KEY: 'phs_0123456789abcdef',
    });
    expect(config).toEqual({
      port: 9000,
      host: '0.0.0.0',
      databaseUrl: 'postgres://me:secret@db:5432/flags',
      dataDir: '/var/lib/burgee',
      logLevel: 'debug',
      encryptionKeys: ['new-key-0123456789ab', 'old-key-0123456789ab'],
      flagLimits: { maxFlagsPerProject: 50_000, maxFiltersBytes: 1_000_000 },
      eventsRetentionDays: 30,
      bootstrapKeys: {
        projectApiKey: 'phc_public',
        personalApiKey: 'phx_0123456789abcdef',
        projectSecretKey: 'phs_0123456789abcdef',
      },
      checkReplies: false,
    });
  });

  it('reads an empty variable as one that is not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '', LOG_LEVEL: '' })).toEqual(readConfig({}));
  });

  it('cannot be changed afterwards', () => {
    expect(readConfig({})).toSatisfy(Object.isFrozen);
  });

  it('names every bad variable at once', () => {
    const problems = problemsOf({
      PORT: 'eighty',
      DATABASE_URL: 'mysql://db',
      LOG_LEVEL: 'loud',
      BURGEE_ENCRYPTION_KEYS: 'short',
      BURGEE_MAX_FLAGS_PER_PROJECT: 'many',
      BURGEE_MAX_FILTERS_BYTES: '1MB',
      BURGEE_PROJECT_API_KEY: 'has space',
      BURGEE_PERSONAL_API_KEY: 'short',
      BURGEE_PROJECT_SECRET_KEY: 'phs_short',
    });
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'LOG_LEVEL',
      'BURGEE_ENCRYPTION_KEYS',
      'BURGEE_MAX_FLAGS_PER_PROJECT',
      'BURGEE_MAX_FILTERS_BYTES',
      'BURGEE_PROJECT_API_KEY',
      'BURGEE_PERSONAL_API_KEY',
      'BURGEE_PROJECT_SECRET_KEY',
    ]);
  });

  it('tells each problem on a line of its own in the message', () => {
    expect(() => readConfig({ PORT: '-1', LOG_LEVEL: 'loud' })).toThrow(
      'The configuration cannot be used:\n' +
        '  - PORT must be a whole number from 0 to 65535.\n' +
        '  - LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent.',
    );
  });

  it('never repeats a value, which may hold a password', () => {
    const problems = problemsOf({ DATABASE_URL: 'postgress://me:hunter2@db/flags' });
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each([
    ['PORT', '0'],
    ['PORT', '65535'],
    ['DATABASE_URL', 'postgresql:///flags?host=/var/run/postgresql'],
    ['DATABASE_URL', 'postgres://me:secret@/flags?host=/var/run/postgresql'],
    ['LOG_LEVEL', 'SILENT'],
    ['BURGEE_MAX_FLAGS_PER_PROJECT', '1'],
    ['BURGEE_MAX_FLAGS_PER_PROJECT', '1000000'],
    ['BURGEE_MAX_FILTERS_BYTES', '4194304'],
    ['BURGEE_PROJECT_API_KEY', 'x'],
    ['BURGEE_PROJECT_API_KEY', 'x'.repeat(64)],
    ['BURGEE_PERSONAL_API_KEY', 'x'.repeat(20)],
    ['BURGEE_PERSONAL_API_KEY', 'x'.repeat(200)],
    ['BURGEE_PROJECT_SECRET_KEY', `phs_${'x'.repeat(16)}`],
    ['BURGEE_PROJECT_SECRET_KEY', `phs_${'x'.repeat(200)}`],
  ])('takes %s=%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([]);
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['PORT', ' 80'],
    ['DATABASE_URL', 'localhost:5432/flags'],
    ['DATABASE_URL', 'postgres://host:port/flags'],
    ['LOG_LEVEL', 'verbose'],
    ['BURGEE_EVENTS_RETENTION_DAYS', '0'],
    ['BURGEE_EVENTS_RETENTION_DAYS', '1.5'],
    ['BURGEE_EVENTS_RETENTION_DAYS', '36501'],
    ['BURGEE_ENCRYPTION_KEYS', 'x'.repeat(19)],
    ['BURGEE_ENCRYPTION_KEYS', `${'x'.repeat(20)},`],
    ['BURGEE_MAX_FLAGS_PER_PROJECT', '0'],
    ['BURGEE_MAX_FLAGS_PER_PROJECT', '1000001'],
    ['BURGEE_MAX_FILTERS_BYTES', '4194305'],
    ['BURGEE_MAX_FILTERS_BYTES', '1.5'],
    ['BURGEE_PROJECT_API_KEY', 'phx_personal'],
    ['BURGEE_PROJECT_API_KEY', 'x'.repeat(65)],
    ['BURGEE_PROJECT_API_KEY', 'schlüssel'],
    ['BURGEE_PERSONAL_API_KEY', 'x'.repeat(19)],
    ['BURGEE_PERSONAL_API_KEY', 'x'.repeat(201)],
    ['BURGEE_PERSONAL_API_KEY', `phs_${'x'.repeat(30)}`],
    ['BURGEE_PROJECT_SECRET_KEY', `phs_${'x'.repeat(15)}`],
    ['BURGEE_PROJECT_SECRET_KEY', `phs_${'x'.repeat(201)}`],
    ['BURGEE_PROJECT_SECRET_KEY', 'x'.repeat(40)],
    ['BURGEE_PROJECT_SECRET_KEY', `phs_${'-'.repeat(20)}`],
  ])('refuses %s=%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name} must be `)]);
  });

  it.each([
    ['development', true],
    ['test', true],
    ['production', false],
    [undefined, false],
  ])('when NODE_ENV is %s, checking replies is %s', (environment, isChecked) => {
    expect(readConfig({ NODE_ENV: environment }).checkReplies).toBe(isChecked);
  });
});
