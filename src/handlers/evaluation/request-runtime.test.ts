import { describe, expect, it } from 'vitest';
import { readRuntime } from './request-runtime.ts';

/** A User-Agent and the runtime that it stands for. */
type Row = [string, string | null];

describe('readRuntime', () => {
  it.each([
    ['client', 'client'],
    ['SERVER', 'server'],
    ['all', 'all'],
    ['mobile', 'all'],
    ['', 'all'],
  ])('believes a request that says %j', (stated, runtime) => {
    expect(readRuntime(stated, { 'user-agent': 'posthog-node/5.0.0' })).toBe(runtime);
  });

  it.each<Row>([
    ...['python', 'ruby', 'php', 'java', 'go', 'node', 'dotnet', 'elixir', 'rs', 'server'].map(
      (name): Row => [`posthog-${name}/1.2.3`, 'server'],
    ),
    ...['js', 'android', 'ios', 'react-native', 'flutter'].map(
      (name): Row => [`posthog-${name}/1.2.3`, 'client'],
    ),
    ['posthog-edge/1.2.3', null],
    ['posthog-node', null],
    ['posthog-python (Mozilla/5.0)', null],
    ['Mozilla/5.0 (X11; Linux) Chrome/120.0', 'client'],
    ['Firefox/130', 'client'],
    ['curl/8.5.0', 'server'],
    ['python-requests/2.32', 'server'],
    ['Go-http-client/2.0', null],
    ['my posthog-node/1.0', null],
  ])('takes the User-Agent %s for %s', (userAgent, runtime) => {
    for (const stated of [undefined, null]) {
      expect(readRuntime(stated, { 'user-agent': userAgent })).toBe(runtime);
    }
  });

  it.each(['origin', 'referer', 'sec-fetch-mode', 'sec-fetch-site'])(
    'knows a browser by its header %s',
    (name) => {
      expect(readRuntime(undefined, { [name]: 'x' })).toBe('client');
      expect(readRuntime(undefined, { 'user-agent': 'unheard of', [name]: 'x' })).toBe('client');
    },
  );

  it('leaves an SDK that it does not know unknown, even with headers of a browser', () => {
    const headers = { 'user-agent': 'posthog-edge/1.0', origin: 'https://example.com' };
    expect(readRuntime(undefined, headers)).toBeNull();
  });

  it('knows nothing when nothing tells', () => {
    expect(readRuntime(undefined, {})).toBeNull();
  });
});
