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

  it('takes 200,000 ids beside the names of the columns, and no more', () => {
    const ids = Array.from({ length: 200_000 }, (_, index) => `user-${index}`);
    const text = `distinct_id,plan\n${ids.map((id) => `${id},pro`).join('\n')}\n`;
    expect(readMembersCsv(text).distinctIds).toEqual(ids);
    expect(() => readMembersCsv(`${text}one-more,pro`)).toThrow('at most 200000 ids;');
    expect(() => readMembersCsv('"",x\n'.repeat(400_001))).toThrow('at most 400000 rows;');
    expect(() => readMembersCsv(',x\n'.repeat(400_001))).toThrow('at most 400000 rows;');
  });

  it.each(['a,b\r\n\n c ,d', 'distinct_id\n\n\nx\n', 'x', 'x\n\n', '\r\nx\r', 'a,\n,b\n,'])(
    'reads %j the same with and without quotation marks elsewhere',
    (text) => {
      const quoted = `${text}${text.endsWith('\n') ? '' : '\n'}"last"`;
      const { distinctIds } = readMembersCsv(quoted);
      expect(distinctIds).toEqual([...readMembersCsv(text).distinctIds, 'last']);
    },
  );

  it('refuses a cell full of quotation marks as quickly as any other', () => {
    const hostile = `a${'"'.repeat(2_000_000)}`;
    expect(() => readMembersCsv(hostile)).toThrow('Row 1: an id has at most 400 characters.');
  });
});
