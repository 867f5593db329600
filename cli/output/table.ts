import Table from 'cli-table3';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | null;
  readonly align?: 'left' | 'right';
  /** Shown whole, whatever else must be cut: ids that people copy. */
  readonly whole?: boolean;
}

/** Borders and padding of a column, and the border at the end. */
const FRAME = 3;
const LEAST = 6;
const NO_LINES_BETWEEN_ROWS = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' };

/** A table of at most `width` columns: texts that do not fit end in an ellipsis, those of whole columns last. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number,
): string {
  const cells = rows.map((row) => columns.map(({ of }) => String(of(row) ?? '–')));
  const natural = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((cell) => [...(cell[at] ?? '')].length)),
  );
  const widths = narrowed(natural, columns, width - 1 - FRAME * columns.length);
  const table = new Table({
    head: columns.map(({ title }) => title),
    colWidths: widths.map((content) => content + 2),
    colAligns: columns.map(({ align = 'left' }) => align),
    chars: NO_LINES_BETWEEN_ROWS,
    style: { head: [], border: [] },
  });
  for (const cell of cells) table.push(cell.map((text, at) => shorten(text, widths[at] ?? LEAST)));
  return table.toString();
}

/** Takes from the widest column that may be cut, until all fit. */
function narrowed(natural: readonly number[], columns: readonly Column<never>[], room: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, content) => sum + content, 0);
  while (total() > room) {
    const candidates = widths
      .map((content, at) => ({ content, at }))
      .filter(({ content }) => content > LEAST);
    const soft = candidates.filter(({ at }) => columns[at]?.whole !== true);
    const [widest] = (soft.length > 0 ? soft : candidates).sort((a, b) => b.content - a.content);
    if (widest === undefined) break;
    widths[widest.at] = widest.content - 1;
  }
  return widths;
}

/** Control characters of names from outside would move the cursor. */
function shorten(text: string, width: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
  const characters = [...clean];
  return characters.length <= width ? clean : `${characters.slice(0, width - 1).join('')}…`;
}
