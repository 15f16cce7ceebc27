import { expect, it } from 'vitest';
import { NO_VARIANT, OTHER_VARIANTS, readFlagUse } from './flag-use.ts';

const called = '$feature_flag_called';

it.each([
  [called, { $feature_flag: 'a', $feature_flag_response: true }, 'a', 'true'],
  [called, { $feature_flag: 'a', $feature_flag_response: false }, 'a', 'false'],
  [called, { $feature_flag: 'a', $feature_flag_response: 'blue' }, 'a', 'blue'],
  [called, { $feature_flag: 'a', $feature_flag_response: 7 }, 'a', '7'],
  [called, { $feature_flag: 'a', $feature_flag_response: null }, 'a', NO_VARIANT],
  [called, { $feature_flag: 'a', $feature_flag_response: '' }, 'a', NO_VARIANT],
  [called, { $feature_flag: 'a' }, 'a', NO_VARIANT],
  [called, { $feature_flag: 'a', $feature_flag_response: 'x'.repeat(401) }, 'a', OTHER_VARIANTS],
  ['$feature_view', { feature_flag: 'a', feature_flag_variant: 'blue' }, 'a', NO_VARIANT],
  ['$feature_interaction', { feature_flag: 'a' }, 'a', NO_VARIANT],
])('Reads the flag and the variant of %s %j', (event, properties, flagKey, variant) => {
  expect(readFlagUse({ event, properties })).toEqual({ event, flagKey, variant });
});

it.each([
  ['bought', { $feature_flag: 'a' }],
  [called, {}],
  [called, { feature_flag: 'a' }],
  [called, { $feature_flag: 7 }],
  [called, { $feature_flag: '' }],
  [called, { $feature_flag: 'no key of a flag' }],
  [called, { $feature_flag: 'x'.repeat(401) }],
  ['$feature_view', { $feature_flag: 'a' }],
])('Reads no use of a flag from %s %j', (event, properties) => {
  expect(readFlagUse({ event, properties })).toBeNull();
});
