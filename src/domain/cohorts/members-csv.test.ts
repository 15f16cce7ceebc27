import { describe, expect, it } from 'vitest';
import { readMembersCsv } from './members-csv.ts';

describe('readMembersCsv', () => {
  it.each([
    ['ann\nbob\n', ['ann', 'bob']],
    ['name,distinct_id\r\nAnn,ann\r\n', ['ann']],
    ['"a ""b"", c"\n  "d" \n\n', ['a "b", c', 'd']],
    ['a"b\n', ['a"b']],
    ['""\nx\n', ['x']],
    ['\ufeffDistinct-ID,x\n ann ,1\nbob', ['ann', 'bob']],
    ['żółć\n😀\n', ['żółć', '😀']],
  ])('reads %j', async (text, distinctIds) => {
    expect(await readMembersCsv(text)).toEqual({ uuids: [], distinctIds });
  });

  it('reads the ids of persons from their column', async () => {
    const id = '0192d3c2-7e5e-7bbb-8a0a-000000000001';
    const read = await readMembersCsv(`name,person_id\nAnn,${id}\n`);
    expect(read).toEqual({ uuids: [id], distinctIds: [] });
  });

  it('reads characters of several bytes wherever they are', async () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `😀${index}`);
    expect((await readMembersCsv(`x${ids.join('\r\n')}`)).distinctIds).toEqual([
      'x😀0',
      ...ids.slice(1),
    ]);
  });

  it('takes 200,000 ids beside the names of the columns, and no more', async () => {
    const ids = Array.from({ length: 200_000 }, (_, index) => `user-${index}`);
    const text = `distinct_id,plan\r\n${ids.map((id) => `${id},pro`).join('\r\n')}\r\n`;
    expect((await readMembersCsv(text)).distinctIds).toEqual(ids);
    await expect(readMembersCsv(`${text}one-more,pro`)).rejects.toThrow('at most 200000 ids;');
    await expect(readMembersCsv(',x\n'.repeat(400_001))).rejects.toThrow('at most 400000 lines;');
  });

  it.each(['a,b\r\n\n c ,d', 'distinct_id\n\n\nx\n', 'x', 'x\n\n', '\r\nx\r', 'a,\n,b\n,'])(
    'reads %j the same with and without quotation marks elsewhere',
    async (text) => {
      const quoted = `${text}${text.endsWith('\n') ? '' : '\n'}"last"`;
      const { distinctIds } = await readMembersCsv(quoted);
      expect(distinctIds).toEqual([...(await readMembersCsv(text)).distinctIds, 'last']);
    },
  );

  it('lets others have their turn while it reads', async () => {
    let turns = 0;
    let isReading = true;
    const count = () => {
      turns += 1;
      if (isReading) setImmediate(count);
    };
    setImmediate(count);
    await readMembersCsv(Array.from({ length: 100_000 }, (_, index) => `user-${index}`).join('\n'));
    isReading = false;
    expect(turns).toBeGreaterThan(50);
  });

  it.each([
    ['ann\nperson_id\n', { distinctIds: ['ann', 'person_id'] }],
    ['a"b"c\n', { distinctIds: ['a"b"c'] }],
  ])('takes %j as it is', async (text, expected) => {
    expect(await readMembersCsv(text)).toMatchObject(expected);
  });

  it.each([
    ['nothing', '', 'contains no ids'],
    ['an open quotation mark', 'x\n"a', 'ends inside quotation marks'],
    ['text behind a closing quotation mark', 'x\n"a"b\n', 'Row 2: not valid CSV.'],
    ['a person id that is none', 'uuid\nx', 'Row 2: not a person id.'],
    [
      'a cell full of quotation marks',
      `a${'"'.repeat(2_000_000)}`,
      'Row 1: an id has at most 400 characters.',
    ],
  ])('refuses %s', async (_name, text, detail) => {
    await expect(readMembersCsv(text)).rejects.toThrow(detail);
  });
});
