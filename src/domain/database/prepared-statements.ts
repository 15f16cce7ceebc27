/** A statement that each connection prepares once, with the text that PostgreSQL takes. */
export interface PreparedStatement {
  readonly name: string;
  readonly text: string;
}

const preparedStatements = new Map<string, PreparedStatement>();

const preparedNames = new Set<string>();

/**
 * The same statement, which a pipelined transaction has PostgreSQL parse and plan once for each
 * connection and not each time. Its plan stays while tables grow from nothing to millions of rows:
 * what looks anything up has to be written so that only an index can serve it, row by row, that is
 * as `CROSS JOIN LATERAL (... LIMIT 1)`.
 */
export function preparedOnce(name: string, sql: string): string {
  if (preparedNames.has(name)) throw new Error(`Two statements have the name ${name}.`);
  preparedNames.add(name);
  preparedStatements.set(sql, { name, text: numberBindings(sql) });
  return sql;
}

/** The prepared statement with this text; undefined for any other. */
export function findPrepared(sql: string): PreparedStatement | undefined {
  return preparedStatements.get(sql);
}

/** The statement as PostgreSQL takes it: `$1` for the first `?`, and so on. */
export function numberBindings(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => {
    count += 1;
    return `$${count}`;
  });
}
