import { describe, expect, it } from 'vitest';
import type { RequestOrigin } from '../../operations/operation.ts';
import { offsetLinks, PAGE_MAX, pageLinks, pageSize } from './pagination.ts';

const URL_START = 'https://flags.example.com/api/projects/1/feature_flags/';

function originWith(rawQuery: Record<string, string> = {}): RequestOrigin {
  return {
    baseUrl: 'https://flags.example.com',
    path: '/api/projects/1/feature_flags/',
    rawQuery,
    headers: {},
    requestId: 'id',
    receivedAt: new Date(0),
  };
}

describe('pageSize', () => {
  it.each([
    [undefined, 100],
    [0, 100],
    [1, 1],
    [PAGE_MAX, PAGE_MAX],
    [PAGE_MAX + 1, PAGE_MAX],
    [2_147_483_647, PAGE_MAX],
  ])('for a limit of %s is %d', (limit, size) => {
    expect(pageSize(limit, 100)).toBe(size);
  });
});

describe('offsetLinks', () => {
  it.each([
    ['the only page', 10, 0, 10, null, null],
    ['no entry at all', 10, 0, 0, null, null],
    ['the first page', 10, 0, 11, '?limit=10&offset=10', null],
    ['a page in the middle', 10, 20, 40, '?limit=10&offset=30', '?limit=10&offset=10'],
    ['the second page', 10, 10, 20, null, '?limit=10'],
    ['a page that starts within the first', 10, 3, 30, '?limit=10&offset=13', '?limit=10'],
    ['a page behind the end', 10, 100, 5, null, '?limit=10&offset=90'],
  ])('of %s', (_what, limit, offset, total, next, previous) => {
    const link = (search: string | null) => (search === null ? null : `${URL_START}${search}`);
    expect(offsetLinks(originWith(), { limit, offset, total })).toEqual({
      next: link(next),
      previous: link(previous),
    });
  });

  it('keeps the other parameters, escaped', () => {
    const origin = originWith({ search: 'a&b=ü', offset: '0', active: 'true' });
    const { next } = offsetLinks(origin, { limit: 1, offset: 0, total: 2 });
    expect(next).toBe(`${URL_START}?active=true&limit=1&offset=1&search=a%26b%3D%C3%BC`);
  });
});

describe('pageLinks', () => {
  it.each([
    ['the only page', 10, 1, 10, null, null],
    ['the first page', 10, 1, 11, '?limit=10&page=2', null],
    ['a page in the middle', 10, 2, 21, '?limit=10&page=3', '?limit=10&page=1'],
    ['the last page', 10, 3, 21, null, '?limit=10&page=2'],
    ['a page behind the end', 10, 9, 21, null, '?limit=10&page=8'],
  ])('of %s', (_what, limit, page, total, next, previous) => {
    const link = (search: string | null) => (search === null ? null : `${URL_START}${search}`);
    expect(pageLinks(originWith(), { limit, page, total })).toEqual({
      next: link(next),
      previous: link(previous),
    });
  });
});
