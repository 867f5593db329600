import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { DEFAULT_COALESCE_SECONDS } from '../../shared/contract/topology.ts';
import { type Figure, PAIRED_RUNS, type Spread, spreadOf, table } from '../figure.ts';

const STEADY = fileURLToPath(new URL('../emulated/steady.ts', import.meta.url));
const Percentiles = z.tuple([z.number(), z.number(), z.number()]);

function measure(windowSeconds: number): z.infer<typeof Percentiles> {
  const args = ['--no-warnings', '--import', 'tsx', STEADY, String(windowSeconds)];
  const output = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return Percentiles.parse(JSON.parse(output.trim().split('\n').at(-1) ?? ''));
}

const seconds = ({ median, least, most }: Spread): string =>
  `${(median / 1_000).toFixed(2)} s (${(least / 1_000).toFixed(2)}–${(most / 1_000).toFixed(2)})`;

export const latencyFigure: Figure = {
  name: 'latency',
  title: 'Latency',
  async run() {
    const windows = [0, DEFAULT_COALESCE_SECONDS];
    const runs = Array.from({ length: PAIRED_RUNS }, () => windows.map(measure));
    const rows = windows.map((window, n) => [
      `${window} s`,
      ...[0, 1, 2].map((p) => seconds(spreadOf(runs.map((run) => run[n]?.[p] ?? Number.NaN)))),
    ]);
    return [
      'From sending an event to the write that put its member into the group, by the platform’s log: 50 events/s for 8 s,',
      'one join each, over 25 groups, on the local stack with the deployed batches and windows. The events queue’s',
      `batching window (1 s), and the wait for the end of a group’s window, are part of it. ${PAIRED_RUNS} runs of each window in turn.`,
      '',
      table(['window', 'p50', 'p95', 'p99'], rows),
      '',
      'Microsoft says of Entra ID’s provisioning service that after the initial cycle it runs “typically every 40 minutes”',
      '(Microsoft Learn, “Check the status of user provisioning”): the time between two looks at the directory.',
    ].join('\n');
  },
};
