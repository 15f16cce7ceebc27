import { validate, version } from 'uuid';
import { expect, it } from 'vitest';
import { newUuid } from './new-uuid.ts';

it('makes uuids of version 7 that sort in the order in which they are made', () => {
  const made = Array.from({ length: 5_000 }, newUuid);
  expect(made.every((uuid) => validate(uuid) && version(uuid) === 7)).toBe(true);
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});
