import { createHash } from 'node:crypto';
import { contentDigest, isSameContent } from '../../domain/content-digest.ts';
import { HOUR_MS } from '../../domain/duration.ts';
import { type GroupState, READS_BEHIND_MS } from '../../domain/group-state.ts';
import { holdsOf } from '../../domain/hold.ts';
import { type GroupId, type GroupRef, groupId, type PlatformGroupId } from '../../domain/ids.ts';
import { foldSpokeId } from '../../domain/spoke-id.ts';
import { isWhole, type ObservedGroup } from '../../domain/view.ts';
import { mayBeSpokeId } from '../../plan/names.ts';
import { isOver } from '../../plan/removals.ts';
import { findRemovedOwners } from '../claim-group.ts';
import { throughGate } from '../gate.ts';
import { groupsOfSolvable } from '../people-wake.ts';
import type { ReconcilePorts } from '../ports/bundles.ts';
import type { Owners } from '../ports/claims.ts';
import type { Connection } from '../ports/connections.ts';
import type { GroupSummary } from '../ports/group-index.ts';
import type { Platform } from '../ports/platform.ts';
import { endClaim } from '../retire-claim.ts';
import { mapConcurrently, READS_IN_FLIGHT, REFUSED_AGAIN_MS, REQUEUE_BATCH } from '../tuning.ts';
import { dirtyNow, wakeGroups } from '../wake.ts';
import { type Checking, isThere, markSuspected, recordDuplicate, watched } from './check-groups.ts';
import { emptyTotals, reportOf, type Totals } from './report.ts';
import { readKnownPeople, recordUnknownUsers, type UnboundUsers } from './unknown-users.ts';

/** If the list lacks more than this fraction of the linked groups, the list counts as wrong. */
const MAX_MISSING_SHARE = 0.05;
/** The list counts as wrong only if it lacks at least this number of linked groups. */
const MIN_MISSING = 2;
/** If the list shows more users that are not bound persons, the sweep does not search for unknown users. */
const MOST_UNBOUND = 100_000;
/** Up to this number of groups with other content than the stored view, each is fetched in the same sweep. */
const MIN_CHANGED = 10;
/** A group is stuck if it has been dirty and overdue for longer than this. Without a due time, it is overdue. */
const STUCK_MS = 15 * 60_000;
/**
 * The groups are divided into this number of parts. Each hourly sweep cleans one part, so each group is cleaned daily.
 */
const GARBAGE_TURNS = 24;

export type SweepRun = Awaited<ReturnType<typeof compareAll>>;

/**
 * The data of a listed group that the sweep needs. Only users that are not bound persons are kept, because a million
 * ids would need too much memory. A malformed group has no version, because the sweep knows only that it exists.
 */
interface Listed extends Pick<ObservedGroup, 'spokeId'>, Partial<Pick<ObservedGroup, 'version'>> {
  readonly unbound: readonly string[];
  /** The digest of name, external id and users; undefined if the group is malformed. */
  readonly digest?: string;
}

interface Sweeping extends Checking {
  readonly connection: Connection;
  readonly listed: ReadonlyMap<string, Listed>;
  readonly totals: Totals;
  readonly startedAtMs: number;
  readonly deadlineMs: number;
  readonly passOver: (ref: GroupRef) => void;
  /**
   * The ids of directory groups by their normalised form, which a platform may store in place of the id. An id that
   * equals its normalised form is not included.
   */
  readonly idsByForm: Map<string, GroupId>;
}

/**
 * Compares all links with all groups of the platform. The sweep also handles stuck groups, pending members, expired
 * holds and unused items. It lists the platform's groups once, and reads every group item once. A group that is missing
 * in the list does not count as deleted. The sweep fetches it by id, and apply fetches it twice more (invariant 4).
 * @param deadlineMs the time after which no further pages of employees are read, in milliseconds since 1970
 */
export const sweep = (
  connection: Connection,
  ports: ReconcilePorts,
  deadlineMs = Number.POSITIVE_INFINITY,
): Promise<SweepRun> => throughGate(connection, ports, () => compareAll(connection, ports, deadlineMs));

export async function compareAll(connection: Connection, ports: ReconcilePorts, deadlineMs: number) {
  const startedAtMs = ports.clock();
  const platform = await ports.platforms.open(connection);
  const unreadable = new Set<string>();
  const known = await readKnownPeople(connection, ports);
  const totals = emptyTotals();
  const listed = await listOf(platform, known.ids, totals);
  const sweeping: Sweeping = {
    passOver: ({ group }) => unreadable.add(group),
    connection,
    platform,
    ports,
    listed,
    totals,
    startedAtMs,
    deadlineMs,
    idsByForm: new Map(),
  };
  const { idsByForm } = sweeping;
  // The list may lack a group that was created or written after the sweep began.
  const wasThere = ({ link: { createdAtMs = 0 }, lastWriteAtMs = 0 }: Watched[number]) =>
    lastWriteAtMs < startedAtMs && createdAtMs + ports.createSettleMs < startedAtMs;
  const missing: Watched[number][] = [];
  const linked = new Set<string>();
  const unbound: UnboundUsers[] = [];
  const changed: Watched[number][] = [];
  for await (const page of ports.index.all(connection.name)) {
    const refs = page.map(({ ref }) => ref);
    const folded = refs.filter(({ group }) => foldSpokeId(group) !== group);
    for (const { group } of folded) idsByForm.set(foldSpokeId(group), group);
    const states = await watched(refs, connection, { groups: ports.groups, passOver: sweeping.passOver });
    for (const { link } of states) linked.add(link.id);
    const found = states.map((state) => ({ state, users: listed.get(state.link.id)?.unbound ?? [] }));
    unbound.push(...found.filter(({ users }) => users.length > 0));
    missing.push(...states.filter((state) => !listed.has(state.link.id) && wasThere(state)));
    await markDiffering(states, sweeping);
    changed.push(...states.filter((state) => hasOtherContent(state, sweeping)));
    await pickUp(page, sweeping);
    totals.groupsTouched += states.length;
  }
  await markChanged(changed, linked.size, sweeping);
  totals.missing = missing.length;
  const halted = missing.length >= MIN_MISSING && missing.length > linked.size * MAX_MISSING_SHARE;
  if (!halted) await markMissing(missing, sweeping);
  await recordUnmanaged(linked, sweeping);
  const solvable = [...new Set(await groupsOfSolvable(connection, ports))];
  const refs = solvable.map((group) => ({ connection: connection.name, group }));
  await wake(refs, sweeping);
  if (totals.unsearchedUsers === 0) await recordUnknownUsers(unbound, known, sweeping);
  const nowMs = ports.clock();
  const report = await reportOf(connection, totals, {
    drift: ports.drift,
    cursor: (await ports.feed.read(connection.name))?.cursor ?? null,
    drifted: [startedAtMs - HOUR_MS, nowMs + 1],
    startedAtMs,
    nowMs,
  });
  return {
    report,
    /** Whether the list lacked too many linked groups. The sweep then marks none of the missing groups. */
    halted,
    /** The ids of groups whose items cannot be read. The sweep skipped these groups. */
    unreadable: [...unreadable],
  };
}

/**
 * Reads the list and keeps what the sweep needs of each group. Users that are not bound persons are counted over all
 * groups. Above `MOST_UNBOUND`, none are kept, because the list may show millions of users of other clients' groups.
 */
async function listOf(platform: Platform, bound: ReadonlySet<string>, totals: Totals) {
  const listed = new Map<string, Listed>();
  let count = 0;
  await platform.groups.each((group) => {
    const unbound = isWhole(group) ? group.users.filter((user) => !bound.has(user)) : [];
    count += unbound.length;
    listed.set(group.id, {
      spokeId: group.spokeId,
      unbound: count > MOST_UNBOUND ? [] : unbound,
      ...(isWhole(group) && { version: group.version, digest: contentDigest(group) }),
    });
  });
  totals.unsearchedUsers = count > MOST_UNBOUND ? count : 0;
  return listed;
}

type Watched = Awaited<ReturnType<typeof watched>>;

async function markDiffering(states: Watched, { listed, ports, totals }: Sweeping): Promise<void> {
  const shown = states.flatMap((state) => {
    const version = listed.get(state.link.id)?.version;
    return version === undefined ? [] : [{ state, version, activityEvents: [] }];
  });
  // A group with an open intent is omitted, because the difference may come from its write, and apply settles the
  // intent.
  const differing = shown.filter(({ state, version }) => state.link.version !== version && !state.intent);
  totals.echoes += shown.length - differing.length;
  await markSuspected(differing, ports);
}

/**
 * Whether the list shows the known version of the group with other content. False for a group that apply will read in
 * any case. Also false for a recently written group, because the list may show its earlier content.
 */
function hasOtherContent(state: Watched[number], { listed, startedAtMs }: Sweeping): boolean {
  const { link, intent, suspectedChange, dirtySinceMs, lastWriteAtMs = 0 } = state;
  const { id, version, view } = link;
  const shown = listed.get(id);
  if (shown?.digest === undefined || view.digest === undefined || shown.version !== version) return false;
  if (
    (intent ?? suspectedChange ?? dirtySinceMs) !== undefined ||
    startedAtMs - lastWriteAtMs < READS_BEHIND_MS
  )
    return false;
  return !isSameContent(shown.digest, view.digest);
}

/**
 * Marks groups whose content differs in the list. A fetch by id then shows the content of each group. If many groups
 * differ, the list probably shows only some users of each group. In this case, each group is fetched only once a day.
 */
async function markChanged(changed: Watched, links: number, { ports, startedAtMs }: Sweeping): Promise<void> {
  const isUsual = changed.length > Math.max(MIN_CHANGED, links * MAX_MISSING_SHARE);
  const turn = Math.floor(startedAtMs / HOUR_MS) % GARBAGE_TURNS;
  const due = isUsual ? changed.filter(({ ref }) => turnOf(ref) === turn) : changed;
  const suspected = due.map((state) => ({ state, version: null, activityEvents: [] }));
  await markSuspected(suspected, ports);
}

async function markMissing(missing: Watched, { platform, ports }: Sweeping): Promise<void> {
  const isListed = ({ link }: Watched[number]) => isThere(link.id, platform);
  const found = await mapConcurrently(READS_IN_FLIGHT, missing, isListed);
  const gone = missing.filter((_, at) => !found[at]);
  const suspected = gone.map((state) => ({ state, version: null, activityEvents: [] }));
  await markSuspected(suspected, ports);
}

/**
 * Wakes stuck groups, groups that the platform refused a day ago, groups whose name was in use, and groups with expired
 * holds. It also deletes the unused items of the groups whose turn it is in this sweep.
 */
async function pickUp(page: readonly GroupSummary[], sweeping: Sweeping): Promise<void> {
  const { ports, totals } = sweeping;
  const nowMs = ports.clock();
  const stuck = page
    .filter((group) => isStuck(group, nowMs) || isForgotten(group, nowMs) || hasNameClash(group))
    .map(({ ref }) => ref);
  // The sweep wakes at most as many stuck groups as one run of the requeue job, so that a large backlog is processed at
  // a limited rate.
  await wake(stuck.slice(0, Math.max(0, REQUEUE_BATCH - totals.reenqueued)), sweeping);
  const turn = Math.floor(nowMs / HOUR_MS) % GARBAGE_TURNS;
  const inTurn = page.filter(({ ref, hasHolds }) => turnOf(ref) === turn || hasHolds).map(({ ref }) => ref);
  const states = await ports.groups.readMany(inTurn, sweeping.passOver);
  // Expired removals of an excluded group stay, until the group is included or released.
  const mayEnd = ({ settled, released }: GroupState) => settled !== 'excluded' || released;
  const over = states.filter((state) => mayEnd(state) && holdsOf(state).some((hold) => isOver(hold, nowMs)));
  const refs = over.map(({ ref }) => ref);
  await wake(refs, sweeping);
  for (const state of states) if (turnOf(state.ref) === turn) await ports.groups.collect(state, nowMs);
}

/**
 * Whether the requeue job has missed the group: it has long been dirty, and its due time is absent or long past. A paused
 * group is woken too, because its write may still be open.
 */
const isStuck = ({ dirtySinceMs, dueMs }: GroupSummary, nowMs: number): boolean =>
  dirtySinceMs !== undefined &&
  nowMs - dirtySinceMs > STUCK_MS &&
  (dueMs === undefined || nowMs - dueMs > STUCK_MS);

/**
 * Whether the platform refused the group at least a day ago. The platform may accept the group now. Only the sweep
 * causes another attempt if no event arrives.
 */
const isForgotten = ({ failedAtMs, pausedAtMs }: GroupSummary, nowMs: number): boolean =>
  pausedAtMs === undefined && failedAtMs !== undefined && nowMs - failedAtMs >= REFUSED_AGAIN_MS;

/** Whether the group waits for an operator because of its name. The name on the platform may be free now. */
const hasNameClash = ({ settled, dirtySinceMs, pausedAtMs }: GroupSummary): boolean =>
  settled === 'name_clash' && dirtySinceMs === undefined && pausedAtMs === undefined;

const turnOf = ({ group }: GroupRef): number =>
  createHash('sha256').update(group).digest().readUInt8(1) % GARBAGE_TURNS;

async function wake(refs: readonly GroupRef[], { ports, totals }: Sweeping): Promise<void> {
  const unwoken = await wakeGroups(refs, ports, 'again');
  totals.reenqueued += refs.length - unwoken.length;
}

/**
 * Handles platform groups without an owner whose external id is the id of a directory group. If that directory group is
 * linked to another existing platform group, two platform groups have the same external id, and an operator must
 * choose. If the platform group was the previous link of the directory group and counted as gone, it is linked again. A
 * group that is excluded by the settings is not linked.
 */
async function recordUnmanaged(linked: ReadonlySet<string>, sweeping: Sweeping): Promise<void> {
  const { connection, listed, ports, totals } = sweeping;
  const unmanaged = [...listed].flatMap(([id, { spokeId }]) =>
    linked.has(id) ? [] : [{ id: id as PlatformGroupId, spokeId }],
  );
  const ids = unmanaged.map(({ id }) => id);
  const { now: known, before } = await ports.claims.owners(connection.company, ids);
  await endIdleClaims(known, sweeping);
  const isOfRemoved = await findRemovedOwners(known, ports);
  const unowned = unmanaged.flatMap(({ id, spokeId }) => {
    const groups = carriersOf(spokeId, before.get(id)?.group, sweeping);
    const owner = known.get(id);
    return owner && !isOfRemoved(owner) ? [] : [{ id, spokeId, groups }];
  });
  const named = new Set(unowned.flatMap(({ groups }) => groups));
  const refs = [...named].map((group) => ({ connection: connection.name, group }));
  const found = await ports.groups.readMany(refs, sweeping.passOver);
  const states = new Map(found.map((state) => [String(state.ref.group), state]));
  for (const { id, spokeId, groups } of unowned) {
    const state = groups.map((group) => states.get(group)).find((one) => one !== undefined);
    if (state === undefined) continue;
    if (isPrevious(state, id, sweeping)) await linkAgain(state, sweeping);
    if (spokeId === null) continue;
    totals.orphans += 1;
    const isLinked = state.link !== undefined && listed.has(state.link.id);
    if (isLinked) await recordDuplicate(state, { id, activityEvents: [] }, ports);
  }
}

/** Returns the directory groups to which an unowned platform group may belong, the most likely group first. */
function carriersOf(spokeId: string | null, owner: GroupId | undefined, { idsByForm }: Sweeping) {
  if (spokeId === null) return owner === undefined ? [] : [owner];
  const isOfOwner = owner !== undefined && mayBeSpokeId(spokeId, owner);
  const other = idsByForm.get(foldSpokeId(spokeId));
  return [...(isOfOwner ? [owner] : []), groupId(spokeId), ...(other === undefined ? [] : [other])];
}

/**
 * Whether the directory group was last linked to this listed platform group, which then counted as gone. groupsync
 * itself may have deleted it. False soon after a write, because a list may still show a deleted group for a short time.
 */
const isPrevious = (
  { previousLink, settled, lastWriteAtMs = 0 }: GroupState,
  id: PlatformGroupId,
  { startedAtMs, ports }: Sweeping,
): boolean =>
  previousLink?.isGone === true &&
  previousLink.platformId === id &&
  settled !== 'excluded' &&
  lastWriteAtMs + ports.createSettleMs < startedAtMs;

async function linkAgain(state: GroupState, { ports, totals }: Sweeping): Promise<void> {
  if (!(await ports.groups.noteListed(state, dirtyNow(ports)))) return;
  await ports.applyQueue.wake([state.ref]);
  totals.reenqueued += 1;
}

/** Ends claims without a link. Such a claim remains if an adoption is interrupted between the claim and the link. */
async function endIdleClaims(owners: Owners['now'], { connection, ports, passOver }: Sweeping) {
  const mine = [...owners].filter(([, owner]) => owner.connection === connection.name);
  const refs = mine.map(([, ref]) => ref);
  const states = await ports.groups.readMany(refs, passOver);
  for (const [releasedPlatformId, { group }] of mine) {
    const state = states.find(({ ref }) => ref.group === group);
    if (state === undefined || state.dirtySinceMs !== undefined || state.intent !== undefined) continue;
    await endClaim({ ...state, releasedPlatformId }, connection.company, ports);
  }
}
