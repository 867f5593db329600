// @ts-expect-error Only the package's exports have types.
import { strlen } from 'cli-table3/src/utils.js';
import { csvLine } from '../../shared/contract/csv.ts';
import { duration, visible } from './words.ts';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | null;
  readonly align?: 'left' | 'right';
  /**
   * The part of the text that is never cut, because users copy it: the whole text, or the id in brackets at its end.
   */
  readonly whole?: true | 'id';
  /** Title and exact value for CSV, such as a time instead of “3 min”. */
  readonly csv?: { readonly title: string; readonly of: (row: Row) => string | number | null };
}

/** A column that shows an age in a table, and a time in CSV. */
export const ageColumn = <Row>(
  title: string,
  sinceMs: (row: Row) => number,
  titleInCsv = title,
): Column<Row> => ({
  title,
  of: (row) => duration(Date.now() - sinceMs(row)),
  align: 'right',
  csv: { title: titleInCsv, of: (row) => new Date(sinceMs(row)).toISOString() },
});

/** Width of a column's border and padding, without the border at the end. */
const FRAME = 3;
const LEAST = 6;

/**
 * Renders a table of at most `width` characters. Texts that do not fit end in an ellipsis. If the parts that must
 * not be cut do not fit, each row becomes a paragraph with one line per column.
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

export function renderCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [columns.map(({ title }) => title), ...cellsOf(rows, columns)];
  return lines.map(csvLine).join('\n');
}

const cellsOf = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) =>
  rows.map((row) => columns.map(({ of }) => visible(String(of(row) ?? '–'))));

/** Width in terminal cells. Some characters, such as Chinese ones, take two cells. */
const lengthOf: (text: string) => number = strlen;
const widest = (texts: readonly string[]) => texts.reduce((most, text) => Math.max(most, lengthOf(text)), 0);

/** Returns the id in brackets at the end, with an ellipsis before it. A text without such an id is returned whole. */
const tailOf = (text: string): string => {
  const [tail] = / \([^()]+\)$/.exec(text) ?? [];
  return tail === undefined ? text : `…${tail}`;
};

/** Narrows the widest column that may be cut until the row fits. Returns undefined if the row cannot fit. */
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
