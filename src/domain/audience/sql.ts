import type { Db } from '../database/db.ts';

/** What can be bound to a statement. */
export type SqlValue = string | number | boolean | readonly string[];

/** A piece of SQL with the values that are bound to it. */
export class Sql {
  readonly parts: readonly (string | Sql | { readonly bound: SqlValue })[];

  constructor(parts: Sql['parts']) {
    this.parts = parts;
  }
}

/** Builds SQL: other pieces are put in as they are, everything else is bound. */
export function sql(texts: TemplateStringsArray, ...inserted: readonly (Sql | SqlValue)[]): Sql {
  return new Sql(
    texts.flatMap((text, index) => {
      const part = inserted[index];
      if (part === undefined) return [text];
      return [text, part instanceof Sql ? part : { bound: part }];
    }),
  );
}

/** Pieces of SQL with a text between them. */
export function joinSql(pieces: readonly Sql[], between: string): Sql {
  return new Sql(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece])));
}

/** The statement with numbered places, as `pg` takes it. A value that recurs is sent once. */
export function renderSql(statement: Sql): { text: string; values: SqlValue[] } {
  const places = new Map<SqlValue, number>();
  const render = (piece: Sql): string =>
    piece.parts
      .map((part) => {
        if (typeof part === 'string') return part;
        if (part instanceof Sql) return render(part);
        const place = places.get(part.bound) ?? places.size + 1;
        places.set(part.bound, place);
        return `$${place}`;
      })
      .join('');
  return { text: render(statement), values: [...places.keys()] };
}

/** Runs a statement by way of the pool, or in the transaction that is handed in. */
export async function runSql<Row>(db: Db, statement: Sql): Promise<Row[]> {
  const values: (string | number | boolean | string[])[] = [];
  const render = (piece: Sql): string =>
    piece.parts
      .map((part) => {
        if (typeof part === 'string') return part.replaceAll('?', '\\?');
        if (part instanceof Sql) return render(part);
        values.push(typeof part.bound === 'object' ? [...part.bound] : part.bound);
        return '?';
      })
      .join('');
  const text = render(statement);
  return (await db.raw<{ rows: Row[] }>(text, values)).rows;
}
