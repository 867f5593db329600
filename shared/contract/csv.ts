/*
 * CSV for a spreadsheet (RFC 4180). Names come from outside, so a cell may look like a formula. A spreadsheet may split
 * the file at a semicolon or a tab instead of the comma. A cell then begins within a field. Spreadsheets read
 * full-width and small forms of a sign, and the Unicode minus sign, like the ASCII sign.
 */

/** A place where a spreadsheet could begin a cell: the start of the field, or after a separator or a line break. */
const CELL_START = '(?<=^|[,;|\\t\\r\\n])';
/**
 * Spaces, quotes and apostrophes may precede the sign of a formula. If a formula begins with an apostrophe, it gets a
 * second apostrophe.
 */
const FORMULA = '(?=[\\s\'"]*[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212])';

const UNGUARDED = new RegExp(CELL_START + FORMULA, 'g');
const GUARDED = new RegExp(`${CELL_START}'${FORMULA}`, 'g');

/** Returns a line without its line break, in which every field is quoted and no cell is a formula. */
export const csvLine = (fields: readonly string[]): string =>
  fields.map((field) => `"${field.replace(UNGUARDED, "'").replaceAll('"', '""')}"`).join(',');

/** Removes the apostrophes that `csvLine` added. */
export const withoutGuards = (field: string): string => field.replace(GUARDED, '');
