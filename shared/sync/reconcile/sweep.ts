import { createHash } from 'node:crypto';
import type { GroupRef, PlatformGroupId } from '../../domain/ids.ts';
import type { ObservedGroup } from '../../domain/view.ts';
import { isOver } from '../../plan/hold.ts';
import { groupsOfSolvable } from '../people.ts';
import type { Connection } from '../ports/connections.ts';
import type { GroupState } from '../ports/groups.ts';
import type { Platform } from '../ports/platform.ts';
import { wakeGroups } from '../wake.ts';
import type { ReconcilePorts } from './ports.ts';
import { emptyTally, type ReconcileReport, reportOf, type Tally } from './report.ts';
import { markSuspects } from './suspect.ts';

/** Of links not listed, past this share somebody's listing is wrong rather than so many groups deleted. */
const MAX_MISSING_SHARE = 0.05;
/** Below this many a share says nothing. */
const MIN_MISSING = 3;
/** A group that is dirty for longer and that nothing is due for has fallen through. */
const STUCK_MS = 15 * 60_000;
/** Litter is looked for in one group of so many per sweep: each in its turn, once a day when swept hourly. */
const GARBAGE_TURNS = 24;
const HOUR_MS = 3_600_000;

export interface SweepRun {
  readonly report: ReconcileReport;
  /** So many links are missing that nothing was concluded from it. */
  readonly halted: boolean;
}

interface Sweeping {
  readonly connection: Connection;
  readonly platform: Platform;
  readonly ports: ReconcilePorts;
  readonly listed: ReadonlyMap<string, ObservedGroup>;
  readonly tally: Tally;
}

/**
 * Compares all links with all groups of the platform, and picks up whatever fell through elsewhere: stuck groups,
 * pending members, holds whose time is over, litter. One listing, and one read of every group; nothing is concluded
 * from absence alone: a group that is not listed is asked for by id, and apply asks twice more (invariant 4).
 */
export async function sweep(connection: Connection, ports: ReconcilePorts): Promise<SweepRun> {
  const startedAtMs = ports.clock();
  const platform = await ports.platforms.open(connection);
  const listed = new Map((await platform.groups.list(0)).map((group) => [group.id, group]));
  const sweeping: Sweeping = { connection, platform, ports, listed, tally: emptyTally() };
  const missing: GroupState[] = [];
  const linkedTo = new Map<string, GroupState>();
  for await (const page of ports.index.all(connection.name)) {
    const states = await ports.groups.readMany(page.map(({ ref }) => ref));
    missing.push(...(await compare(states, sweeping)));
    for (const state of states) linkedTo.set(state.ref.group, state);
    await pickUp(states, sweeping);
    sweeping.tally.groupsTouched += states.length;
  }
  const halted = isTooMany(missing.length, linkedTo.size);
  if (!halted) await suspectMissing(missing, sweeping);
  sweeping.tally.missing = missing.length;
  sweeping.tally.orphans = await recordDuplicates(linkedTo, sweeping);
  await wake(await solvable(connection, ports), sweeping);
  const report = await reportOf(connection, sweeping.tally, {
    drift: ports.drift,
    cursor: (await ports.feed.read(connection.name))?.cursor ?? null,
    sinceMs: startedAtMs - HOUR_MS,
    startedAtMs,
    nowMs: ports.clock(),
  });
  return { report, halted };
}

const isTooMany = (missing: number, links: number): boolean =>
  missing >= MIN_MISSING && missing > links * MAX_MISSING_SHARE;

/** Marks what differs; @returns linked groups that are not listed. */
async function compare(
  states: readonly GroupState[],
  { listed, ports, tally }: Sweeping,
): Promise<readonly GroupState[]> {
  const linked = states.filter(({ platformId }) => platformId !== undefined);
  const differing = linked.filter(({ platformId, version }) => {
    const observed = listed.get(platformId as string);
    return observed !== undefined && observed.version !== version;
  });
  tally.echoes += linked.length - differing.length;
  await markSuspects(differing, ports, ({ platformId }) => ({
    version: listed.get(platformId as string)?.version ?? null,
    initiator: 'UNKNOWN',
    eventIds: [],
  }));
  return linked.filter(({ platformId }) => !listed.has(platformId as string));
}

async function suspectMissing(missing: readonly GroupState[], { platform, ports }: Sweeping): Promise<void> {
  const gone: GroupState[] = [];
  for (const state of missing) {
    if ((await platform.groups.get(state.platformId as PlatformGroupId)) === undefined) gone.push(state);
  }
  await markSuspects(gone, ports, () => ({ version: null, initiator: 'UNKNOWN', eventIds: [] }));
}

/** Stuck groups, holds that are over, and a share of the litter. */
async function pickUp(states: readonly GroupState[], sweeping: Sweeping): Promise<void> {
  const { ports } = sweeping;
  const nowMs = ports.clock();
  const stuck = states.filter(
    ({ dirtySinceMs, hold }) =>
      (dirtySinceMs !== undefined && nowMs - dirtySinceMs > STUCK_MS) ||
      (hold !== undefined && isOver(hold, nowMs)),
  );
  await wake(
    stuck.map(({ ref }) => ref),
    sweeping,
  );
  const turn = Math.floor(nowMs / HOUR_MS) % GARBAGE_TURNS;
  for (const state of states) {
    if (turnOf(state.ref) === turn) await ports.groups.collect(state, nowMs);
  }
}

const turnOf = ({ group }: GroupRef): number =>
  createHash('sha256').update(group).digest().readUInt8(1) % GARBAGE_TURNS;

async function wake(refs: readonly GroupRef[], { ports, tally }: Sweeping): Promise<void> {
  const unwoken = await wakeGroups(refs, ports);
  tally.reenqueued += refs.length - unwoken.length;
}

async function solvable(connection: Connection, ports: ReconcilePorts): Promise<readonly GroupRef[]> {
  const groups = new Set(await groupsOfSolvable(connection, ports));
  return [...groups].map((group) => ({ connection: connection.name, group }));
}

/** Platform groups that carry the id of a directory group which is linked to another: a person must choose. */
async function recordDuplicates(
  linkedTo: ReadonlyMap<string, GroupState>,
  { connection, listed, ports }: Sweeping,
): Promise<number> {
  let orphans = 0;
  for (const { id, spokeId } of listed.values()) {
    const state = spokeId === null ? undefined : linkedTo.get(spokeId);
    if (state?.platformId === undefined || state.platformId === id) continue;
    orphans += 1;
    const nowMs = ports.clock();
    await ports.drift.record(connection.name, {
      id: createHash('sha256')
        .update(JSON.stringify([state.ref.group, id, 'duplicate']))
        .digest('hex')
        .slice(0, 32),
      group: state.ref.group,
      platformId: id as PlatformGroupId,
      kind: 'duplicate_spoke_id',
      before: state.platformId,
      after: id,
      initiator: 'UNKNOWN',
      eventIds: [],
      policy: 'report',
      detectedAtMs: nowMs,
      settledBy: 'report',
      settledAtMs: nowMs,
    });
  }
  return orphans;
}
