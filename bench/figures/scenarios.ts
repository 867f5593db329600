import { groupId, platformUserId } from '../../shared/domain/ids.ts';
import { STAMP_ZERO } from '../../shared/domain/stamp.ts';
import { readHeldRemovals } from '../../shared/operate/held-members.ts';
import { withWaiting } from '../../shared/plan/removals.ts';
import { seal } from '../../shared/sync/apply/hold.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { followFeed } from '../../shared/sync/reconcile/feed.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { CONNECTION, createRig, type Rig } from '../memory/rig.ts';
import type { Counts } from '../memory/totals.ts';

/** A typical case. The calls of `run` are counted, and the calls of `prepare` are not. */
interface Scenario {
  readonly name: string;
  readonly people: number;
  readonly guarded?: boolean;
  readonly prepare?: (rig: Rig) => Promise<void>;
  readonly run: (rig: Rig) => Promise<unknown>;
}

const range = (length: number, from = 0) => Array.from({ length }, (_, n) => from + n);

/** Creates and syncs the groups `d0`, `d1`, …, each with this many members. */
async function write(rig: Rig, groups: number, members: number): Promise<void> {
  await rig.ingest(range(groups).map((n) => rig.directory.snapshot(`d${n}`, range(members))));
  await rig.drain();
  // The coalescing window ends, so that the counted change starts a new window.
  rig.advance(600_000);
  await rig.ports.connections.find(CONNECTION);
}

/** Syncs the groups with a second write, because the change after a first write costs one more write unit. */
async function settle(rig: Rig, groups: number, members: number): Promise<void> {
  await write(rig, groups, members - 1);
  await write(rig, groups, members);
}

const D0 = { connection: CONNECTION, group: groupId('d0') };

/** Stores the removals of 100,000 users with ids of 36 characters. */
async function holdEverybody({ ports: { groups, clock } }: Rig): Promise<void> {
  const seen = await groups.read(D0);
  if (seen?.link === undefined) throw new Error('expected a linked group');
  const users = range(100_000).map((n) => platformUserId(`${n}`.padStart(36, 'a')));
  const waiting = {
    users,
    approved: 0,
    size: users.length,
    share: 1,
    rule: 'share',
    platformId: seen.link.id,
    asOf: STAMP_ZERO,
  } as const;
  const sets = withWaiting([], [], { ...waiting, dirtySinceMs: 0, isUnderFourEyes: false }, clock());
  await groups.storeRemovals(seen, sets.map(seal), '0#hold');
}

const change = async (rig: Rig, events: Parameters<Rig['ingest']>[0]) => {
  await rig.ingest(events);
  await rig.drain();
};

const readFeed = (rig: Rig) => followFeed(rig.connection, rig.ports, Number.MAX_SAFE_INTEGER);

async function settleAndRead(rig: Rig): Promise<void> {
  await settle(rig, 20, 5);
  await readFeed(rig);
  rig.advance(300_000);
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'one member joins a group of ten',
    people: 50,
    prepare: (rig) => settle(rig, 1, 10),
    run: (rig) => change(rig, [rig.directory.added('d0', 20)]),
  },
  {
    name: 'one member leaves a group of ten',
    people: 50,
    prepare: (rig) => settle(rig, 1, 10),
    run: (rig) => change(rig, [rig.directory.removed('d0', 3)]),
  },
  {
    name: 'one member leaves a group of ten, with the guard',
    people: 50,
    guarded: true,
    prepare: (rig) => settle(rig, 1, 10),
    run: (rig) => change(rig, [rig.directory.removed('d0', 3)]),
  },
  {
    name: 'the removals of sixty of a hundred members are held',
    people: 150,
    guarded: true,
    prepare: (rig) => settle(rig, 1, 100),
    run: (rig) => change(rig, [rig.directory.snapshot('d0', range(40))]),
  },
  {
    name: 'a hold of 100,000 users is stored',
    people: 50,
    prepare: (rig) => settle(rig, 1, 10),
    run: holdEverybody,
  },
  {
    name: 'holds show of a hold of 100,000 users',
    people: 50,
    prepare: async (rig) => {
      await settle(rig, 1, 10);
      await holdEverybody(rig);
    },
    run: async (rig) => {
      const state = await rig.ports.groups.read(D0);
      const [hold] = state?.removals?.sets ?? [];
      if (state === undefined || hold === undefined) throw new Error('expected a stored hold');
      return readHeldRemovals(state, hold, rig.connection, rig.ports);
    },
  },
  {
    name: 'a group is renamed',
    people: 50,
    prepare: (rig) => settle(rig, 1, 10),
    run: (rig) => change(rig, [rig.directory.group('d0', 'Another name')]),
  },
  {
    name: 'a new group of a hundred members',
    people: 100,
    run: (rig) => change(rig, [rig.directory.snapshot('d0', range(100))]),
  },
  { name: 'twenty new groups', people: 10, run: (rig) => write(rig, 20, 5) },
  {
    name: 'a hundred joins in ten groups',
    people: 100,
    prepare: (rig) => settle(rig, 10, 10),
    run: (rig) =>
      change(
        rig,
        range(100).map((n) => rig.directory.added(`d${n % 10}`, 20 + Math.floor(n / 10))),
      ),
  },
  {
    name: 'a repeated event',
    people: 50,
    prepare: (rig) => settle(rig, 1, 10),
    run: async (rig) => {
      const event = rig.directory.added('d0', 20);
      await change(rig, [event]);
      rig.advance(600_000);
      rig.totals.take();
      await change(rig, [event]);
    },
  },
  {
    name: 'one member joins a group of a thousand',
    people: 1_100,
    prepare: (rig) => settle(rig, 1, 1_000),
    run: (rig) => change(rig, [rig.directory.added('d0', 1_050)]),
  },
  {
    name: 'one member joins a group of ten thousand',
    people: 10_100,
    prepare: (rig) => settle(rig, 1, 10_000),
    run: (rig) => change(rig, [rig.directory.added('d0', 10_050)]),
  },
  {
    name: 'a user in five groups gets another address',
    people: 50,
    prepare: (rig) => settle(rig, 5, 10),
    run: (rig) => change(rig, [rig.directory.renamedUser(3, 'p3@other.test')]),
  },
  {
    name: 'requeue run without work, twenty groups',
    people: 10,
    prepare: (rig) => settle(rig, 20, 5),
    run: (rig) => requeueDue(CONNECTION, rig.ports),
  },
  { name: 'feed run without new entries', people: 10, prepare: settleAndRead, run: readFeed },
  {
    name: 'feed run with entries of twenty writes by groupsync',
    people: 10,
    prepare: (rig) => write(rig, 20, 5),
    run: readFeed,
  },
  {
    name: 'feed finds an external change of one group, and apply restores it',
    people: 10,
    prepare: async (rig) => {
      await settleAndRead(rig);
      const [id = ''] = rig.platform.groups.keys();
      rig.platform.otherClient({ kind: 'edit', group: 'd0', add: ['u9'], remove: 1 }, id, 'EXTERNAL');
    },
    run: async (rig) => {
      await readFeed(rig);
      await rig.drain();
    },
  },
  {
    name: 'sweep of a hundred groups in sync',
    people: 10,
    prepare: (rig) => settle(rig, 100, 5),
    run: (rig) => sweep(rig.connection, rig.ports),
  },
  {
    name: 'refresh of five hundred employees, no changes',
    people: 500,
    run: (rig) => refreshPeople(rig.connection, rig.ports),
  },
];

export async function countCalls({ people, guarded = false, prepare, run }: Scenario): Promise<Counts> {
  const rig = await createRig({ coalesceSeconds: 5, people, guarded });
  await prepare?.(rig);
  rig.countRequests();
  await run(rig);
  return rig.totals.take();
}
