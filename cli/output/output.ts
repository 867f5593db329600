import pc from 'picocolors';
import type { Io } from '../io.ts';
import { type Progress, startProgress } from './progress.ts';
import { type Column, renderTable } from './table.ts';

interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Commander's `--no-color`. */
  readonly color: boolean;
}

/** Answers go to standard output, everything said along the way to standard error. */
export interface Output {
  readonly json: boolean;
  readonly paint: ReturnType<typeof pc.createColors>;
  /** With `--json` the document; without, whatever `show` prints. */
  answer(document: unknown, show: () => void): void;
  line(text?: string): void;
  /** Where there are no rows, `none` alone. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none?: string): void;
  /** To standard error; `--quiet` silences it. */
  note(text: string): void;
  progress(what: string): Progress;
}

const WIDTH = 80;
const WIDEST = 140;

export function createOutput({ stdout, stderr, env }: Io, options: OutputOptions): Output {
  const { json, quiet } = options;
  // https://no-color.org: any value but the empty one.
  const wantsColor = options.color && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const paint = pc.createColors(wantsColor && stdout.isTTY === true && !json);
  const width = stdout.isTTY === true ? Math.min(WIDEST, Math.max(40, stdout.columns ?? WIDTH)) : WIDTH;
  const line = (text = '') => void stdout.write(`${text}\n`);
  return {
    json,
    paint,
    line,
    answer(document, show) {
      if (json) line(JSON.stringify(document, null, 2));
      else show();
    },
    table: (rows, columns, none) =>
      line(rows.length === 0 && none !== undefined ? none : renderTable(rows, columns, width)),
    note(text) {
      if (!quiet) stderr.write(`${text}\n`);
    },
    progress: (what) => startProgress(stderr, what, quiet),
  };
}
