import type { RequestOrigin } from '../../operations/operation.ts';

/** The largest page; a larger `limit` is read as this one. */
export const PAGE_MAX = 1_000;

/** The page size that a client asked for, within bounds. 0 asks for the default. */
export function pageSize(limit: number | undefined, defaultSize: number): number {
  if (limit === undefined || limit === 0) return defaultSize;
  return Math.min(limit, PAGE_MAX);
}

/** Links to the pages beside one that is told by limit and offset. Other parameters are kept. */
export function offsetLinks(
  origin: RequestOrigin,
  page: { readonly limit: number; readonly offset: number; readonly total: number },
): { next: string | null; previous: string | null } {
  const { limit, offset, total } = page;
  const following = offset + limit;
  const preceding = offset - limit;
  return {
    next: following < total ? link(origin, { limit, offset: following }) : null,
    previous:
      offset > 0 ? link(origin, { limit, offset: preceding > 0 ? preceding : undefined }) : null,
  };
}

/** Links to the pages beside one that is told by limit and page number. */
export function pageLinks(
  origin: RequestOrigin,
  position: { readonly limit: number; readonly page: number; readonly total: number },
): { next: string | null; previous: string | null } {
  const { limit, page, total } = position;
  return {
    next: page * limit < total ? link(origin, { limit, page: page + 1 }) : null,
    previous: page > 1 ? link(origin, { limit, page: page - 1 }) : null,
  };
}

/** The link to the page that begins after `cursor`, or null when there is none. */
export function cursorLink(
  origin: RequestOrigin,
  page: { readonly limit: number; readonly cursor: number | string | null },
): string | null {
  return page.cursor === null ? null : link(origin, { limit: page.limit, cursor: page.cursor });
}

/** The same request with other parameters, sorted by name; undefined leaves a parameter out. */
function link(
  origin: RequestOrigin,
  changes: Readonly<Record<string, number | string | undefined>>,
): string {
  const query = new URLSearchParams(origin.rawQuery);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) query.delete(name);
    else query.set(name, String(value));
  }
  query.sort();
  const search = query.toString();
  return `${origin.baseUrl}${origin.path}${search === '' ? '' : `?${search}`}`;
}
