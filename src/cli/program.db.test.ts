import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../test/disposable-database.ts';
import { bootstrap } from '../domain/projects/bootstrap.ts';
import { IdentityStore } from '../domain/projects/identity-store.ts';
import { runCli } from './program.ts';

let database: DisposableDatabase;

beforeAll(async () => {
  database = await createDisposableDatabase();
  await bootstrap(database.db, {});
});
afterAll(() => database.destroy());

function urlOf({ connection }: DisposableDatabase): string {
  const { host, port, user, password, database: name } = connection;
  const query = new URLSearchParams({ host, port: String(port) });
  return `postgres://${user}:${encodeURIComponent(password)}@/${name}?${query}`;
}

async function run(...args: string[]) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const exitCode = await runCli(
    args,
    {
      env: { DATABASE_URL: urlOf(database) },
      print: (text) => printed.push(text),
      complain: (text) => complaints.push(text),
    },
    '1.2.3',
  );
  return { exitCode, printed: printed.join('\n'), complaints: complaints.join('\n') };
}

/** Runs a command with `--json`, expects it to work, and parses what it prints. */
async function runJson(...args: string[]) {
  const { exitCode, printed, complaints } = await run(...args, '--json');
  expect(exitCode, complaints).toBe(0);
  return JSON.parse(printed);
}

describe('projects', () => {
  it('are created with their keys, for the only user, and listed', async () => {
    const created = await runJson('projects', 'create', '--name', 'Shop');
    expect(created).toEqual({
      id: expect.any(Number),
      name: 'Shop',
      project_api_key: expect.stringMatching(/^phc_/),
      project_secret_key: expect.stringMatching(/^phs_/),
      members: ['admin@burgee.local'],
    });
    const listed = await runJson('projects', 'list');
    expect(listed).toContainEqual(
      expect.objectContaining({ id: created.id, project_api_key: created.project_api_key }),
    );
    expect(JSON.stringify(listed)).not.toContain(created.project_secret_key);
  });

  it('are printed for people as a table', async () => {
    const { printed } = await run('projects', 'list');
    expect(printed).toMatch(/^ID +NAME +PROJECT API KEY\n1 +Default project +phc_/);
  });

  it('are not created for a member who does not exist', async () => {
    const { exitCode, complaints } = await run(
      ...['projects', 'create', '--name', 'Lost', '--members', 'nobody@example.com'],
    );
    expect(exitCode).toBe(1);
    expect(complaints).toBe('There is no user with the address nobody@example.com.');
    const { printed } = await run('projects', 'list');
    expect(printed).not.toContain('Lost');
  });

  it('need a member when a list of members is given', async () => {
    const { exitCode } = await run('projects', 'create', '--name', 'Lonely', '--members', ' , ');
    expect(exitCode).toBe(2);
    expect((await run('projects', 'list')).printed).not.toContain('Lonely');
  });
});

describe('members of a project', () => {
  const add = (...rest: string[]) => runJson('projects', 'add-member', ...rest);
  const emails = async (id: string) =>
    (await runJson('projects', 'members', id)).map((each: { email: string }) => each.email);

  it('are added and removed long after it was created, and may do so again', async () => {
    const project = await runJson('projects', 'create', '--name', 'Team');
    const id = String(project.id);
    await run('users', 'create', '--email', 'new@example.com', '--projects', '1');
    expect(await add(id, '--user', 'NEW@example.com')).toEqual({
      project: project.id,
      user: 'new@example.com',
      added: true,
    });
    expect(await add(id, '--user', 'new@example.com')).toMatchObject({ added: false });
    expect(await emails(id)).toEqual(['admin@burgee.local', 'new@example.com']);
    expect(await runJson('users', 'list')).toContainEqual(
      expect.objectContaining({ email: 'new@example.com', projects: [1, project.id] }),
    );

    const remove = ['projects', 'remove-member', id, '--user', 'new@example.com'];
    expect(await runJson(...remove)).toEqual({
      project: project.id,
      user: 'new@example.com',
      removed: true,
    });
    expect(await emails(id)).toEqual(['admin@burgee.local']);
    expect(await run(...remove)).toMatchObject({
      exitCode: 1,
      complaints: `new@example.com is not a member of project ${id}.`,
    });
    const { printed } = await run('projects', 'add-member', id, '--user', 'new@example.com');
    expect(printed).toBe(`new@example.com is now a member of project ${id}.`);
  });

  it('cannot all be removed: nobody could reach the project any more', async () => {
    const { id } = await runJson(
      'projects',
      'create',
      '--name',
      'Solo',
      '--members',
      'admin@burgee.local',
    );
    const last = await run('projects', 'remove-member', String(id), '--user', 'admin@burgee.local');
    expect(last.exitCode).toBe(1);
    expect(last.complaints).toContain('is the only member');
    expect(await emails(String(id))).toEqual(['admin@burgee.local']);
  });

  it('are printed for people as a table', async () => {
    const { printed } = await run('projects', 'members', '1');
    expect(printed).toMatch(/^ID +EMAIL +NAME\n1 +admin@burgee\.local +Admin/);
  });

  it.each([
    ['add-member', '99', 'admin@burgee.local', 'There is no project 99.'],
    ['add-member', '9999999999', 'admin@burgee.local', 'There is no project 9999999999.'],
    ['members', 'x', null, 'There is no project x.'],
    ['remove-member', '1', 'no@example.com', 'There is no user with the address no@example.com.'],
  ])('have to exist, and so has the project: %s %s', async (command, id, email, complaint) => {
    const user = email === null ? [] : ['--user', email];
    const { exitCode, complaints } = await run('projects', command, id, ...user);
    expect({ exitCode, complaints }).toEqual({ exitCode: 1, complaints: complaint });
  });
});

describe('users and keys', () => {
  it('are created, listed, and refused once the key is revoked', async () => {
    const user = await runJson(
      ...['users', 'create', '--email', 'ann@example.com', '--first-name', 'Ann'],
      ...['--projects', '1'],
    );
    expect(user).toEqual({ id: expect.any(Number), email: 'ann@example.com', projects: [1] });
    expect(await runJson('users', 'list')).toContainEqual(
      expect.objectContaining({ email: 'ann@example.com', first_name: 'Ann', last_name: '' }),
    );
    const key = await runJson(
      ...['keys', 'create', '--user', 'ANN@example.com', '--projects', '1', '--label', 'CI'],
      ...['--scopes', 'feature_flag:read, event:write'],
    );

    const identities = new IdentityStore(database.db, () => new Date());
    const caller = await identities.authenticate(key.key);
    expect(caller).toMatchObject({
      user: { email: 'ann@example.com' },
      scopes: ['feature_flag:read', 'event:write'],
      keyProjectIds: [1],
      memberProjectIds: [1],
    });

    const [listed] = (await runJson('keys', 'list')).filter(
      (each: { id: string }) => each.id === key.id,
    );
    expect(listed).toMatchObject({ user: 'ann@example.com', label: 'CI', revoked_at: null });
    expect(JSON.stringify(listed)).not.toContain(key.key);

    expect(await runJson('keys', 'revoke', key.id)).toEqual({ id: key.id, revoked: true });
    identities.forget();
    expect(await identities.authenticate(key.key)).toBeNull();
    const { printed } = await run('keys', 'list');
    expect(printed).toMatch(new RegExp(`^${key.id} .* revoked$`, 'm'));
  });

  it('prints a key in the clear when it is created', async () => {
    const { printed } = await run(
      ...['keys', 'create', '--user', 'admin@burgee.local', '--scopes', '*', '--label', 'mine'],
    );
    expect(printed).toMatch(/^Created a key for admin@burgee\.local\..*\nphx_\w+$/);
  });
});

describe('a command that cannot be carried out', () => {
  it.each([
    ['an unknown key', ['keys', 'revoke', 'no-such-key'], 'There is no active personal API key'],
    [
      'an address that is taken, whatever its case',
      ['users', 'create', '--email', 'Admin@Burgee.local', '--projects', '1'],
      'email: There is already a user with this email address.',
    ],
    [
      'an address that is none',
      ['users', 'create', '--email', 'ann', '--projects', '1'],
      'email: Enter a valid email address.',
    ],
    [
      'an unknown project',
      ['users', 'create', '--email', 'bob@example.com', '--projects', '99'],
      'There is no project 99.',
    ],
    [
      'an unknown scope',
      ['keys', 'create', '--user', 'admin@burgee.local', '--scopes', 'root', '--label', 'x'],
      'scopes: Invalid scope: root',
    ],
    [
      'a blank name',
      ['projects', 'create', '--name', ' ', '--members', 'admin@burgee.local'],
      'name: This field may not be blank.',
    ],
  ])('fails with 1 and says why: %s', async (_what, args, complaint) => {
    const { exitCode, printed, complaints } = await run(...args);
    expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: '' });
    expect(complaints).toContain(complaint);
  });

  it('asks for the option that the command has when the user is not clear', async () => {
    await run('users', 'create', '--email', 'second@example.com', '--projects', '1');
    const { exitCode, complaints } = await run('keys', 'create', '--scopes', '*', '--label', 'x');
    expect(exitCode).toBe(1);
    expect(complaints).toContain('--user');
    expect(complaints).not.toContain('--members');
  });
});

describe('a command that is called wrongly', () => {
  it.each([
    ['an unknown command', ['pirate']],
    ['an unknown option', ['projects', 'list', '--fancy']],
    ['a required option that is missing', ['projects', 'create']],
    ['an argument that is missing', ['keys', 'revoke']],
    ['a list without a value', ['keys', 'create', '--label', 'x', '--scopes', ',']],
    ['no command at all', []],
  ])('exits with 2 and explains: %s', async (_what, args) => {
    const { exitCode, printed, complaints } = await run(...args);
    expect({ exitCode, printed }).toEqual({ exitCode: 2, printed: '' });
    expect(complaints).not.toBe('');
  });

  it('exits with 2 when the configuration is bad', async () => {
    const complaints: string[] = [];
    const context = {
      env: { DATABASE_URL: 'nowhere' },
      print: () => {},
      complain: (text: string) => complaints.push(text),
    };
    expect(await runCli(['projects', 'list'], context, '1')).toBe(2);
    expect(complaints.join()).toContain('DATABASE_URL must be a postgres:// URL');
  });
});

describe('help', () => {
  it.each([
    [['--help'], ['serve', 'migrate', 'projects', 'users', 'keys']],
    [
      ['keys', '--help'],
      ['create', 'list', 'revoke'],
    ],
    [
      ['keys', 'create', '--help'],
      ['--user', '--projects', '--scopes', '--label', '--json'],
    ],
  ])('of %j lists %j and exits with 0', async (args, words) => {
    const { exitCode, printed } = await run(...args);
    expect(exitCode).toBe(0);
    for (const word of words) expect(printed).toContain(word);
  });

  it('tells the version', async () => {
    expect(await run('--version')).toEqual({ exitCode: 0, printed: '1.2.3', complaints: '' });
  });
});

describe('migrate', () => {
  it('has nothing left to do on a database that is up to date', async () => {
    expect(await runJson('migrate')).toEqual({ up_to_date: true });
  });
});
