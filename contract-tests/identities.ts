import { runCli } from '../src/cli/program.ts';
import { pickNumber, pickText } from './read.ts';

/** What a test wants to know of a new personal API key. */
export interface TestKey {
  readonly id: string;
  readonly key: string;
  readonly email: string;
}

export interface TestKeyOptions {
  readonly scopes?: readonly string[];
  /** The projects that the key is limited to; null for all. */
  readonly projectIds?: readonly number[] | null;
  /** The projects that its user is a member of. */
  readonly memberOf?: readonly number[];
}

export interface TestProject {
  readonly id: number;
  readonly projectApiKey: string;
  readonly projectSecretKey: string;
}

let created = 0;

/** Keys and projects, made by the command line as an operator makes them. */
export function createIdentities(databaseUrl: string) {
  const run = (...args: string[]) => runJson(databaseUrl, args);
  return {
    /** A key of a new user; all scopes and a member of project 1 unless said otherwise. */
    async createKey(options: TestKeyOptions = {}): Promise<TestKey> {
      created += 1;
      const email = `user-${process.pid}-${created}@example.com`;
      const { scopes = ['*'], projectIds = null, memberOf = [1] } = options;
      const projects = `--projects=${memberOf.join(',')}`;
      await run('users', 'create', '--email', email, '--first-name', 'Test', projects);
      const key = await run(
        ...['keys', 'create', '--user', email, '--label', `key ${created}`],
        ...['--scopes', scopes.join(',')],
        ...(projectIds === null ? [] : [`--projects=${projectIds.join(',')}`]),
      );
      return { id: pickText(key, 'id'), key: pickText(key, 'key'), email };
    },

    /** A project whose only member nobody has a key of. */
    async createProject(name = 'Another project'): Promise<TestProject> {
      created += 1;
      const owner = `owner-${process.pid}-${created}@example.com`;
      await run('users', 'create', '--email', owner, '--projects=1');
      const project = await run('projects', 'create', '--name', name, '--members', owner);
      return {
        id: pickNumber(project, 'id'),
        projectApiKey: pickText(project, 'project_api_key'),
        projectSecretKey: pickText(project, 'project_secret_key'),
      };
    },

    /** Limits the requests of a project to so many a month. */
    async setQuota(projectId: number, perMonth: number | null): Promise<void> {
      const count = perMonth === null ? 'none' : String(perMonth);
      await run('projects', 'set-quota', String(projectId), '--flag-requests-per-month', count);
    },

    async addMember(projectId: number, email: string): Promise<void> {
      await run('projects', 'add-member', String(projectId), '--user', email);
    },

    async removeMember(projectId: number, email: string): Promise<void> {
      await run('projects', 'remove-member', String(projectId), '--user', email);
    },

    async revokeKey(id: string): Promise<void> {
      await run('keys', 'revoke', id);
    },
  };
}

/** Runs a command of `burgee` with `--json` and returns what it prints. */
async function runJson(databaseUrl: string, args: readonly string[]): Promise<unknown> {
  const printed: string[] = [];
  const complaints: string[] = [];
  const exitCode = await runCli(
    [...args, '--json'],
    {
      env: { DATABASE_URL: databaseUrl },
      print: (text) => printed.push(text),
      complain: (text) => complaints.push(text),
    },
    '0.0.0',
  );
  if (exitCode !== 0) throw new Error(`burgee ${args.join(' ')}: ${complaints.join('\n')}`);
  return JSON.parse(printed.join('\n'));
}
