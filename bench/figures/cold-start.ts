import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { bundle, DEPLOYABLE_KEYS, type DeployableKey, HANDLERS } from '../../infra/bundle.ts';
import { startStage } from '../cold-start/stage.ts';
import { type Figure, showSpread, spreadOf, table } from '../figure.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = fileURLToPath(new URL('../cold-start/first-call.mjs', import.meta.url));
const RUNS = 11;
const CALL_THE_PLATFORM: ReadonlySet<DeployableKey> = new Set(['apply', 'reconcile', 'people']);
/** Milliseconds of the import, of it with the first event, and of the processor for both. */
const Times = z.tuple([z.number(), z.number(), z.number()]);
type Times = z.infer<typeof Times>;

const inProcess = promisify(execFile);

async function coldStart(file: string, event: object): Promise<Times> {
  const { stdout } = await inProcess(process.execPath, [CHILD, file, JSON.stringify(event)]);
  return Times.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
}

async function measureAll(folder: string): Promise<readonly (readonly string[])[]> {
  const bare = (name: string) => join(ROOT, `bench/cold-start/bare-${name}.ts`);
  bundle(
    {
      ...HANDLERS,
      'bare-ingest': bare('ingest'),
      'bare-apply': bare('apply'),
    },
    folder,
  );
  const stage = await startStage();
  try {
    const rows: string[][] = [];
    for (const name of DEPLOYABLE_KEYS) {
      const file = join(folder, `${name}.mjs`);
      const bareFile = join(folder, `bare-${CALL_THE_PLATFORM.has(name) ? 'apply' : 'ingest'}.mjs`);
      const recorded = await stage.recordFirst(name);
      const { calls } = recorded;
      const pairs: (readonly [ours: Times, bare: Times])[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        const ours = await coldStart(file, await stage.eventFor(name));
        pairs.push([ours, await coldStart(bareFile, recorded)]);
      }
      const of = (side: 0 | 1, time: 0 | 1 | 2) => spreadOf(pairs.map((pair) => pair[side][time]));
      const ratio = (time: 0 | 1 | 2) => spreadOf(pairs.map(([ours, theirs]) => ours[time] / theirs[time]));
      rows.push([
        name,
        `${Math.round(statSync(file).size / 1_000)} kB`,
        `${of(0, 0).median.toFixed(0)} / ${of(1, 0).median.toFixed(0)} ms`,
        showSpread(ratio(0)),
        `${of(0, 1).median.toFixed(0)} / ${of(1, 1).median.toFixed(0)} ms`,
        showSpread(ratio(1)),
        showSpread(ratio(2)),
        (['table', 'queue', 'secret', 'platform'] as const)
          .map((to) => calls.filter((call) => call.to === to).length)
          .join(' + '),
      ]);
    }
    return rows;
  } finally {
    await stage.stop();
  }
}

export const coldStartFigure: Figure = {
  name: 'cold-start',
  title: 'Cold start',
  async run() {
    // Inside the project, so that the bundler finds the packages.
    mkdirSync(join(ROOT, 'dist'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, 'dist/bench-cold-start-'));
    try {
      const rows = await measureAll(folder);
      return [
        'The deployed bundle in a new process against a bundle that imports only the packages it must use and makes the',
        'very calls (recorded) one after the other, in their order, over the same emulators: the import,',
        `then the import with the first event. Medians; ratios of ${RUNS} paired runs. Bar: 1.25. All bundles against their`,
        'imports alone: `npm run bundle:check`.',
        '',
        table(
          [
            '',
            'bundle',
            'import, ours / bare',
            'ratio',
            'with first event',
            'ratio',
            'by processor time',
            'calls: DynamoDB + SQS + secret + platform',
          ],
          rows,
        ),
      ].join('\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
