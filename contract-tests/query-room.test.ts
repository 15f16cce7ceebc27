import { expect, it } from 'vitest';
import { readContract } from './contract.ts';
import { entriesOf, pick } from './read.ts';

/** What the service takes in the head of a request, less what headers other than the query need. */
const ROOM_BYTES = 262_144 - 16_384;

/** A character takes up to four bytes, and each of them three when it is escaped. */
const BYTES_OF_A_CHARACTER = 12;

/** Numbers, dates, words from a list. */
const SHORT = 50;

const document = readContract();

function resolve(value: unknown): unknown {
  const reference = pick(value, '$ref');
  return typeof reference === 'string' ? pick(document, ...reference.split('/').slice(1)) : value;
}

function longestQuery(parameters: readonly unknown[]): number {
  return parameters
    .map(resolve)
    .filter((parameter) => pick(parameter, 'in') === 'query')
    .map((parameter) => {
      const schema = resolve(pick(parameter, 'schema'));
      const length = pick(schema, 'maxLength');
      return String(pick(parameter, 'name')).length + (typeof length === 'number' ? length : SHORT);
    })
    .reduce((sum, length) => sum + length, 0);
}

it('every query that the contract allows fits into the head of a request', () => {
  const tooLong = entriesOf(pick(document, 'paths')).flatMap(([path, item]) =>
    entriesOf(item)
      .filter(([, operation]) => pick(operation, 'operationId') !== undefined)
      .map(([method, operation]) => {
        const parameters = entriesOf(pick(operation, 'parameters')).map(([, each]) => each);
        return { method, path, bytes: longestQuery(parameters) * BYTES_OF_A_CHARACTER };
      })
      .filter(({ bytes }) => bytes > ROOM_BYTES),
  );
  expect(tooLong).toEqual([]);
});
