import Table from 'cli-table3';
import { visible } from './words.ts';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | null;
  readonly align?: 'left' | 'right';
  /** People type it again, so it is never cut: all of it, or the id in brackets at its end. */
  readonly whole?: true | 'id';
}

/** Borders and padding of a column, and the border at the end. */
const FRAME = 3;
const LEAST = 6;
const NO_LINES_BETWEEN_ROWS = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' };

/**
 * A table of at most `width` columns, in which texts that do not fit end in an ellipsis. Where not even that is enough
 * for what must stay whole, each row is a paragraph with a line for each of its columns.
 */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width: number) {
  const cells = cellsOf(rows, columns);
  const natural = columns.map(({ title }, at) =>
    Math.max(...column([[title], ...cells.map((row) => [row[at] ?? ''])])),
  );
  const least = columns.map(({ title, whole }, at) => {
    if (whole === true) return natural[at] ?? LEAST;
    const tails = whole === 'id' ? cells.map((row) => [tailOf(row[at] ?? '')]) : [];
    return Math.min(natural[at] ?? LEAST, Math.max(LEAST, ...column([[title], ...tails])));
  });
  const widths = narrowed(natural, least, width - 1 - FRAME * columns.length);
  if (widths === undefined) return paragraphs(cells, columns);
  const table = new Table({
    head: columns.map(({ title }) => title),
    colWidths: widths.map((content) => content + 2),
    colAligns: columns.map(({ align = 'left' }) => align),
    chars: NO_LINES_BETWEEN_ROWS,
    style: { head: [], border: [] },
  });
  for (const row of cells) table.push(row.map((text, at) => shorten(text, widths[at] ?? LEAST)));
  return table.toString();
}

/** For a spreadsheet: RFC 4180, every row in full. */
export function renderCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [columns.map(({ title }) => title), ...cellsOf(rows, columns)];
  return lines.map((row) => row.map(csvField).join(',')).join('\n');
}

/** A cell that a spreadsheet would take for a formula is only text: names come from outside. */
function csvField(text: string): string {
  const plain = /^[=+@-]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const cellsOf = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) =>
  rows.map((row) => columns.map(({ of }) => visible(String(of(row) ?? '–'))));

const lengthOf = (text: string): number => [...text].length;
const column = (texts: readonly (readonly string[])[]): readonly number[] => texts.flat().map(lengthOf);

/** The id in brackets at the end, with an ellipsis for what stood before it. */
const tailOf = (text: string): string => {
  const [tail] = / \([^()]+\)$/.exec(text) ?? [];
  return tail === undefined ? text : `…${tail}`;
};

/** Takes from the widest column that may be cut, until all fit; undefined where they never do. */
function narrowed(natural: readonly number[], least: readonly number[], room: number) {
  const widths = [...natural];
  while (widths.reduce((sum, content) => sum + content, 0) > room) {
    const [widest] = widths
      .map((content, at) => ({ content, at }))
      .filter(({ content, at }) => content > (least[at] ?? LEAST))
      .sort((a, b) => b.content - a.content);
    if (widest === undefined) return undefined;
    widths[widest.at] = widest.content - 1;
  }
  return widths;
}

function shorten(text: string, width: number): string {
  if (lengthOf(text) <= width) return text;
  const tail = tailOf(text);
  const end = tail === text ? '…' : tail;
  return [...text].slice(0, Math.max(0, width - lengthOf(end))).join('') + end;
}

function paragraphs(cells: readonly (readonly string[])[], columns: readonly Column<never>[]): string {
  const width = Math.max(...columns.map(({ title }) => title.length));
  return cells
    .map((row) => columns.map(({ title }, at) => `${title.padEnd(width)}  ${row[at] ?? ''}`).join('\n'))
    .join('\n\n');
}
