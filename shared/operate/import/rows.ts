import type { LineError } from '../../contract/answers.ts';
import { MAX_ID_LENGTH, MAX_NAME_LENGTH } from '../../contract/events/bounds.ts';

/** One record of a CSV file, with the line on which it begins (from 1). */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
  /** What is wrong with its form; nothing behind it can be read. */
  readonly problem?: string;
}

export type Column = 'group id' | 'group name' | 'member id' | 'email';

/** In which field of a record each column stands, and how many fields a record has. */
export interface Layout {
  readonly at: { readonly 'group id': number; readonly 'member id': number } & {
    readonly 'group name': number;
    readonly email?: number;
  };
  readonly fields: number;
  /** Columns of the header that mean nothing to us. */
  readonly ignored: readonly string[];
  /** Whether the first record is a header, so not a row. */
  readonly hasHeader: boolean;
}

/** Usual spellings of each column, without case, spaces and punctuation. */
export const SPELLINGS: Readonly<Record<Column, readonly string[]>> = {
  'group id': ['groupid', 'groupidentifier', 'groupexternalid', 'groupobjectid'],
  'group name': ['groupname', 'groupdisplayname', 'groupdisplay', 'grouptitle'],
  'member id': ['memberid', 'userid', 'personid', 'memberexternalid', 'memberobjectid', 'userobjectid'],
  email: ['email', 'emailaddress', 'mail', 'memberemail', 'membermail', 'useremail', 'usermail'],
};
const COLUMNS = Object.keys(SPELLINGS) as readonly Column[];
const REQUIRED = ['group id', 'group name', 'member id'] as const;

const AS_DOCUMENTED: Layout = {
  at: { 'group id': 0, 'group name': 1, 'member id': 2, email: 3 },
  fields: COLUMNS.length,
  ignored: [],
  hasHeader: false,
};

/**
 * Where the columns of a file are, by its first record: a header in any order, or a row of the documented four columns.
 * Anything else is refused: read as a row it would be written to the platform as a group.
 */
export function readLayout({ line, fields, problem }: CsvRecord, headings?: Headings): Layout | Unread {
  if (problem !== undefined) return { line, message: problem };
  const isHeader = !fields.some((field) => field.includes('@'));
  const example = isHeader ? exampleOf(fields) : undefined;
  const sign = [';', '\t', '|'].find((one) => fields.some((field) => field.includes(one)));
  const separated = sign === undefined ? '' : `; --delimiter '${sign}' if that separates the columns`;
  const read = readFirst(line, fields, headings);
  if (!('message' in read)) return read;
  return { line, message: `${read.message}${separated}`, ...(example !== undefined && { columns: example }) };
}

function readFirst(line: number, fields: readonly string[], headings?: Headings): Layout | LineError {
  if (headings !== undefined) return readNamed(line, fields, headings);
  const columns = fields.map(columnOf);
  const known = columns.filter((column) => column !== undefined).length;
  // An address stands in no header, and a group may be called "Mail".
  if (known > 0 && !fields.some((field) => field.includes('@'))) return readHeader(line, fields, columns);
  const email = fields[3]?.trim();
  const isRow = fields.length === COLUMNS.length && known < 2 && (email === '' || email?.includes('@'));
  if (isRow) return AS_DOCUMENTED;
  const expected = `a header with the columns ${COLUMNS.join(', ')} in any order, or a row of these four`;
  return { line, message: `expected ${expected}, got ${countOf(fields)}: ${shown(fields)}` };
}

/** Why a file cannot be read; and what its own headings could be called as, where they look like some. */
type Unread = LineError & { readonly columns?: string };

/** An example of what `--columns` takes, of the headings that came. Signs in them do not count. */
function exampleOf(fields: readonly string[]): string | undefined {
  const headings = fields.map((field) => field.replace(/[,='"]/g, '').trim()).filter((field) => field !== '');
  const email = headings.find((field) => /mail/i.test(field));
  const [group, ...others] = headings.filter((field) => field !== email);
  const [name, member = email] = others.length > 1 ? others : [undefined, others[0]];
  const given = { group, name, member, email: member === email ? undefined : email };
  if (group === undefined || member === undefined) return undefined;
  return Object.entries(given)
    .flatMap(([key, heading]) => (heading === undefined ? [] : `${key}=${heading}`))
    .join(',');
}

/** Headings that a person gave, for columns that are called otherwise than usual. */
export type Headings = ReadonlyMap<Column, string>;

/** What `--columns` calls the columns. */
export const COLUMN_KEYS: ReadonlyMap<string, Column> = new Map([
  ['group', 'group id'],
  ['name', 'group name'],
  ['member', 'member id'],
  ['email', 'email'],
]);

/** Without a column of names a group is called by its id; a member who is an address has that address. */
function readNamed(line: number, fields: readonly string[], headings: Headings): Layout | LineError {
  const plain = fields.map(plainOf);
  const given = new Map([...headings].map(([column, heading]) => [column, plain.indexOf(plainOf(heading))]));
  const missing = [...headings].find(([column]) => given.get(column) === -1)?.[1];
  if (missing !== undefined) return { line, message: `expected a column "${missing}", got ${shown(fields)}` };
  const usual = fields.map((field, at) => ([...given.values()].includes(at) ? undefined : columnOf(field)));
  const at = (column: Column) => given.get(column) ?? usual.indexOf(column);
  const [group, member, email] = [at('group id'), at('member id'), at('email')];
  if (group < 0 || member < 0) {
    return { line, message: `--columns: expected group=… and member=…, got ${shown(fields)}` };
  }
  return headed(fields, [group, at('group name') < 0 ? group : at('group name'), member], email);
}

/** @param email below 0 where no column has addresses */
function headed(fields: readonly string[], places: readonly number[], email: number): Layout {
  const [group = 0, name = 0, member = 0] = places;
  return {
    at: { 'group id': group, 'group name': name, 'member id': member, ...(email < 0 ? {} : { email }) },
    fields: fields.length,
    ignored: fields.filter((_, at) => at !== email && !places.includes(at)).map((field) => field.trim()),
    hasHeader: true,
  };
}

function readHeader(line: number, fields: readonly string[], columns: readonly (Column | undefined)[]) {
  const twice = COLUMNS.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (twice !== undefined) {
    return { line, message: `expected one column ${twice}, got more than one: ${shown(fields)}` };
  }
  const missing = REQUIRED.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    const wanted = `${missing.length === 1 ? 'a column' : 'columns'} ${missing.join(', ')}`;
    return { line, message: `expected ${wanted} in the header, got ${shown(fields)}` };
  }
  const places = REQUIRED.map((column) => columns.indexOf(column));
  return headed(fields, places, columns.indexOf('email'));
}

function columnOf(field: string): Column | undefined {
  const plain = plainOf(field);
  return COLUMNS.find((column) => SPELLINGS[column].includes(plain));
}

const plainOf = (field: string): string => field.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const MAX_SHOWN = 200;

const countOf = ({ length }: readonly string[]) => `${length} ${length === 1 ? 'field' : 'fields'}`;
const shown = (fields: readonly string[]) =>
  fields
    .map((field) => JSON.stringify(field))
    .join(', ')
    .slice(0, MAX_SHOWN);

/** One membership, as a line of the file says it. */
export interface Row {
  readonly line: number;
  readonly group: string;
  readonly name: string;
  readonly member: string;
  /** Empty where the file gives none. */
  readonly email: string;
}

const MAX_EMAIL_LENGTH = 320;
const ADDRESS = /^[^\s@,;<>]+@[^\s@,;<>]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be
const CONTROL = /[\u0000-\u001f\u007f\ufffe\uffff]|\p{Surrogate}/u;

/** @returns the row, or what is wrong with the line. A line without a member only says that the group exists. */
export function readRow({ line, fields, problem }: CsvRecord, layout: Layout): Row | LineError {
  if (problem !== undefined) return { line, message: problem };
  const { at } = layout;
  // A last address that is empty may be left out, with its comma.
  const least = at.email === layout.fields - 1 ? layout.fields - 1 : layout.fields;
  if (fields.length < least || fields.length > layout.fields) {
    return { line, message: `expected ${layout.fields} fields, as in the first line, got ${fields.length}` };
  }
  const field = (index: number | undefined) => (index === undefined ? '' : (fields[index] ?? '').trim());
  const [group, name, member] = [field(at['group id']), field(at['group name']), field(at['member id'])];
  const email = at.email === undefined && ADDRESS.test(member) ? member : field(at.email);
  const message =
    lengthProblem('group id', group, 1, MAX_ID_LENGTH) ??
    lengthProblem('group name', name, 1, MAX_NAME_LENGTH) ??
    lengthProblem('member id', member, 0, MAX_ID_LENGTH) ??
    lengthProblem('email', email, 0, MAX_EMAIL_LENGTH) ??
    (email !== '' && !ADDRESS.test(email)
      ? `expected an e-mail address, got "${email.slice(0, 80)}"`
      : undefined) ??
    (member === '' && email !== '' ? 'expected a member id beside the email' : undefined);
  return message === undefined ? { line, group, name, member, email } : { line, message };
}

function lengthProblem(what: string, text: string, least: number, most: number): string | undefined {
  if (text.length < least) return `expected a ${what}, got nothing`;
  if (text.length > most) return `expected a ${what} of at most ${most} characters, got ${text.length}`;
  return CONTROL.test(text) ? `expected a ${what} without control characters` : undefined;
}
