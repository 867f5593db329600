import type { LineError } from '../../contract/answers.ts';
import { MAX_ID_LENGTH, MAX_NAME_LENGTH } from '../../contract/events/bounds.ts';
import type { CsvRecord, Layout } from './header.ts';

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
