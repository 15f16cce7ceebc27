import type { Knex } from 'knex';

/** How each name of an order is read; text without regard to its case. */
const COLUMNS = {
  id: 'id',
  key: 'lower(key)',
  name: 'lower(name)',
  active: 'active',
  created_at: 'created_at',
  updated_at: 'updated_at',
  last_called_at: 'last_called_at',
  version: 'version',
  created_by: 'created_by',
  evaluation_runtime: 'evaluation_runtime',
} as const;

type OrderName = keyof typeof COLUMNS;

/** An order of flags: the name of a column, with `-` before it for the highest first. */
export type FlagOrder = OrderName | `-${OrderName}`;

export const NEWEST_FIRST: FlagOrder = '-created_at';

const NULLABLE: ReadonlySet<string> = new Set(['last_called_at', 'created_by']);

/** Sorts a query on `feature_flags`, flags without a value last. For Knex's `modify`. */
export function applyFlagOrder(query: Knex.QueryBuilder, order: FlagOrder): void {
  const isDescending = order.startsWith('-');
  const name = order.replace(/^-/, '');
  const direction = isDescending ? 'DESC' : 'ASC';
  const column = isOrderName(name) ? COLUMNS[name] : COLUMNS.created_at;
  const nulls = NULLABLE.has(column) ? ' NULLS LAST' : '';
  // Ties are broken by id, so that no flag is on two pages or on none.
  query.orderByRaw(`${column} ${direction}${nulls}, id ${direction}`);
}

function isOrderName(name: string): name is OrderName {
  return Object.hasOwn(COLUMNS, name);
}
