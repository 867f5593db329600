import { SingleBar } from 'cli-progress';
import type { GlobalOptions, Io, Terminal } from '../io.ts';
import type { Spell } from './hints.ts';
import { createPaint, type Paint } from './paint.ts';
import type { Redactor } from './redactor.ts';
import { type Column, renderCsv, renderTable } from './table.ts';
import { jsonText } from './words.ts';

/** Answers go to standard output, everything said along the way to standard error. */
export interface Output {
  readonly json: boolean;
  /** `-o`: every row, and every cell as long as it is. */
  readonly inFull: boolean;
  readonly paint: Paint;
  /** A text in one line, cut on a terminal only, to `most` characters. */
  clip(text: string, most: number): string;
  /** With `--json` the document; without, whatever `show` prints of it. */
  answer<Document>(document: Document, show: (document: Document) => void): void;
  /** What may be shown of an answer, without the names that are not wanted: before any of it is cut. */
  readonly shown: <Document>(document: Document) => Document;
  /** One line, whatever is in it: a second one could be taken for our own words. */
  line(text?: string): void;
  /** One of many answers, in one line. */
  entry<Document>(document: Document, show: (document: Document) => string): void;
  /** Where there are no rows, `none` alone. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none?: string): void;
  /** To standard error; `--quiet` silences it. */
  note(text: string): void;
  /** Beside the answer. @param say where to: to standard error, where nothing else is said */
  noteTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], say?: (text: string) => void): void;
  progress(what: string): Progress;
  /** The next answer takes the place of this one: the screen of a terminal, for `--watch`. */
  startAgain(): void;
}

/** How every text is put: with commands that can be pasted, and with `--no-names` without names. */
export interface Wording {
  readonly spell: Spell;
  readonly redactor: Redactor | undefined;
}

const WIDTH = 80;
const NARROWEST = 40;
/** Wider tables become paragraphs in a pipe, where nothing is cut. */
const PIPED_WIDTH = 200;
const CLEAR_SCREEN = '\u001b[H\u001b[2J\u001b[3J';

export function createOutput(
  { stdout, stderr, env }: Io,
  options: GlobalOptions,
  { spell, redactor }: Wording,
): Output {
  const { json = false, quiet = false, output } = options;
  // https://no-color.org: any value but the empty one.
  const wantsColor = options.color !== false && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const { paint, shown: seen } = createPaint(wantsColor && stdout.isTTY === true && !json);
  const isCut = (screen: Terminal) => screen.isTTY === true && output !== 'wide';
  const widthOf = ({ isTTY, columns = WIDTH }: Terminal): number => {
    if (output === 'wide') return Number.POSITIVE_INFINITY;
    return isTTY ? Math.max(NARROWEST, columns) : PIPED_WIDTH;
  };
  let before = '';
  const print = (text: string) => {
    stdout.write(`${before}${text}\n`);
    before = '';
  };
  const note = (text: string) => {
    if (!quiet) stderr.write(`${seen(spell(text))}\n`);
  };
  const shown = <Document>(document: Document) => redactor?.document(document) ?? document;
  const text = (value: string | number | null) => {
    const shownText = String(value ?? '–');
    return redactor?.text(shownText) ?? shownText;
  };
  /** Cells may name commands too; in a file for a spreadsheet they stay as they are. */
  const plain = <Row>({ inFile, ...column }: Column<Row>): Column<Row> => {
    const { of, ...rest } = output === 'csv' ? { ...column, ...inFile } : column;
    return { ...rest, of: (row) => (output === 'csv' ? text(of(row)) : spell(text(of(row)))) };
  };
  // A file for a spreadsheet holds the rows, and nothing of what is said around them.
  const line = (text = '') => (output === 'csv' ? note(text) : print(seen(spell(text))));
  let hasRows = false;
  return {
    json,
    inFull: output !== undefined,
    paint,
    clip(text, most) {
      const all = text.replace(/\s+/g, ' ');
      return isCut(stdout) && all.length > most ? `${all.slice(0, most - 1)}…` : all;
    },
    line,
    note,
    answer(document, show) {
      if (json) print(jsonText(shown(document), 2));
      else show(shown(document));
      if (output === 'csv' && !hasRows) note('this command has no CSV output; use --json');
    },
    entry(document, show) {
      if (json) print(jsonText(shown(document)));
      else line(show(shown(document)));
    },
    shown,
    table(rows, given, none) {
      const columns = given.map(plain);
      hasRows = true;
      if (output === 'csv') print(renderCsv(rows, columns));
      else if (rows.length === 0 && none !== undefined) line(none);
      else print(renderTable(rows, columns, widthOf(stdout), isCut(stdout)));
    },
    noteTable(rows, columns, say = note) {
      const text = renderTable(rows, columns.map(plain), widthOf(stderr), isCut(stderr));
      for (const row of text.split('\n')) say(row);
    },
    progress: (what) => startProgress(stderr, what, quiet),
    startAgain() {
      before = stdout.isTTY === true ? CLEAR_SCREEN : '\n';
    },
  };
}

export interface Progress {
  show(done: number, total: number): void;
  end(): void;
}

/** A bar on a terminal, nothing elsewhere: a log is no place for it. */
export function startProgress(screen: Terminal, what: string, quiet: boolean): Progress {
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
    show(done, total) {
      if (started) bar.setTotal(total);
      else bar.start(total, 0);
      started = true;
      bar.update(done);
    },
    end: () => bar.stop(),
  };
}
