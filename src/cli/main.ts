#!/usr/bin/env node
import { readPackageFile } from '../domain/common/package-root.ts';
import { outliveReaders } from '../process/standard-output.ts';
import { runCli } from './program.ts';

const { version }: { version: string } = JSON.parse(readPackageFile('package.json'));

outliveReaders();
process.exitCode = await runCli(
  process.argv.slice(2),
  {
    env: process.env,
    print: (text) => process.stdout.write(`${text}\n`),
    complain: (text) => process.stderr.write(`${text}\n`),
  },
  version,
);
