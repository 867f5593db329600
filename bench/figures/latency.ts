import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { DEFAULT_COALESCE_SECONDS } from '../../shared/contract/topology.ts';
import { type Figure, PAIRED_RUNS, type Spread, spreadOf, table } from '../figure.ts';

const STEADY = fileURLToPath(new URL('../emulated/steady.ts', import.meta.url));
const Measured = z.array(z.tuple([z.number(), z.number(), z.number()]));

/** Rows of the table: the load, the coalescing window, and the labels of the measured joins and leaves. */
const ROWS = [
  {
    pace: 'alone',
    windowSeconds: DEFAULT_COALESCE_SECONDS,
    labels: ['a change alone: a join', 'a change alone: a leave'],
  },
  { pace: 'steady', windowSeconds: 0, labels: ['50 joins/s'] },
  { pace: 'steady', windowSeconds: DEFAULT_COALESCE_SECONDS, labels: ['50 joins/s'] },
] as const;

function measure({ pace, windowSeconds }: (typeof ROWS)[number]): z.infer<typeof Measured> {
  const args = ['--no-warnings', '--import', 'tsx', STEADY, String(windowSeconds), pace];
  const output = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return Measured.parse(JSON.parse(output.trim().split('\n').at(-1) ?? ''));
}

const seconds = ({ median, least, most }: Spread): string =>
  `${(median / 1_000).toFixed(2)} s (${(least / 1_000).toFixed(2)}–${(most / 1_000).toFixed(2)})`;

export const latencyFigure: Figure = {
  name: 'latency',
  title: 'Latency',
  async run() {
    const runs = Array.from({ length: PAIRED_RUNS }, () => ROWS.map(measure));
    const rows = ROWS.flatMap(({ windowSeconds, labels }, row) =>
      labels.map((what, which) => [
        what,
        `${windowSeconds} s`,
        ...[0, 1, 2].map((p) => seconds(spreadOf(runs.map((run) => run[row]?.[which]?.[p] ?? Number.NaN)))),
      ]),
    );
    return [
      'The latency is the time from sending an event to the platform write with its change, on the local stack. Batch sizes are as deployed.',
      'The coalescing window is the default, or 0 s for comparison. First, the benchmark sends 50 joins and 50 leaves to 25 groups in turn, so that',
      'each group changes once in ten seconds. Then it sends 50 joins/s to 25 groups for 8 s. The times include the batching window of the events queue (1 s) and the wait for the end of a group’s window.',
      `Each case ran ${PAIRED_RUNS} times, in turn with the other cases. The goal for a single change is a p50 of 2 s and a p95 of 3 s.`,
      '',
      table(['', 'window', 'p50', 'p95', 'p99'], rows),
    ].join('\n');
  },
};
