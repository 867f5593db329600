// @ts-expect-error Only what the package exports has types.
import { strlen } from 'cli-table3/src/utils.js';
import { visible } from './words.ts';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | null;
  readonly align?: 'left' | 'right';
  /** People type it again, so it is never cut: all of it, or the id in brackets at its end. */
  readonly whole?: true | 'id';
  /** For a spreadsheet, where people see a time in words: the same as a program reads it. */
  readonly inFile?: { readonly title: string; readonly of: (row: Row) => string | number | null };
}

/** Borders and padding of a column, and the border at the end. */
const FRAME = 3;
const LEAST = 6;

/**
 * A table of at most `width` columns, in which texts that do not fit end in an ellipsis. Where not even that is enough
 * for what must stay whole, or nothing is to be cut, each row is a paragraph with a line for each of its columns.
 */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number,
  isCut = true,
): string {
  const cells = cellsOf(rows, columns);
  const natural = columns.map(({ title }, at) => widest([title, ...cells.map((row) => row[at] ?? '')]));
  const least = columns.map(({ title, whole }, at) => {
    if (whole === true || !isCut) return natural[at] ?? LEAST;
    const tails = whole === 'id' ? cells.map((row) => tailOf(row[at] ?? '')) : [];
    return Math.min(natural[at] ?? LEAST, Math.max(LEAST, widest([title, ...tails])));
  });
  const widths = narrowed(natural, least, width - 1 - FRAME * columns.length);
  if (widths === undefined) return paragraphs(cells, columns);
  const border = ([left, between, right]: readonly string[]) =>
    left + widths.map((content) => '─'.repeat(content + 2)).join(between) + right;
  const line = (row: readonly string[]) =>
    `│ ${widths.map((content, at) => padded(row[at] ?? '', content, columns[at]?.align)).join(' │ ')} │`;
  const [head, body] = [columns.map(({ title }) => title), cells.map(line)];
  return [border([...'┌┬┐']), line(head), ...body, border([...'└┴┘'])].join('\n');
}

function padded(text: string, width: number, align?: 'left' | 'right'): string {
  const short = shorten(text, width);
  const room = ' '.repeat(width - lengthOf(short));
  return align === 'right' ? room + short : short + room;
}

/** For a spreadsheet: RFC 4180, every row in full. */
export function renderCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const inFile = columns.map((column) => ({ ...column, ...column.inFile }));
  const lines = [inFile.map(({ title }) => title), ...cellsOf(rows, inFile)];
  return lines.map((row) => row.map(csvField).join(',')).join('\n');
}

/** A cell that a spreadsheet would take for a formula is only text: names come from outside. `import` takes the apostrophe away. */
export function csvField(text: string): string {
  const plain = /^'*[=+@-]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const cellsOf = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) =>
  rows.map((row) => columns.map(({ of }) => visible(String(of(row) ?? '–'))));

/** In cells of the terminal: many characters take two. */
const lengthOf: (text: string) => number = strlen;
const widest = (texts: readonly string[]) => texts.reduce((most, text) => Math.max(most, lengthOf(text)), 0);

/** The id in brackets at the end, with an ellipsis for what stood before it. */
const tailOf = (text: string): string => {
  const [tail] = / \([^()]+\)$/.exec(text) ?? [];
  return tail === undefined ? text : `…${tail}`;
};

/** Takes from the widest column that may be cut, until all fit; undefined if they never do. */
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
  const start = [...text].slice(0, width);
  while (start.length > 0 && lengthOf(start.join('') + end) > width) start.pop();
  return start.join('') + end;
}

function paragraphs(cells: readonly (readonly string[])[], columns: readonly Column<never>[]): string {
  const width = Math.max(...columns.map(({ title }) => title.length));
  return cells
    .map((row) => columns.map(({ title }, at) => `${title.padEnd(width)}  ${row[at] ?? ''}`).join('\n'))
    .join('\n\n');
}
