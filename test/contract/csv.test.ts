import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvLine, withoutGuards } from '../../shared/contract/csv.ts';

/** A spreadsheet evaluates a cell that begins with one of these signs, also in full width or after spaces. */
const EVALUATED = /^\s*[=+\-@＝＋－＠﹦﹢﹣﹫−]/;
const PARTS = [...'=+-@＝＋－＠﹦﹢﹣﹫−\'",;|\t\r\n a1ü', '\u00a0'];
const field = fc.array(fc.constantFrom(...PARTS), { maxLength: 8 }).map((parts) => parts.join(''));
const fields = fc.array(field, { minLength: 1, maxLength: 4 });

it.each([
  ['a plain text', 'Sales', '"Sales"'],
  ['an empty text', '', '""'],
  ['a quote', 'A "b", c', '"A ""b"", c"'],
  ['a formula', '=1+1', '"\'=1+1"'],
  ['a formula after a space', ' @SUM(A1)', '"\' @SUM(A1)"'],
  ['a formula in full width', '＝1', '"\'＝1"'],
  ['a formula with an apostrophe', "'=1", '"\'\'=1"'],
  ['a formula after a semicolon', 'Sales;=1', '"Sales;\'=1"'],
  ['a formula after a line break', 'Sales\n-1', '"Sales\n\'-1"'],
  ['a tab at the start', '\tSales', '"\'\tSales"'],
  ['a sign inside a word', 'B2B-East', '"B2B-East"'],
])('csvLine quotes %s, and puts an apostrophe before a formula', (_, text, expected) => {
  expect(csvLine([text])).toBe(expected);
});

it('no cell begins with a formula, whatever separator a spreadsheet uses', () => {
  fc.assert(
    fc.property(fields, fc.constantFrom(',', ';', '\t', '|'), (texts, delimiter) => {
      for (const cell of csvLine(texts).split(delimiter)) {
        // The quotes at the start of a cell do not belong to its text.
        expect(cell).not.toMatch(EVALUATED);
        expect(cell.replace(/^"+/, '')).not.toMatch(EVALUATED);
      }
    }),
    { numRuns: 500 },
  );
});

it('withoutGuards restores every text', () => {
  fc.assert(
    fc.property(fields, (texts) => {
      const [read = []] = parse(csvLine(texts), { record_delimiter: '\u0000' }) as string[][];
      expect(read.map(withoutGuards)).toEqual(texts);
    }),
    { numRuns: 500 },
  );
});
