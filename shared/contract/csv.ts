/*
 * CSV for a spreadsheet (RFC 4180). Names are external text, so a cell may look like a formula. A spreadsheet may also
 * split the file at another separator than the comma, and then a cell begins within a field. Spreadsheets read the
 * full-width and small signs, and the minus sign, as the plain ones.
 */

/** A place where a spreadsheet could begin a cell: the start of the field, or after a separator or a line break. */
const CELL_START = '(?<=^|[,;|\\t\\r\\n])';
/**
 * Spaces, quotes and apostrophes may precede the sign of a formula. A text that already has an apostrophe gets another
 * one.
 */
const FORMULA = '(?=[\\s\'"]*[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212])';

const UNGUARDED = new RegExp(CELL_START + FORMULA, 'g');
const GUARDED = new RegExp(`${CELL_START}'${FORMULA}`, 'g');

/** Writes one line without its end. Every field is quoted. Each formula gets an apostrophe, so it remains text. */
export const csvLine = (fields: readonly string[]): string =>
  fields.map((field) => `"${field.replace(UNGUARDED, "'").replaceAll('"', '""')}"`).join(',');

/** Removes the apostrophes that `csvLine` added. */
export const withoutGuards = (field: string): string => field.replace(GUARDED, '');
