import { expect, it } from 'vitest';
import { readSdkName } from './sdk-name.ts';

it.each([
  ['posthog-node/5.70.0', { sdk: 'posthog-node', version: '5.70.0' }],
  ['posthog-react-native/4.78.0', { sdk: 'posthog-react-native', version: '4.78.0' }],
  ['posthog-python/7.53.0 extra', { sdk: 'posthog-python', version: '7.53.0' }],
  ['Mozilla/5.0 (X11; Linux x86_64)', { sdk: 'other', version: '' }],
  ['posthog-node', { sdk: 'other', version: '' }],
  ['', { sdk: 'other', version: '' }],
  [undefined, { sdk: 'other', version: '' }],
])('Reads the SDK of the User-Agent %s', (userAgent, expected) => {
  expect(readSdkName(userAgent)).toEqual(expected);
});
