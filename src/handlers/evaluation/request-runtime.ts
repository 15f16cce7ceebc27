import type { RequestRuntime } from '../../domain/evaluation/model/context.ts';
import type { RequestOrigin } from '../../operations/operation.ts';

const SDK_NAME = /^posthog-([a-z-]+)\//;
const SERVER_SDKS = new Set([
  'python',
  'ruby',
  'php',
  'java',
  'go',
  'node',
  'dotnet',
  'elixir',
  'rs',
  'server',
]);
const CLIENT_SDKS = new Set(['js', 'android', 'ios', 'react-native', 'flutter']);
const BROWSERS = ['Mozilla/', 'Chrome/', 'Safari/', 'Firefox/', 'Edge/'];
const SCRIPTS = ['python-requests/', 'curl/'];
const BROWSER_HEADERS = ['origin', 'referer', 'sec-fetch-mode', 'sec-fetch-site'];

/**
 * The kind of SDK that asks: what it says itself, else what its User-Agent says, else whether the
 * request has headers that only browsers send. Null when nothing tells.
 */
export function readRuntime(
  stated: string | null | undefined,
  headers: RequestOrigin['headers'],
): RequestRuntime {
  if (typeof stated === 'string') {
    const runtime = stated.toLowerCase();
    return runtime === 'client' || runtime === 'server' ? runtime : 'all';
  }
  const userAgent = headers['user-agent'];
  if (typeof userAgent === 'string' && userAgent.startsWith('posthog-')) return ofSdk(userAgent);
  if (typeof userAgent === 'string') {
    if (BROWSERS.some((name) => userAgent.includes(name))) return 'client';
    if (SCRIPTS.some((name) => userAgent.includes(name))) return 'server';
  }
  return BROWSER_HEADERS.some((name) => headers[name] !== undefined) ? 'client' : null;
}

/** An SDK that is not known stays unknown, even with a browser's headers. */
function ofSdk(userAgent: string): RequestRuntime {
  const name = SDK_NAME.exec(userAgent)?.[1] ?? '';
  if (SERVER_SDKS.has(name)) return 'server';
  return CLIENT_SDKS.has(name) ? 'client' : null;
}
