import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quietLog } from '../../../test/postgres-log.ts';
import { createTemporaryFolder } from '../../../test/temporary-folder.ts';
import { isRoot, runAs, unprivilegedAccounts } from './account.ts';
import { findBinaryPackage, prepareBinaries } from './binaries.ts';

describe('findBinaryPackage', () => {
  it('finds the package of this platform and its version', () => {
    const found = findBinaryPackage();
    expect(found).toMatchObject({ major: '18', version: expect.stringMatching(/^18\.\d+$/) });
    expect(found.packageVersion.startsWith(`${found.version}.`)).toBe(true);
  });

  it('says what to do on a platform without one', () => {
    expect(() => findBinaryPackage('sunos', 'sparc')).toThrow(
      /no embedded PostgreSQL for sunos on sparc.*Set DATABASE_URL/,
    );
  });
});

describe('prepareBinaries', () => {
  const real = findBinaryPackage();
  const account = isRoot() ? unprivilegedAccounts()[0] : undefined;
  const linkIt = it.runIf(process.platform !== 'win32');
  let folder: ReturnType<typeof createTemporaryFolder>;
  let root: string;
  let copyTo: string;

  beforeEach(() => {
    folder = createTemporaryFolder();
    root = join(folder.path, 'package');
    copyTo = join(folder.path, 'copies');
    mkdirSync(copyTo);
    chmodSync(copyTo, 0o711);
  });

  afterEach(() => {
    for (const path of [root, join(root, 'native'), join(root, 'native', 'lib')]) {
      chmodSync(path, 0o755);
    }
    folder.remove();
  });

  /** The package as npm unpacks it: without symbolic links. */
  function copyPackageWithoutLinks(): void {
    cpSync(join(real.root, 'native'), join(root, 'native'), {
      recursive: true,
      filter: (path) => !lstatSync(path).isSymbolicLink() && !/\/share$|\.a$/.test(path),
    });
  }

  function versionOf(program: string): string {
    const options = { ...runAs(account), cwd: '/', encoding: 'utf8', env: {} } as const;
    return spawnSync(program, ['--version'], options).stdout;
  }

  linkIt('makes the links that the install script did not make (not on Windows)', () => {
    copyPackageWithoutLinks();
    const binaries = prepareBinaries({ ...real, root }, copyTo, account, quietLog);
    expect(binaries.postgres).toBe(join(root, 'native', 'bin', 'postgres'));
    expect(versionOf(binaries.postgres)).toContain(real.version);
    expect(readdirSync(copyTo)).toEqual([]);
  });

  linkIt('copies a package that it may not use in place, once (not on Windows)', () => {
    copyPackageWithoutLinks();
    writeFileSync(join(copyTo, 'unrelated'), '');
    mkdirSync(join(copyTo, 'postgresql-17.0.0'));
    if (isRoot()) chmodSync(root, 0o700);
    else chmodSync(join(root, 'native', 'lib'), 0o555);
    const messages: string[] = [];
    const log = { ...quietLog, info: (message: string) => messages.push(message) };
    for (let start = 0; start < 2; start += 1) {
      const binaries = prepareBinaries({ ...real, root }, copyTo, account, log);
      expect(versionOf(binaries.postgres)).toContain(real.version);
    }
    const name = `postgresql-${real.packageVersion}`;
    expect(readdirSync(copyTo).sort()).toEqual([name, 'unrelated']);
    expect(messages).toEqual([
      expect.stringContaining(`Copying PostgreSQL's programs from ${root} to ${copyTo}/${name}`),
    ]);
  });

  linkIt('says what to do when the programs cannot run here at all (not on Windows)', () => {
    mkdirSync(join(root, 'native', 'bin'), { recursive: true });
    mkdirSync(join(root, 'native', 'lib'));
    const program = join(root, 'native', 'bin', 'postgres');
    writeFileSync(program, '#!/lib/ld-of-another-system.so\n', { mode: 0o755 });
    expect(() => prepareBinaries({ ...real, root }, copyTo, account, quietLog)).toThrow(
      /does not run on this machine .*musl.*DATABASE_URL/,
    );
  });
});
