import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import type { PlatformCall } from '../platform/platform.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../simulation-run.ts';
import { blockedAmong, blocksOf } from './blocks.ts';
import { namedByDrift } from './differences.ts';
import { type Change, removedOnRequest } from './ledger.ts';
import {
  type Checker,
  type Observation,
  type ObservedConnection,
  type Owner,
  withMoved,
} from './observation.ts';

type Limits = NonNullable<ConnectionSettings['guard']>;

/** Removals from a platform group that no operator approved. */
interface Removed extends Pick<Change, 'atMs' | 'id' | 'sizeBefore'> {
  readonly users: string[];
  readonly isOfDeletion: boolean;
}

/** At most this many small groups, or this share of all groups, may lose more than half of their users in an hour. */
const MOST_EMPTIED = { groups: 2, share: 0.05 };

/** An unused approval expires after this time. */
const APPROVAL_MS = 7 * DAY_MS;
/** The longest time for which the engine counts a removal: an hour, and 15 minutes for an uncertain write. */
const COUNTED_AT_MOST_MS = HOUR_MS + 15 * 60_000;
/** A worker may use an old limit for some time, so the check remembers the limits of its last three runs. */
const LIMITS_REMEMBERED = 3;

/** Checks that removals and deletions above the guard's limits take effect only after an approval. */
export function createGuard(): Checker {
  const limits = new Map<string, ConnectionSettings['guard'][]>();
  const removals = new Map<string, Removed[]>();
  const used = new Map<object, ReadonlySet<string>>();
  const deletions = new Map<string, Change[]>();

  /** Returns the removed users without an approval. An approval covers only one removal of each user. */
  const unapproved = (observation: Observation, { connection, group }: Owner, change: Change): string[] => {
    const { seen } = observation;
    const groups = withMoved(observation, connection, group);
    const { atMs } = change;
    const asked = removedOnRequest(change);
    // The guard does not judge the removal of a blocked person.
    const blocked = blockedAmong(asked, blocksOf(seen, connection), atMs);
    let left = asked.filter((user) => change.action === 'delete' || !blocked.has(user));
    for (const action of seen.operators.actions) {
      const isOfGroup =
        action.kind === 'approve' &&
        action.done &&
        action.connection === connection &&
        groups.includes(action.group ?? '');
      if (!isOfGroup || action.atMs > atMs || atMs - action.atMs > APPROVAL_MS) continue;
      const gone = used.get(action);
      const taken = new Set(left.filter((user) => action.removals?.includes(user) && !gone?.has(user)));
      used.set(action, new Set([...(gone ?? []), ...taken]));
      left = left.filter((user) => !taken.has(user));
    }
    return left;
  };

  const checkDeletion = (
    observation: Observation,
    { change, owner, connection }: Observation['writes'][number],
  ): void => {
    const guard = laxest(limits.get(connection.name) ?? []);
    const isApproved = observation.seen.operators.actions.some(
      ({ kind, done, atMs, ...about }) =>
        kind === 'approve' &&
        done &&
        about.connection === owner.connection &&
        about.group === owner.group &&
        atMs <= change.atMs &&
        change.atMs - atMs <= APPROVAL_MS,
    );
    if (guard === null || change.action !== 'delete' || isApproved) return;
    const counted = deletions.get(connection.name) ?? [];
    const inHour = [...counted.filter(({ atMs }) => change.atMs - atMs < HOUR_MS), change];
    deletions.set(connection.name, inHour);
    const { size } = new Set(inHour.map(({ id }) => id));
    // This check counts all groups that the directory ever named. So its limit is never lower than the engine's limit.
    const most = Math.max(guard.deletedGroups, connection.groups.length * guard.deletedGroupsShare);
    if (size <= most) return;
    const sentence = `Within an hour ${size} groups of ${connection.name} were deleted. Expected the group ${owner.group} to be held until a person approves (at most ${Math.floor(most)}).`;
    observation.accuse('guard', 'deleted_groups', owner, sentence);
  };

  const checkEmptied = (
    observation: Observation,
    { change, owner, connection }: Pick<Observation['writes'][number], 'change' | 'owner' | 'connection'>,
    removed: readonly Removed[],
  ): void => {
    const emptied = emptiedIn(removed, smallestSize(limits.get(connection.name) ?? []));
    // This check counts all groups that the directory ever named. So its limit is never lower than the engine's limit.
    const most = Math.max(MOST_EMPTIED.groups, Math.floor(connection.groups.length * MOST_EMPTIED.share));
    if (!emptied.has(change.id) || emptied.size <= most) return;
    const sentence = `Within an hour ${emptied.size} small groups of ${connection.name} lost more than half of their users. Expected the removals from the group ${owner.group} to be held until a person approves (at most ${most}).`;
    observation.accuse('guard', 'emptied_groups', owner, sentence);
  };

  const check = (
    observation: Observation,
    { change, owner, connection }: Observation['writes'][number],
  ): void => {
    const guard = laxest(limits.get(connection.name) ?? []);
    const lacked = lackedAfterEdit(connection, owner.group, change);
    const users = unapproved(observation, owner, change).filter((user) => !lacked.has(user));
    if (guard === null || users.length === 0 || hasOutdatedAnswer(observation.seen, connection, change))
      return;
    const counted = (removals.get(connection.name) ?? []).filter(
      ({ atMs }) => change.atMs - atMs < COUNTED_AT_MOST_MS,
    );
    const recent = counted.filter(({ atMs }) => change.atMs - atMs < HOUR_MS);
    // The platform may ignore the version of a PATCH. Then a write of unknown outcome may take effect late and remove
    // the same user a second time (docs/invariants.md, section 5).
    const isAgain = (user: string) => recent.some((one) => one.id === change.id && one.users.includes(user));
    const mayRepeat = change.late && !connection.platform.traits.enforceVersionOnPatch;
    const fresh = mayRepeat ? users.filter((user) => !isAgain(user)) : users;
    const inHour = recent.reduce((sum, one) => sum + one.users.length, fresh.length);
    const { atMs, id, sizeBefore } = change;
    const groups = withMoved(observation, connection.name, owner.group);
    const isDeletion = groups.some((group) => isOfDeletion(connection, group, change));
    const removed = { atMs, id, sizeBefore, users: fresh, isOfDeletion: isDeletion };
    removals.set(connection.name, [...counted, removed]);
    if (inHour > guard.perHourCount) {
      const sentence = `Expected at most ${guard.perHourCount} removals an hour without approval in ${connection.name}, but found ${inHour} on the platform.`;
      observation.accuse('guard', 'removals_over_limit', owner, sentence);
    }
    if (isDeletion) return;
    checkEmptied(observation, { change, owner, connection }, [...recent, removed]);
    // Several small writes within an hour count like one large write. The size is that of the group before the first
    // small write. A user who was removed twice counts once.
    const earlier = recent.flatMap((one) => (one.id === id ? one.users : []));
    const lost = new Set([...earlier, ...users]).size;
    // If users joined between two removals, the sum of remaining and removed users is too high. So the largest size
    // that the group actually had is the upper limit.
    const sizeOf = (some: readonly Pick<Change, 'id' | 'sizeBefore'>[]) => {
      const sizes = some.flatMap((one) => (one.id === id ? [one.sizeBefore] : []));
      return Math.min(sizeBefore + lost - users.length, Math.max(sizeBefore, ...sizes));
    };
    const size = sizeOf(counted);
    const isLarge = sizeOf(recent) >= guard.minSize && lost / size > guard.maxRemovedShare;
    if (!isLarge && lost <= guard.maxRemovedCount) return;
    const sentence = `Within an hour ${lost} of ${size} users were removed from the group ${owner.group}. Expected the last ${users.length} of them to be held until a person approves (at most ${guard.maxRemovedCount}, or ${guard.maxRemovedShare} of the group).`;
    observation.accuse('guard', isLarge ? 'write_over_share' : 'write_over_count', owner, sentence);
  };

  return (observation) => {
    for (const { name, settings } of observation.connections) {
      limits.set(name, [...(limits.get(name) ?? []), settings.guard].slice(-LIMITS_REMEMBERED));
    }
    for (const write of observation.writes) {
      check(observation, write);
      checkDeletion(observation, write);
    }
  };
}

/**
 * Returns the users whose removal the drift records attribute to another client, which made the last change. In this
 * case groupsync read an answer without these users, and recorded that the other client removed them. groupsync then
 * left them out.
 */
function lackedAfterEdit(
  connection: ObservedConnection,
  group: string,
  { id, atMs }: Change,
): ReadonlySet<string> {
  const { changes = [] } = connection.ledger.pasts.get(id) ?? {};
  const last = changes.findLast((one) => one.atMs < atMs);
  if (last?.initiator === undefined) return new Set();
  return namedByDrift({ connection, group }, 'members_removed');
}

/** The guard gives back a removal that an outdated answer does not show (docs/invariants.md, section 5). */
function hasOutdatedAnswer(
  { operators }: Observation['seen'],
  { name, platform }: ObservedConnection,
  { id, atMs }: Change,
): boolean {
  // After a restore, groupsync adds no user that an answer lacks before the source has sent the group.
  const isRestored = operators.actions.some((one) => one.connection === name && one.kind === 'restore');
  const faults = isRestored ? ['answers_lag', 'answers_lack_users'] : ['answers_lag'];
  const isOutdated = ({ platformFaults }: PlatformCall) => platformFaults.some((one) => faults.includes(one));
  const isJustBefore = (one: PlatformCall) => one.atMs <= atMs && atMs - one.atMs < MINUTE_MS;
  return platform.calls.some((one) => one.id === id && isJustBefore(one) && isOutdated(one));
}

/**
 * Returns whether the write deletes a group that the directory deleted. Removals before a release are judged like other
 * removals. Returns false if the directory created the group again more than an hour ago.
 */
function isOfDeletion(connection: ObservedConnection, group: string, { action, atMs }: Change): boolean {
  const { groups, changedAtMs } = connection.reading;
  if (action !== 'delete' || connection.item(group)?.deleted === undefined) return false;
  const isNews = (changedAtMs.get(group) ?? 0) > atMs - HOUR_MS;
  // If the directory created a deleted group again but sent no name, the group still counts as deleted.
  const isDeleted = groups.get(group)?.name === undefined;
  return isDeleted || isNews || connection.hasUncertainRequest(group);
}

const smallestSize = (guards: readonly ConnectionSettings['guard'][]): number =>
  Math.min(...guards.map((guard) => guard?.minSize ?? 0));

/** Returns the platform groups with fewer than `minSize` users that lost more than half of their users. */
function emptiedIn(removed: readonly Removed[], minSize: number): ReadonlySet<string> {
  const judged = removed.filter((one) => !one.isOfDeletion);
  const isEmptied = (id: string) => {
    const ofGroup = judged.filter((one) => one.id === id);
    const size = Math.max(...ofGroup.map(({ sizeBefore }) => sizeBefore));
    const lost = new Set(ofGroup.flatMap(({ users }) => users)).size;
    return size < minSize && lost > size / 2;
  };
  return new Set(judged.map(({ id }) => id).filter(isEmptied));
}

function laxest(guards: readonly ConnectionSettings['guard'][]): Limits | null {
  const all = guards.filter((guard) => guard !== null);
  const most = (of: keyof Limits) => Math.max(...all.map((guard) => guard[of]));
  const [first] = all;
  if (first === undefined || all.length < guards.length) return null;
  const names = Object.keys(first) as (keyof Limits)[];
  return Object.fromEntries(names.map((name) => [name, most(name)])) as Limits;
}
