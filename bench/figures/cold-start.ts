import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { bundle, HANDLERS } from '../../infra/bundle.ts';
import { DEPLOYABLE_KEYS, type DeployableKey } from '../../infra/function-code.ts';
import { type MeasuredKey, startStage } from '../cold-start/stage.ts';
import { type Figure, showSpread, spreadOf, table } from '../figure.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = fileURLToPath(new URL('../cold-start/first-call.mjs', import.meta.url));
const RUNS = 21;
const CALL_THE_PLATFORM: ReadonlySet<DeployableKey> = new Set(['apply', 'reconcile', 'people']);
/** Three durations in milliseconds: the import, the import with the first event, and the processor time. */
const Times = z.tuple([z.number(), z.number(), z.number()]);
type Times = z.infer<typeof Times>;

const inProcess = promisify(execFile);

async function coldStart(file: string, event: object): Promise<Times> {
  const { stdout } = await inProcess(process.execPath, [CHILD, file, JSON.stringify(event)]);
  return Times.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
}

async function measureAll(folder: string): Promise<readonly (readonly string[])[]> {
  const bare = (name: string) => join(ROOT, `bench/cold-start/bare-${name}.ts`);
  bundle({ 'bare-ingest': bare('ingest'), 'bare-apply': bare('apply') }, folder);
  const stage = await startStage();
  try {
    const rows: string[][] = [];
    for (const name of DEPLOYABLE_KEYS.filter((key): key is MeasuredKey => key !== 'console')) {
      const bareName = CALL_THE_PLATFORM.has(name) ? 'apply' : 'ingest';
      const bareFile = join(folder, `bare-${bareName}.mjs`);
      const file = join(folder, `${name}.mjs`);
      bundle({ [name]: HANDLERS[name] }, folder);
      const recorded = await stage.recordFirst(name);
      const { calls } = recorded;
      const pairs: (readonly [ours: Times, bare: Times])[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        const ours = await coldStart(file, await stage.eventFor(name));
        pairs.push([ours, await coldStart(bareFile, recorded)]);
      }
      const of = (side: 0 | 1, time: 0 | 1 | 2) => spreadOf(pairs.map((pair) => pair[side][time]));
      const ratio = (time: 0 | 1 | 2) => spreadOf(pairs.map((pair) => pair[0][time] / pair[1][time]));
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
    // The folder is inside the project, so that the bundler finds the packages.
    mkdirSync(join(ROOT, 'dist'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, 'dist/bench-cold-start-'));
    try {
      const rows = await measureAll(folder);
      return [
        'The deployed bundle of each function starts in a new process and handles one event. A bare bundle starts in another new process',
        'and repeats the recorded calls of this event, one after the other, with the same emulators. The first ratio is for the import',
        'only. The other ratios are for the import and the event. The bare bundle contains only the parts of packages that the calls',
        `need. Times are medians, and ratios are from ${RUNS} paired runs. The limit is 1.10 by processor time. \`npm run bundle:check\``,
        'measures only imports.',
        '',
        table(
          [
            '',
            'bundle',
            'import, groupsync / bare',
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
