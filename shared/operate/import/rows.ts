import { visibleText } from '../../contract/address.ts';
import type { LineError } from '../../contract/answers/files.ts';
import { withoutGuards } from '../../contract/csv.ts';
import { MAX_ID_LENGTH, MAX_NAME_LENGTH } from '../../contract/events/bounds.ts';
import { isVisible } from '../../domain/visible.ts';
import { ACTIVE, type Account, accountStateOf } from './account-state.ts';
import { type HeaderOptions, type Layout, layoutOf, type NoLayout, shown } from './columns.ts';
import { readHeading } from './headings.ts';

/** One record of a CSV file, with the line on which it begins (from 1). */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
  /** An error in the CSV syntax. The records after the error cannot be read. */
  readonly problem?: string;
}

const DOCUMENTED_FIELDS = 4;

const AS_DOCUMENTED: Layout = {
  fields: DOCUMENTED_FIELDS,
  hasHeader: false,
  ignored: [],
  group: { at: 0, isId: true, name: 1 },
  member: { at: 2, isId: true, mayBeName: false, email: 3, login: undefined, type: undefined },
  states: [],
  attributes: [],
};

/**
 * Finds the columns of a file by its first record. This record must be a header in any order, or a row with the
 * documented four columns. Any other record is refused, because a header that was read as a row would create a platform
 * group.
 */
export function readLayout({ line, fields, problem }: CsvRecord, options: HeaderOptions): Layout | LineError {
  if (problem !== undefined) return { line, message: problem };
  const read = readFirst(fields, options);
  return 'problem' in read ? { line, message: `${read.problem}${adviceFor(fields)}` } : read;
}

const OTHER_SEPARATORS = [';', '\t', '|'];

/** Returns the options that may help: for another separator, or for a header in a later line. */
function adviceFor(fields: readonly string[]): string {
  const sign = OTHER_SEPARATORS.find((one) => fields.some((field) => field.includes(one)));
  const delimiter = sign === undefined ? '' : `; use --delimiter '${sign}' if it separates the columns`;
  const hasHeading = fields.some((field) => readHeading(field) !== undefined);
  return `${delimiter}${hasHeading ? '' : '; use --skip-lines COUNT if the header is in a later line'}`;
}

/** A record with an address is not a header. Usual headings alone are no proof, because a group may be named "Mail". */
const isHeader = (fields: readonly string[]): boolean => !fields.some((field) => field.includes('@'));

function readFirst(fields: readonly string[], options: HeaderOptions): Layout | NoLayout {
  const read = options.headings === undefined && !isHeader(fields) ? undefined : layoutOf(fields, options);
  if (read !== undefined && !('problem' in read)) return read;
  if (isDocumentedRow(fields, options)) return AS_DOCUMENTED;
  if (read !== undefined) return read;
  const columns = 'group id, group name, member id, email';
  const expected = `a header with the columns ${columns} in any order${options.hasGroup ? '' : ', or a row of these four'}`;
  return { problem: `expected ${expected}, got ${shown(fields)}` };
}

/** True if a record is a row with the documented four columns. The fourth field must be an address or empty. */
function isDocumentedRow(fields: readonly string[], { headings, stateRules, hasGroup }: HeaderOptions) {
  const email = fields[DOCUMENTED_FIELDS - 1]?.trim();
  const hasAddress = email === '' || email?.includes('@') === true;
  // One usual heading may be the name of a group, such as "Mail". A record with two usual headings is a header.
  const isPlain = fields.filter((field) => readHeading(field) !== undefined).length < 2;
  const isUnguided = headings === undefined && !hasGroup && !stateRules?.length;
  return isUnguided && fields.length === DOCUMENTED_FIELDS && hasAddress && isPlain;
}

export interface Row {
  readonly line: number;
  readonly group: string;
  readonly name: string;
  /** Empty if the line only states that the group exists. */
  readonly member: string;
  /** Empty if the file has no address for the member. */
  readonly email: string;
  /** The attributes that the settings name, if the file has their columns. An empty value ends an earlier value. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Whether an undo adds or removes the member. The rows of a file have the kind of their file. */
  readonly kind?: 'add' | 'remove';
}

export type ReadRow = Row & {
  /** False if the row is about a group within the group, or about a device. */
  readonly isPerson: boolean;
  /** If the person's account is inactive, the row has no member. */
  readonly account: Account;
};

const MAX_EMAIL_LENGTH = 320;
/** The longest value of an attribute, in characters. In UTF-8, it is shorter than `MAX_ATTRIBUTE_BYTES`. */
const MAX_VALUE = 256;
const ADDRESS = /^[^\s@,;<>]+@[^\s@,;<>]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/u;
/** A long number that a spreadsheet has rounded: `1.16E+20`, or 15 digits followed by zeros. */
const ROUNDED = /^(?:-?\d(?:[.,]\d+)?E\+\d+|[1-9]\d{14}0{5,})$/i;
const NO_PERSON = /^(?:group|customer|device|computer|service ?principal)$/i;

export const isAddress = (text: string): boolean => ADDRESS.test(text);

/**
 * @param today the date (UTC) that decides whether an end date is past
 * @returns the row, or the error of the line. A row without a member only states that the group exists
 */
export function readRow(
  { line, fields, problem }: CsvRecord,
  layout: Layout,
  today: string,
): ReadRow | LineError {
  if (problem !== undefined) return { line, message: problem };
  const { group, member } = layout;
  // At the end of a line, an empty address and its comma may be missing.
  const least = member.email === layout.fields - 1 ? layout.fields - 1 : layout.fields;
  const further = fields.slice(layout.fields).some((field) => field.trim() !== '');
  if (fields.length < least || further) {
    return { line, message: `expected ${layout.fields} fields, as in the first line, got ${fields.length}` };
  }
  const field = (at: number | undefined) =>
    at === undefined ? '' : withoutGuards((fields[at] ?? '').trim());
  const isPerson = !NO_PERSON.test(field(member.type)) && !/^example:/i.test(field(member.at));
  const account = isPerson ? accountStateOf(layout.states, field, today) : ACTIVE;
  const isRead = isPerson && account.off === undefined;
  const person = isRead ? personOf(field, member) : NO_ONE;
  const named = layout.attributes.map(({ name, at }) => [name, field(at)]);
  const attributes = named.length > 0 && { attributes: Object.fromEntries(named) };
  const about = { group: field(group?.at), name: field(group?.name), ...person, ...attributes };
  const row = { line, ...about, isPerson, account };
  const message = isRead && row.member === '' ? lackOfMember(row, layout) : problemOf(row, layout);
  return message === undefined ? row : { line, message };
}

/**
 * Returns the error of a row without a member. Such a row must have the id of a group. A row with only a name could be
 * the total at the end of a report.
 */
function lackOfMember(row: Row, layout: Layout): string | undefined {
  const isNamedById = layout.group?.isId === true;
  return isNamedById ? problemOf(row, layout) : 'expected the id or address of a member, got nothing';
}

const NO_ONE = { member: '', email: '' };

function personOf(field: (at: number | undefined) => string, { at, isId, email, login }: Layout['member']) {
  const address = (column: number | undefined) => plainAddress(field(column));
  const own = isId ? field(at) : address(at);
  const given = address(email);
  const other = [address(login), own].find(isAddress) ?? '';
  // A user name that is not an address identifies the person only in the system that wrote the file.
  const isForeign = at === login && !isAddress(own) && isAddress(given);
  return { member: isForeign ? given : own, email: given === '' ? other : given };
}

/**
 * Returns the plain address from "Ann Archer <ann@acme.example>" or "mailto:ann@acme.example". Invisible characters
 * around the address are removed.
 */
function plainAddress(text: string): string {
  const visible = visibleText(text);
  return /^[^<>]*<([^<>]+)>$/.exec(visible)?.[1]?.trim() ?? visible.replace(/^mailto:/i, '');
}

function problemOf({ group, name, member, email, attributes = {} }: Row, layout: Layout) {
  const hasName = layout.group?.name !== undefined;
  return (
    (layout.group === undefined ? undefined : idProblem('group id', group, 1)) ??
    lengthProblem('group name', name, hasName ? 1 : 0, MAX_NAME_LENGTH) ??
    invisibleProblem(name) ??
    idProblem('member id', member, 0) ??
    (layout.member.isId ? undefined : unclearMember(member, layout.member)) ??
    lengthProblem('email', email, 0, MAX_EMAIL_LENGTH) ??
    (email !== '' && !isAddress(email)
      ? `expected an e-mail address, got "${email.slice(0, 80)}"`
      : undefined) ??
    (member === '' && email !== '' ? 'expected a member id next to the email' : undefined) ??
    Object.entries(attributes).flatMap(([key, value]) => lengthProblem(key, value, 0, MAX_VALUE) ?? [])[0]
  );
}

function unclearMember(member: string, { mayBeName }: Layout['member']): string | undefined {
  if (member.includes('@'))
    return isAddress(member) ? undefined : `expected a single address, got "${member.slice(0, 80)}"`;
  return mayBeName && member.includes(' ')
    ? `expected the id or address of a member, got "${member.slice(0, 80)}", which looks like a name`
    : undefined;
}

function idProblem(what: string, text: string, least: number): string | undefined {
  if (!ROUNDED.test(text)) return lengthProblem(what, text, least, MAX_ID_LENGTH);
  return `expected a ${what} of the directory, got "${text}", which a spreadsheet has rounded; export the file again and do not save it in a spreadsheet`;
}

function invisibleProblem(name: string): string | undefined {
  if (name === '' || isVisible(name)) return undefined;
  return `expected a group name with a visible character, got ${name.length} characters`;
}

function lengthProblem(what: string, text: string, least: number, most: number): string | undefined {
  if (text.length < least) return `expected a ${what}, got nothing`;
  if (text.length > most) return `expected a ${what} of at most ${most} characters, got ${text.length}`;
  return CONTROL.test(text) ? `expected a ${what} without control characters` : undefined;
}
