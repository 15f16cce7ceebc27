import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('The generated types are those of the contract: run "npm run generate" when this fails', () => {
  const scripts: { generate: string } = JSON.parse(readFileSync('package.json', 'utf8')).scripts;
  const [, contract = '', , target = '', ...flags] = scripts.generate.split(' ');
  expect(contract).toBe('openapi.yaml');
  const fresh = execFileSync(
    process.execPath,
    ['node_modules/openapi-typescript/bin/cli.js', contract, ...flags],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  expect(fresh).toBe(readFileSync(target, 'utf8'));
});
