import { groupId } from '../../shared/domain/ids.ts';
import { followFeed } from '../../shared/sync/reconcile/feed.ts';
import { type Figure, table } from '../figure.ts';
import { CONNECTION, createRig, type Rig } from '../memory/rig.ts';
import { type ChildTask, functionOf, runInChild } from '../memory/run-in-child.ts';
import { rewrite, seedGroups } from '../memory/seed.ts';
import { sumOf } from '../memory/totals.ts';

const GROUPS_OF_A_PERSON = 20;
const SIZES = [100, 1_000, 10_000] as const;
const MANY = [1_000, 10_000, 100_000] as const;
/** The number of new groups in one batch of the apply queue. */
const NEW_GROUPS = 10;
const BATCH = 100;
const SETTLED_AFTER_MS = 3_600_000;

const range = (length: number, from = 0) => Array.from({ length }, (_, n) => from + n);

async function seeded(groups: number, members: number): Promise<Rig> {
  const people = Math.max(2 * members, (groups * members) / GROUPS_OF_A_PERSON);
  const rig = await createRig({ coalesceSeconds: 5, people });
  await rig.ingest([rig.directory.snapshot('d0', range(members))]);
  await rig.drain();
  await followFeed(rig.connection, rig.ports, Number.MAX_SAFE_INTEGER);
  await seedGroups(rig, groups, members);
  rig.advance(SETTLED_AFTER_MS);
  return rig;
}

type What = Omit<ChildTask, 'nowMs' | 'task'>;
const NOTHING = async (): Promise<What> => ({});
const snapshots = (rig: Rig, groups: number, members: number, many: number) =>
  range(many, groups).map((n) => rig.directory.snapshot(`d${n}`, range(members, n % members)));

const TASKS: readonly (readonly [
  title: string,
  task: ChildTask['task'],
  prepare: (rig: Rig, groups: number, members: number) => Promise<What>,
])[] = [
  ['Sweep, everything in sync', 'sweep', NOTHING],
  [
    'Feed run, one group in ten written by groupsync',
    'feed',
    async (rig) => {
      const written = [...rig.platform.groups.values()].filter((_, n) => n % 10 === 0);
      for (const group of written) await rewrite(rig, group);
      return {};
    },
  ],
  ['Refresh of people, no changes', 'people', NOTHING],
  [
    `Ingest, a batch of ${BATCH} snapshots`,
    'ingest',
    async (rig, groups, members) => ({ events: snapshots(rig, groups, members, BATCH) }),
  ],
  [
    `Apply, a batch of ${NEW_GROUPS} new groups`,
    'apply',
    async (rig, groups, members) => {
      await rig.ingest(snapshots(rig, groups, members, NEW_GROUPS));
      return {
        refs: range(NEW_GROUPS, groups).map((n) => ({ connection: CONNECTION, group: groupId(`d${n}`) })),
      };
    },
  ],
];

type Run = Awaited<ReturnType<typeof runInChild>> & { readonly groups: number };

const rowOf = ({ groups, ms, peakMb, counts }: Run) => [
  `${groups.toLocaleString('en-GB')} groups`,
  ms / 1_000,
  peakMb,
  counts['dynamodb read units'] ?? 0,
  counts['dynamodb write units'] ?? 0,
  sumOf(counts, 'platform '),
];

export const scaleFigure: Figure = {
  name: 'scale',
  title: 'Scale',
  async run({ full }) {
    const parts: string[] = [];
    for (const [title, task, prepare] of TASKS)
      for (const [members, sizes] of full
        ? ([
            [100, SIZES],
            [10, MANY],
          ] as const)
        : ([[100, SIZES]] as const)) {
        const { name, memoryMb } = functionOf(task);
        const runs: Run[] = [];
        for (const groups of sizes) {
          const rig = await seeded(groups, members);
          const what = await prepare(rig, groups, members);
          runs.push({ groups, ...(await runInChild(rig, { task, nowMs: rig.clock(), ...what })) });
          if ((runs.at(-1)?.peakMb ?? 0) > memoryMb) throw new Error(`${title}: more than ${memoryMb} MB`);
        }
        parts.push(
          `**${title}, groups of ${members}: ${name}, ${memoryMb} MB**`,
          '',
          table(['', 'seconds', 'memory MB', 'read units', 'write units', 'platform calls'], runs.map(rowOf)),
          '',
        );
        console.error(parts.slice(-4).join('\n'));
      }
    return [
      'Each run is a separate process with the memory limit of its function in the template. V8 gets nine tenths of this memory, as on',
      'Lambda, and one twentieth for young objects. Table, queue and platform are in another process. The tables show the peak memory of',
      'the whole process, including the loader of the source files. Each person is in twenty groups, so 10,000 groups of 100 are',
      '1,000,000 memberships. `npm run bench -- scale --full` also measures 100,000 groups of ten.',
      '',
      ...parts,
    ].join('\n');
  },
};
