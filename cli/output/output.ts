import { randomUUID } from 'node:crypto';
import { SingleBar } from 'cli-progress';
import type { GlobalOptions, Io, Terminal } from '../io.ts';
import type { CommandFormatter } from './hints.ts';
import { type Column, renderCsv, renderTable } from './table.ts';
import { jsonText, visible } from './words.ts';

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39] } as const;

type Paint = Readonly<Record<keyof typeof CODES, (text: string) => string>>;

/**
 * Creates colours that external text cannot forge. Coloured text contains a random mark. First, all control characters
 * in the text are made visible. Only then, terminal codes replace the mark.
 */
function createPaint(wanted: boolean) {
  const mark = `;${randomUUID()}-`;
  const marks = new RegExp(`${mark}(\\d+);`, 'g');
  const painter = ([on, off]: readonly [number, number]) =>
    wanted ? (text: string) => `${mark}${on};${text}${mark}${off};` : (text: string) => text;
  const { bold, dim, red, green } = CODES;
  const paint: Paint = { bold: painter(bold), dim: painter(dim), red: painter(red), green: painter(green) };
  return { paint, shown: (text: string): string => visible(text).replace(marks, '\u001b[$1m') };
}

/** Answers go to standard output; notes go to standard error. */
export type Output = ReturnType<typeof createOutput>;

const WIDTH = 80;
const MIN_WIDTH = 40;
/** The table width in a pipe, where no cell is cut. A wider table is printed as paragraphs. */
const PIPED_WIDTH = 200;
const CLEAR_SCREEN = '\u001b[H\u001b[2J\u001b[3J';

export function createOutput(
  { stdout, stderr, env }: Io,
  options: GlobalOptions,
  formatCommands: CommandFormatter,
) {
  const { json = false, quiet = false, output } = options;
  // NO_COLOR has an effect with any value except the empty string (https://no-color.org).
  const wantsColor = options.color !== false && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const { paint, shown: coloured } = createPaint(wantsColor && stdout.isTTY === true && !json);
  const isCut = (screen: Terminal) => screen.isTTY === true && output !== 'wide';
  const widthOf = ({ isTTY, columns = WIDTH }: Terminal): number => {
    if (output === 'wide') return Number.POSITIVE_INFINITY;
    return isTTY ? Math.max(MIN_WIDTH, columns) : PIPED_WIDTH;
  };
  let before = '';
  const print = (text: string) => {
    stdout.write(`${before}${text}\n`);
    before = '';
  };
  const note = (text: string) => {
    if (!quiet) stderr.write(`${coloured(formatCommands(text))}\n`);
  };
  const text = (value: string | number | null) => String(value ?? '–');
  /** Completes the commands in the cells of a column, except in CSV. */
  const plain = <Row>({ csv, ...column }: Column<Row>): Column<Row> => {
    const { of, ...rest } = output === 'csv' ? { ...column, ...csv } : column;
    return { ...rest, of: (row) => (output === 'csv' ? text(of(row)) : formatCommands(text(of(row)))) };
  };
  // With `-o csv`, standard output contains only tables.
  const line = (text = '') => (output === 'csv' ? note(text) : print(coloured(formatCommands(text))));
  return {
    json,
    csv: output === 'csv',
    /** True with `-o`: a table shows all rows, and no cell is cut. */
    inFull: output !== undefined,
    paint,
    /** Returns the text in one line. On a terminal, without `-o wide`, it is cut to `most` characters. */
    clip(text: string, most: number): string {
      const all = text.replace(/\s+/g, ' ');
      return isCut(stdout) && all.length > most ? `${all.slice(0, most - 1)}…` : all;
    },
    /**
     * Prints one line. Line breaks in the text are escaped, because a second line could look like groupsync's own text.
     */
    line,
    /** Prints to standard error; not with `--quiet`. */
    note,
    /** Prints the document with `--json`; otherwise calls `show`. */
    answer<Document>(document: Document, show: (document: Document) => void): void {
      if (json) print(jsonText(document, 2));
      else show(document);
    },
    entry<Document>(document: Document, show: (document: Document) => string): void {
      if (json) print(jsonText(document));
      else line(show(document));
    },
    table<Row>(rows: readonly Row[], given: readonly Column<Row>[], none?: string): void {
      const columns = given.map(plain);
      if (output === 'csv') print(renderCsv(rows, columns));
      else if (rows.length === 0 && none !== undefined) line(none);
      else print(renderTable(rows, columns, widthOf(stdout), isCut(stdout)));
    },
    /** Prints a table in addition to the answer. @param write default: standard error */
    noteTable<Row>(
      rows: readonly Row[],
      columns: readonly Column<Row>[],
      write: (text: string) => void = note,
    ) {
      const text = renderTable(rows, columns.map(plain), widthOf(stderr), isCut(stderr));
      for (const row of text.split('\n')) write(row);
    },
    progress: (what: string) => startProgress(stderr, what, quiet),
    startAgain(): void {
      before = stdout.isTTY === true ? CLEAR_SCREEN : '\n';
    },
  };
}

/** Shows a bar on a terminal. Elsewhere it prints nothing, to keep logs readable. */
function startProgress(screen: Terminal, what: string, quiet: boolean) {
  if (quiet || screen.isTTY !== true) return { show: () => undefined, end: () => undefined };
  const bar = new SingleBar({
    format: `${what} {bar} {value}/{total}`,
    stream: screen as unknown as NodeJS.WritableStream,
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
  });
  let started = false;
  return {
    show(done: number, total: number) {
      if (started) bar.setTotal(total);
      else bar.start(total, 0);
      started = true;
      bar.update(done);
    },
    end: () => bar.stop(),
  };
}
