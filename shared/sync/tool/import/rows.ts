import { MAX_ID_LENGTH, MAX_NAME_LENGTH } from '../../../contract/events/bounds.ts';
import type { LineError } from '../events.ts';
import type { CsvRecord } from './csv.ts';

/** One membership, as a line of the file says it. */
export interface Row {
  readonly line: number;
  readonly group: string;
  readonly name: string;
  readonly member: string;
  /** Empty where the file gives none. */
  readonly email: string;
}

export const COLUMNS = ['group id', 'group name', 'member id', 'email'] as const;

const MAX_EMAIL_LENGTH = 320;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be
const CONTROL = /[\u0000-\u001f\u007f\ufffe\uffff]|\p{Surrogate}/u;

/**
 * Whether a first record is a header: its names are the columns', however they are written ("Group ID", "group_id").
 */
export function isHeader({ fields }: CsvRecord): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
  return (
    fields.length >= 3 && COLUMNS.slice(0, 3).every((name, at) => plain(fields[at] ?? '') === plain(name))
  );
}

/** @returns the row, or what is wrong with the line. A line without a member only says that the group exists. */
export function readRow({ line, fields, problem }: CsvRecord): Row | LineError {
  if (problem !== undefined) return { line, message: problem };
  if (fields.length < 3 || fields.length > 4) {
    return { line, message: `expected ${COLUMNS.join(', ')}, got ${fields.length} fields` };
  }
  const [group = '', name = '', member = '', email = ''] = fields.map((field) => field.trim());
  const message =
    lengthProblem('group id', group, 1, MAX_ID_LENGTH) ??
    lengthProblem('group name', name, 1, MAX_NAME_LENGTH) ??
    lengthProblem('member id', member, 0, MAX_ID_LENGTH) ??
    lengthProblem('email', email, 0, MAX_EMAIL_LENGTH) ??
    (member === '' && email !== '' ? 'expected a member id beside the email' : undefined);
  return message === undefined ? { line, group, name, member, email } : { line, message };
}

function lengthProblem(what: string, text: string, least: number, most: number): string | undefined {
  if (text.length < least) return `expected a ${what}, got nothing`;
  if (text.length > most) return `expected a ${what} of at most ${most} characters, got ${text.length}`;
  return CONTROL.test(text) ? `expected a ${what} without control characters` : undefined;
}
