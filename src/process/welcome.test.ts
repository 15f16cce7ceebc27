import { describe, expect, it } from 'vitest';
import type { Bootstrapped } from '../domain/projects/bootstrap.ts';
import { displayUrl, firstWelcome, laterWelcome } from './welcome.ts';

const CREATED: Bootstrapped = {
  project: {
    id: 7,
    uuid: '00000000-0000-4000-8000-000000000000',
    name: 'Default project',
    apiToken: 'phc_public',
    timezone: 'UTC',
    revision: 1,
    flagRequestsPerMonth: null,
    hasSecretKeyBackup: false,
    createdAt: new Date(0),
  },
  personalApiKey: 'phx_personal',
  projectSecretKey: 'phs_secret',
};

describe('the welcome of the first start', () => {
  const text = firstWelcome('http://127.0.0.1:8000', CREATED);

  it.each(['phc_public', 'phx_personal', 'phs_secret'])('shows the key %s', (key) => {
    expect(text).toContain(key);
  });

  it('says that the secrets are shown only once', () => {
    expect(text).toContain('shown this once');
  });

  it('has a command that creates a flag in the project with the personal key', () => {
    expect(text).toContain('http://127.0.0.1:8000/api/projects/7/feature_flags/');
    expect(text).toContain("-H 'Authorization: Bearer phx_personal'");
  });

  it('has a command that evaluates with the public key only', () => {
    const [, evaluation = ''] = text.split('Evaluate it:');
    expect(evaluation).toContain("curl -X POST 'http://127.0.0.1:8000/flags?v=2'");
    expect(evaluation).toContain('"api_key": "phc_public"');
    expect(evaluation).not.toMatch(/ph[xs]_/);
  });

  it('has bodies that are JSON', () => {
    const bodies = [...text.matchAll(/-d '(.+)'/g)].map((match) => match[1] ?? '');
    expect(bodies.map((body) => Object.keys(JSON.parse(body)))).toEqual([
      ['key', 'filters'],
      ['api_key', 'distinct_id'],
    ]);
  });
});

describe('the welcome of a later start', () => {
  it('shows the address and no key', () => {
    const text = laterWelcome('http://127.0.0.1:8000');
    expect(text).toContain('Burgee is ready at http://127.0.0.1:8000');
    expect(text).not.toMatch(/ph[cxs]_/);
  });
});

describe('displayUrl', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8000'],
    ['flags.example.com', 'http://flags.example.com:8000'],
    ['0.0.0.0', 'http://127.0.0.1:8000'],
    ['::', 'http://127.0.0.1:8000'],
    ['::1', 'http://[::1]:8000'],
  ])('shows the host %s as %s', (host, url) => {
    expect(displayUrl(host, 8000)).toBe(url);
  });
});
