import { followFeed } from '../../shared/sync/reconcile/feed.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { type Figure, growthTable, type Measure } from '../figure.ts';
import { createRig, type Rig } from '../memory/rig.ts';
import { rewrite, seedGroups } from '../memory/seed.ts';
import { type Counts, sumOf } from '../memory/tally.ts';

const MEMBERS = 100;
/** Each person is in twenty groups. */
const PEOPLE_PER_GROUP = MEMBERS / 20;
const SWEPT = [100, 1_000, 10_000] as const;
/** Of so many groups, those of ten alone fit into this process. */
const MANY = [1_000, 10_000, 100_000] as const;
const IMPORTED = [10, 100, 1_000] as const;
const SAMPLE_MS = 5;
const MEMORY_BAR_MB = 512;

interface Run {
  readonly groups: number;
  readonly ms: number;
  /** Heap above what the table and the platform hold, before or in the end, garbage included, at its highest. */
  readonly peakMb: number;
  readonly counts: Counts;
}

async function measured(groups: number, rig: Rig, work: () => Promise<unknown>): Promise<Run> {
  rig.tally.take();
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  let peak = before;
  const sample = () => {
    peak = Math.max(peak, process.memoryUsage().heapUsed);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  const startedMs = performance.now();
  await work();
  const ms = performance.now() - startedMs;
  sample();
  clearInterval(timer);
  globalThis.gc?.();
  const held = Math.max(before, process.memoryUsage().heapUsed);
  return { groups, ms, peakMb: (peak - held) / 2 ** 20, counts: rig.tally.take() };
}

async function seeded(groups: number, members = MEMBERS): Promise<Rig> {
  const rig = await createRig({ coalesceSeconds: 5, people: PEOPLE_PER_GROUP * groups });
  await rig.ingest([rig.directory.snapshot('d0', range(members))]);
  await rig.drain();
  await followFeed(rig.connection, rig.ports, Number.MAX_SAFE_INTEGER);
  await seedGroups(rig, groups, members);
  rig.pass(3_600_000);
  return rig;
}

async function sweepRun(groups: number, members?: number): Promise<Run> {
  const rig = await seeded(groups, members);
  return measured(groups, rig, () => sweep(rig.connection, rig.ports));
}

/** One group in ten was written by us since the last run. */
async function feedRun(groups: number, members?: number): Promise<Run> {
  const rig = await seeded(groups, members);
  const written = [...rig.platform.groups.values()].filter((_, n) => n % 10 === 0);
  for (const group of written) await rewrite(rig, group);
  return measured(groups, rig, () => followFeed(rig.connection, rig.ports, Number.MAX_SAFE_INTEGER));
}

/** A snapshot of every group, each a message of its own, to the last write on the platform. */
async function importRun(groups: number): Promise<Run> {
  const people = Math.max(MEMBERS, PEOPLE_PER_GROUP * groups);
  const rig = await createRig({ coalesceSeconds: 5, people });
  const memberOf = (group: number) => range(MEMBERS).map((n) => (group * PEOPLE_PER_GROUP + n) % people);
  return measured(groups, rig, async () => {
    for (let at = 0; at < groups; at += 100) {
      const some = range(Math.min(100, groups - at));
      await rig.ingest(some.map((n) => rig.directory.snapshot(`d${at + n}`, memberOf(at + n))));
    }
    await rig.drain();
    if (rig.platform.groups.size !== groups) throw new Error(`only ${rig.platform.groups.size} groups came`);
  });
}

const range = (length: number) => Array.from({ length }, (_, n) => n);

const MEASURES: readonly Measure<Run>[] = [
  ['seconds', ({ ms }) => ms / 1_000, true],
  ['peak MB', ({ peakMb }) => peakMb, true],
  ['read units', ({ counts }) => counts['dynamodb read units'] ?? 0, true],
  ['write units', ({ counts }) => counts['dynamodb write units'] ?? 0, true],
  ['SQS requests', ({ counts }) => counts['sqs SendMessageBatch'] ?? 0, true],
  ['platform calls', ({ counts }) => sumOf(counts, 'platform '), true],
];

export const scaleFigure: Figure = {
  name: 'scale',
  title: 'Scale',
  async run({ full }) {
    const tasks = [
      ['Sweep, everything in step', sweepRun, SWEPT],
      ['Feed run, one group in ten written by us', feedRun, SWEPT],
      ['Sweep, groups of ten', (groups: number) => sweepRun(groups, 10), full ? MANY : []],
      ['Feed run, groups of ten', (groups: number) => feedRun(groups, 10), full ? MANY : []],
      ['Initial import, snapshots to the last write', importRun, full ? [...IMPORTED, 10_000] : IMPORTED],
    ] as const;
    const parts: string[] = [];
    let peakMb = 0;
    for (const [title, run, sizes] of tasks) {
      const runs: Run[] = [];
      if (sizes.length === 0) continue;
      for (const size of sizes) runs.push(await run(size));
      peakMb = Math.max(peakMb, ...runs.map((one) => one.peakMb));
      parts.push(`**${title}**`, '', growthTable(MEASURES, runs), '');
    }
    return [
      `Groups of ${MEMBERS} members, each person in twenty groups: 10,000 groups are 1,000,000 memberships. In-memory ports, one`,
      'process; the exponent says how a measure grows with the groups (1 is linear). Peak: heap above what the in-memory',
      `table and platform hold in the end, garbage included; the highest of all was ${Math.round(peakMb)} MB (bar: ${MEMORY_BAR_MB}). The`,
      'import of all is `npm run bench -- scale --full`.',
      '',
      ...parts,
    ].join('\n');
  },
};
