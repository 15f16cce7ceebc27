import { describe, expect, it } from 'vitest';
import { readMembersCsv } from './members-csv.ts';

describe('readMembersCsv', () => {
  it.each([
    ['ann\nbob\n', ['ann', 'bob']],
    ['name,distinct_id\r\nAnn,ann\r\n', ['ann']],
    ['"a ""b"", c"\n  "d" \n\n', ['a "b", c', 'd']],
    ['a"b\n', ['a"b']],
    ['""\nx\n', ['x']],
  ])('reads %j', (text, distinctIds) => {
    expect(readMembersCsv(text)).toEqual({ uuids: [], distinctIds });
  });

  it('refuses a cell full of quotation marks as quickly as any other', () => {
    const hostile = `a${'"'.repeat(2_000_000)}`;
    expect(() => readMembersCsv(hostile)).toThrow('Row 1: an id has at most 400 characters.');
  });
});
