import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createTemporaryFolder } from './temporary-folder.ts';

/** A contract that breaks every house rule, and nothing else that matters here. */
const BAD_CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'Bad', version: '1' },
  paths: {
    '/bad/': {
      post: {
        operationId: 'bad_Operation',
        security: [{ key: [] }],
        parameters: [{ name: 'BadName', in: 'query', schema: { type: 'string' } }],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  text: { type: 'string' },
                  inside: { $ref: '#/paths/~1bad~1/post/requestBody' },
                  list: { type: 'array', items: { type: 'integer' } },
                },
              },
            },
          },
        },
        responses: {
          200: { description: 'ok', content: { 'application/json': { schema: {} } } },
          201: { description: 'created' },
        },
      },
    },
  },
};

describe('the house rules of the contract', () => {
  let found: ReadonlySet<string> = new Set();
  const rules = Object.keys(parse(readFileSync('.spectral.yaml', 'utf8')).rules).filter((name) =>
    name.startsWith('burgee-'),
  );

  beforeAll(() => {
    const folder = createTemporaryFolder();
    try {
      const file = join(folder.path, 'bad.json');
      writeFileSync(file, JSON.stringify(BAD_CONTRACT));
      found = new Set(lint(file));
    } finally {
      folder.remove();
    }
  }, 60_000);

  it.each(rules)('%s is noticed when it is broken', (rule) => {
    expect([...found]).toContain(rule);
  });
});

/** The codes that Spectral reports for a document. */
function lint(file: string): string[] {
  const spectral = 'node_modules/@stoplight/spectral-cli/dist/index.js';
  const { stdout } = spawnSync(process.execPath, [spectral, 'lint', '-q', '-f', 'json', file], {
    encoding: 'utf8',
  });
  const results: { code: string }[] = JSON.parse(stdout);
  return results.map(({ code }) => code);
}
