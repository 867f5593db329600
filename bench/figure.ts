/** One section of `bench/results.md`, which `npm run bench` measures. */
export interface Figure {
  readonly name: string;
  readonly title: string;
  /** @returns Markdown without the heading */
  readonly run: (options: FigureOptions) => Promise<string>;
}

interface FigureOptions {
  /** Includes measurements that take longer than ten minutes. */
  readonly full: boolean;
  /** The part of the figure to measure. Undefined means all parts. */
  readonly part?: string | undefined;
}

/** The number of paired runs for a ratio. */
export const PAIRED_RUNS = 5;

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly runs: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const at = (n: number): number => sorted[n] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { median, least: at(0), most: at(sorted.length - 1), runs: sorted.length };
}

export const showSpread = ({ median, least, most, runs }: Spread, digits = 2): string =>
  `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)}, ${runs} runs)`;

/** Returns the percentile by the nearest-rank method. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Formats a Markdown table. Numbers are grouped by thousands. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.map(show).join(' | ')} |`;
  return [line(head), line(head.map((_, n) => (n === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n');
}

function show(cell: string | number): string {
  if (typeof cell === 'string') return cell;
  return cell.toLocaleString('en-GB', { maximumFractionDigits: digitsOf(cell) });
}

function digitsOf(value: number): number {
  if (value < 10) return 2;
  return value < 100 ? 1 : 0;
}
