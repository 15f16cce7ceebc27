import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';
import { LargeWork } from '../common/large-work.ts';
import { invalidField } from '../common/refusal.ts';
import type { PersonReferences } from '../persons/person-references.ts';

const DISTINCT_ID_HEADERS: ReadonlySet<string> = new Set(['distinct_id', 'distinct-id']);
const PERSON_ID_HEADERS: ReadonlySet<string> = new Set(['person_id', 'person-id', 'uuid']);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ID_MAX_LENGTH = 400;
const IDS_MAX = 200_000;
/** Beyond the ids there may be names of columns, and some rows without an id. */
const LINES_MAX = 2 * IDS_MAX;

/** As much as is parsed before other requests have their turn: up to 40 ms of processor time. */
const SLICE_BYTES = 16_384;

/** A parser leaves much more garbage than text, so files are read one after the other. */
const turns = new LargeWork({ maxWaitMs: 30_000 });

/**
 * Reads the ids out of a CSV file (RFC 4180). A first row that names a column of distinct ids or
 * person ids says where they are; without one the first column holds distinct ids. Empty cells are
 * ignored. Rejects with 400 for what cannot be read, with the row, and with 503 after a long wait for
 * other files.
 */
export async function readMembersCsv(text: string): Promise<PersonReferences> {
  const turn = {};
  await turns.enter(turn);
  try {
    return await readIds(text);
  } finally {
    turns.leave(turn);
  }
}

async function readIds(text: string): Promise<PersonReferences> {
  if (countLines(text) > LINES_MAX) throw tooMany('lines', LINES_MAX);
  const ids: string[] = [];
  let column: IdColumn | undefined;
  await forEachRow(text, (row, number) => {
    if (column === undefined) {
      column = findColumn(row);
      if (column.isNamed) return;
    }
    const id = row[column.index] ?? '';
    if (id === '') return;
    validateId(id, number, column.isByUuid);
    if (ids.length === IDS_MAX) throw tooMany('ids', IDS_MAX);
    ids.push(id);
  });
  if (ids.length === 0) throw invalidField('csv', 'The CSV file contains no ids.');
  return column?.isByUuid ? { uuids: ids, distinctIds: [] } : { uuids: [], distinctIds: ids };
}

/** The column that holds the ids. */
interface IdColumn {
  readonly index: number;
  readonly isByUuid: boolean;
  /** Whether the first row names it, and is not the first id itself. */
  readonly isNamed: boolean;
}

function findColumn(firstRow: readonly string[]): IdColumn {
  const names = firstRow.map((cell) => cell.toLowerCase());
  const distinctId = names.findIndex((name) => DISTINCT_ID_HEADERS.has(name));
  if (distinctId !== -1) return { index: distinctId, isByUuid: false, isNamed: true };
  const personId = names.findIndex((name) => PERSON_ID_HEADERS.has(name));
  if (personId !== -1) return { index: personId, isByUuid: true, isNamed: true };
  return { index: 0, isByUuid: false, isNamed: false };
}

function validateId(id: string, row: number, isByUuid: boolean): void {
  if (isByUuid && !UUID.test(id)) throw invalidField('csv', `Row ${row}: not a person id.`);
  if (id.length > ID_MAX_LENGTH) {
    throw invalidField('csv', `Row ${row}: an id has at most ${ID_MAX_LENGTH} characters.`);
  }
}

/** Parses the text in slices. Rows are numbered from 1; their cells have no space around them. */
async function forEachRow(
  text: string,
  take: (row: readonly string[], number: number) => void,
): Promise<void> {
  let number = 0;
  const parser = parse({
    bom: true,
    trim: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // A quotation mark inside a cell that is not quoted is a character like any other.
    relax_quotes: true,
    on_record(row) {
      number += 1;
      take(row, number);
      // What is taken here is not kept by the parser.
      return null;
    },
  });
  try {
    await pipeline(slicesOf(Buffer.from(text)), parser);
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error, number + 1) : error;
  }
}

/** Counted before anything is parsed: a row costs more than a character. */
function countLines(text: string): number {
  return Math.max(countOf(text, '\n'), countOf(text, '\r'));
}

function countOf(text: string, mark: string): number {
  let count = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) count += 1;
  return count;
}

async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
    await nextTurn();
  }
}

function unreadable(error: CsvError, row: number): Error {
  return error.code === 'CSV_QUOTE_NOT_CLOSED'
    ? invalidField('csv', 'The CSV file ends inside quotation marks.')
    : invalidField('csv', `Row ${row}: not valid CSV.`);
}

function tooMany(what: string, limit: number): Error {
  return invalidField('csv', `A CSV file may have at most ${limit} ${what}; send it in parts.`);
}
