import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { bundle, HANDLERS } from '../../infra/bundle.ts';
import type { BareCalls } from '../cold-start/bare-calls.ts';
import { startStage } from '../cold-start/stage.ts';
import { type Figure, showSpread, spreadOf, table } from '../figure.ts';
import { createRig } from '../memory/rig.ts';
import { type Counts, sumOf } from '../memory/tally.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = fileURLToPath(new URL('../cold-start/first-call.mjs', import.meta.url));
const RUNS = 11;
const Times = z.tuple([z.number(), z.number()]);
type Times = z.infer<typeof Times>;

const inProcess = promisify(execFile);

async function coldStart(file: string, event: object): Promise<Times> {
  const { stdout } = await inProcess(process.execPath, [CHILD, file, JSON.stringify(event)]);
  return Times.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
}

const callsOf = (counts: Counts): Pick<BareCalls, 'dynamodb' | 'sqs' | 'secrets' | 'platform'> => ({
  dynamodb:
    sumOf(counts, 'dynamodb ') - sumOf(counts, 'dynamodb read units') - sumOf(counts, 'dynamodb write'),
  sqs: counts['sqs SendMessageBatch'] ?? 0,
  secrets: sumOf(counts, 'secretsmanager '),
  platform: sumOf(counts, 'platform '),
});

/** What the first event costs a worker that knows nothing yet, counted in memory. */
async function firstCalls() {
  const rig = await createRig({ coalesceSeconds: 0, people: 50 });
  await rig.ingest([rig.directory.snapshot('d0', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])]);
  await rig.drain();
  rig.pass(600_000);
  rig.countRequests();
  await rig.ingest([rig.directory.added('d0', 20)]);
  const ingest = callsOf(rig.tally.take());
  rig.pass(600_000);
  await rig.drain();
  const apply = callsOf(rig.tally.take());
  return { ingest, apply: { ...apply, platform: apply.platform + 1 } };
}

async function measureAll(folder: string): Promise<readonly (readonly string[])[]> {
  const bare = (name: string) => join(ROOT, `bench/cold-start/bare-${name}.ts`);
  bundle(
    {
      ingest: HANDLERS.ingest,
      apply: HANDLERS.apply,
      'bare-ingest': bare('ingest'),
      'bare-apply': bare('apply'),
    },
    folder,
  );
  const calls = await firstCalls();
  const stage = await startStage();
  try {
    const rows: string[][] = [];
    for (const name of ['ingest', 'apply'] as const) {
      const file = join(folder, `${name}.mjs`);
      const pairs: (readonly [ours: Times, bare: Times])[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        if (name === 'apply') await stage.join();
        const event = name === 'ingest' ? stage.joinEvent() : stage.applyEvent;
        const ours = await coldStart(file, event);
        const bareEvent: BareCalls = { ...stage.bare, ...calls[name] };
        pairs.push([ours, await coldStart(join(folder, `bare-${name}.mjs`), bareEvent)]);
      }
      const of = (side: 0 | 1, time: 0 | 1) => spreadOf(pairs.map((pair) => pair[side][time]));
      const ratio = (time: 0 | 1) => spreadOf(pairs.map(([ours, theirs]) => ours[time] / theirs[time]));
      const { dynamodb, sqs, secrets, platform } = calls[name];
      rows.push([
        name,
        `${Math.round(statSync(file).size / 1_000)} kB`,
        `${of(0, 0).median.toFixed(0)} / ${of(1, 0).median.toFixed(0)} ms`,
        showSpread(ratio(0)),
        `${of(0, 1).median.toFixed(0)} / ${of(1, 1).median.toFixed(0)} ms`,
        showSpread(ratio(1)),
        `${dynamodb} + ${sqs} + ${secrets} + ${platform}`,
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
        'The deployed bundle in a new process against a bundle that imports only the packages it must use and makes as many',
        'calls one after the other, over the same emulators: the import, then the import with the first event. Medians; ratios',
        `of ${RUNS} paired runs. Bar: 1.25. All four bundles against their imports alone: \`npm run bundle:check\`.`,
        '',
        table(
          [
            '',
            'bundle',
            'import, ours / bare',
            'ratio',
            'with first event',
            'ratio',
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
