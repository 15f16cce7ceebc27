import { expect, it } from 'vitest';
import { readWantedReply } from './evaluation-shape.ts';

it.each([
  ['/flags', undefined, undefined, 'flags', true],
  ['/flags/', '', undefined, 'flags', true],
  ['/flags', '2', undefined, 'flags', false],
  ['/flags', '3', undefined, 'flags', false],
  ['/flags', '2', true, 'flags', true],
  ['/flags', '1', undefined, 'legacy', false],
  ['/flags', '0', undefined, 'legacy', false],
  ['/flags', '-1', undefined, 'legacy', false],
  ['/flags', 'two', undefined, 'legacy', false],
  ['/flags', undefined, true, 'legacy', true],
  ['/flags', undefined, false, 'legacy', false],
  ['/decide', undefined, undefined, 'decide_keys', true],
  ['/decide/', '1', undefined, 'decide_keys', true],
  ['/decide', '2', undefined, 'decide_enabled', true],
  ['/decide', '3', undefined, 'legacy', true],
  ['/decide/', '4', false, 'flags', false],
] as const)(
  'On %s version %s with config %s gives %s, settings: %s',
  (path, version, config, shape, withConfig) => {
    expect(readWantedReply(path, version, config)).toEqual({ shape, withConfig });
  },
);
