import { invalidField } from '../common/refusal.ts';
import type { PersonReferences } from '../persons/person-references.ts';

const DISTINCT_ID_HEADERS: ReadonlySet<string> = new Set(['distinct_id', 'distinct-id']);
const PERSON_ID_HEADERS: ReadonlySet<string> = new Set(['person_id', 'person-id', 'uuid']);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ID_MAX_LENGTH = 400;
const IDS_MAX = 200_000;
/** Beyond the ids there may be names of columns, and some rows without an id. */
const ROWS_MAX = 2 * IDS_MAX;

/**
 * Reads the ids out of a CSV file (RFC 4180). A first row that names a column of distinct ids or
 * person ids says where they are; without one the first column holds distinct ids. Empty cells are
 * passed over. Throws 400 for what cannot be read, with the line.
 */
export function readMembersCsv(text: string): PersonReferences {
  const content = text.startsWith('\ufeff') ? text.slice(1) : text;
  const rows = content.includes('"') ? parseCsv(content) : splitPlain(content);
  const [first = []] = rows;
  const names = first.map((cell) => cell.trim().toLowerCase());
  const distinctIdColumn = names.findIndex((name) => DISTINCT_ID_HEADERS.has(name));
  const personIdColumn = names.findIndex((name) => PERSON_ID_HEADERS.has(name));
  const hasHeader = distinctIdColumn !== -1 || personIdColumn !== -1;
  const isByUuid = distinctIdColumn === -1 && personIdColumn !== -1;
  const column = isByUuid ? personIdColumn : Math.max(0, distinctIdColumn);
  const ids: string[] = [];
  for (const [index, row] of rows.entries()) {
    if (hasHeader && index === 0) continue;
    const id = (row[column] ?? '').trim();
    if (id === '') continue;
    checkId(id, index + 1, isByUuid);
    ids.push(id);
  }
  if (ids.length === 0) throw invalidField('csv', 'The CSV file contains no ids.');
  if (ids.length > IDS_MAX) throw tooMany();
  return isByUuid ? { uuids: ids, distinctIds: [] } : { uuids: [], distinctIds: ids };
}

function checkId(id: string, row: number, isByUuid: boolean): void {
  if (isByUuid && !UUID.test(id)) throw invalidField('csv', `Row ${row}: this is no person id.`);
  if (id.length > ID_MAX_LENGTH) {
    throw invalidField('csv', `Row ${row}: an id has at most ${ID_MAX_LENGTH} characters.`);
  }
}

function tooMany(): Error {
  return invalidField('csv', `A CSV file may have at most ${IDS_MAX} ids; send it in parts.`);
}

function tooManyRows(): Error {
  return invalidField('csv', `A CSV file may have at most ${ROWS_MAX} rows; send it in parts.`);
}

/** The same without quotation marks, which most files are, and without a look at each character. */
function splitPlain(text: string): string[][] {
  const lines = text.replaceAll('\r', '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (lines.length > ROWS_MAX) throw tooManyRows();
  return lines.map((line) => line.split(','));
}

/** Where reading a file is: the finished rows, the cells of this one, and the text of this cell. */
interface CsvState {
  readonly rows: string[][];
  row: string[];
  cell: string;
  /** Nothing but space is in this cell so far; asking the text each time would read it anew. */
  isBlank: boolean;
  isQuoted: boolean;
}

function parseCsv(text: string): string[][] {
  const state: CsvState = { rows: [], row: [], cell: '', isBlank: true, isQuoted: false };
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (state.isQuoted) {
      if (character !== '"') state.cell += character;
      else if (text.charAt(at + 1) === '"') {
        state.cell += '"';
        at += 1;
      } else state.isQuoted = false;
    } else if (character === '"' && state.isBlank) {
      state.cell = '';
      state.isBlank = false;
      state.isQuoted = true;
    } else if (character === ',') endCell(state);
    else if (character === '\n') endRow(state);
    else if (character !== '\r') {
      state.cell += character;
      state.isBlank &&= character.trim() === '';
    }
  }
  if (state.isQuoted) throw invalidField('csv', 'The CSV file ends inside quotation marks.');
  if (state.cell !== '' || state.row.length > 0) endRow(state);
  return state.rows;
}

function endCell(state: CsvState): void {
  state.row.push(state.cell);
  state.cell = '';
  state.isBlank = true;
}

function endRow(state: CsvState): void {
  endCell(state);
  state.rows.push(state.row);
  state.row = [];
  if (state.rows.length > ROWS_MAX) throw tooManyRows();
}
