import * as z from 'zod';
import { completeSnapshotFloor, type PartMarker } from '../domain/fold.ts';
import { number, stampText } from '../domain/forms.ts';
import type { GroupRegisters } from '../domain/group.ts';
import { EVENT_FIELDS } from '../domain/group-fields.ts';
import { type GroupId, type GroupRef, groupId, type MemberId } from '../domain/ids.ts';
import { nestedMember } from '../domain/nesting.ts';
import { laterStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../domain/stamp.ts';
import type { Dirty, GroupUpdate, MemberEntry, WakeUpState } from '../sync/ports/desired.ts';
import { dirtying, wakeUpFields } from './group-writes.ts';
import { OF_THIS_SCHEMA, plain, understood } from './item-form.ts';
import { groupKey, IN_PREFIX, inGroupKey, memberKey, partKey, partPrefix, userKey } from './keys.ts';
import type { Attributes, Condition, Item, Table } from './table.ts';
import { all, any, equal, exists, greater, itemsOf, less, missing } from './table.ts';

/**
 * The lifetime of a tombstone, from the later of its stamp and its receipt. Ingest refuses events that are more than
 * 400 days old, also in a replay. So after 430 days (with a month of margin), ingest accepts no event from before the
 * tombstone. The expired tombstone is then not needed to keep a removed member out.
 */
export const TOMBSTONE_LIFETIME_MS = 430 * 24 * 3_600_000;

const tombstoneEndSeconds = (stamp: Stamp, receivedAtMs: number): number =>
  Math.ceil((Math.max(stampTimeMs(stamp), receivedAtMs) + TOMBSTONE_LIFETIME_MS) / 1_000);

/** The rule of `supersedes` as a condition: the later stamp wins. If the stamps are equal, the smaller value wins. */
const newerThanStored = (stampName: string, valueName: string, stamp: Stamp, value: string): Condition =>
  any(missing(stampName), less(stampName, stamp), all(equal(stampName, stamp), greater(valueName, value)));

const laterThanStored = (name: string, stamp: Stamp): Condition => any(missing(name), less(name, stamp));

export function createDesiredStore(table: Table) {
  /**
   * Each register of the group has its own condition. Most events are later than all stored registers. So the first
   * attempt writes all registers and the dirty mark together. If one condition fails, each register is written
   * separately.
   */
  async function markWith(update: GroupUpdate | undefined, ref: GroupRef, dirty: Dirty) {
    const key = groupKey(ref);
    const registers = update === undefined ? [] : registerWrites(update);
    const batch = plain({ batchDigest: update?.digest });
    const setIfMissing = plain({ changedMembers: update?.changedMembers });
    if (registers.length > 0) {
      const set: Attributes = Object.assign({ ...batch }, ...registers.map((one) => one.set));
      const isLater = all(...registers.map(({ when }) => when));
      const together = await table.update(key, dirtying(ref, dirty, { set, setIfMissing }), isLater);
      if (together.written) return together;
      for (const { set, when } of registers) await table.update(key, { set }, when);
    }
    return table.update(key, dirtying(ref, dirty, { set: batch, setIfMissing }));
  }

  const noteMembership = async (ref: GroupRef, member: MemberId) => {
    await table.put({ ...inGroupKey(ref, member), group: ref.group });
  };

  return {
    /** Notes that a change of this user must reach the group. The note is never removed. */
    noteMembership,

    /**
     * Joins the register with the stored register: the later stamp wins. `nowMs` sets the expiry of a tombstone.
     * @returns the change; undefined if the stored register is equal or later, and stays
     */
    async joinMember(ref: GroupRef, { member, register }: MemberEntry, nowMs: number) {
      const outcome = await table.update(
        memberKey(ref, member),
        memberChange({ member, register }, nowMs),
        newerThanStored('stamp', 'presence', register.stamp, register.value),
        'before',
      );
      const { presentAt = register.stamp } = register;
      // The register does not show a membership that ended before it was stored.
      const isShown = register.value === 'present' ? outcome.written : register.presentAt === undefined;
      if (!isShown) {
        const isEnded = all(equal('presence', 'absent'), laterThanStored('presentAt', presentAt));
        await table.update(memberKey(ref, member), { set: { presentAt } }, isEnded);
      }
      if (!outcome.written) return undefined;
      const { presence, stamp } = outcome.item;
      return presence === 'present' ? { member, left: stamp as Stamp } : { member };
    },

    /**
     * Notes and stores the first members of a new group, whose id no other request knows yet. The writes have no
     * condition, so one request can contain 25 members.
     */
    async joinNew(ref: GroupRef, entries: readonly MemberEntry[], nowMs: number): Promise<void> {
      await Promise.all(entries.map(({ member }) => noteMembership(ref, member)));
      const items = entries.map((entry) => ({
        ...memberKey(ref, entry.member),
        ...memberChange(entry, nowMs).set,
      }));
      await Promise.all(items.map((item) => table.put(item)));
    },

    /**
     * Records that these parts of snapshots have arrived, and then reads all recorded parts of the same snapshots.
     * @returns the latest floor that complete snapshots set; `STAMP_ZERO` if there is none
     */
    async recordParts(ref: GroupRef, parts: readonly PartMarker[], nowMs: number): Promise<Stamp> {
      const { pk } = groupKey(ref);
      const prefixes = new Map<string, number>();
      const markers = parts.map((part) => {
        const prefix = partPrefix(part.source, part.snapshotId, part.count);
        prefixes.set(prefix, part.count);
        const { index, stamp } = part;
        const expiresAt = tombstoneEndSeconds(stamp, nowMs);
        return { ...partKey(ref, prefix, part), index, stamp, expiresAt };
      });
      await Promise.all(markers.map((marker) => table.put(marker)));
      const floors = [...prefixes].map(async ([prefix, count]) => {
        return completeSnapshotFloor(count, (await itemsOf(table, { partition: pk, prefix })).map(partOf));
      });
      return (await Promise.all(floors)).reduce(laterStamp, STAMP_ZERO);
    },

    /**
     * Raises rev and marks the group dirty, even if no register changes. The reason is that a worker may have crashed
     * after it stored the registers and before it stored the mark.
     * @param update registers of the group itself. Each register is joined by its own stamp, in this write or in an
     * earlier one
     * @returns the state after the write. A stored wake-up stays, except if `Dirty.isAtOnce` is set
     */
    async markDirty(ref: GroupRef, dirty: Dirty, update?: GroupUpdate): Promise<WakeUpState> {
      const marked = await markWith(update, ref, dirty);
      const item: Attributes = marked.written ? marked.item : {};
      const { wakeAt, wakeIsSent, lastWriteAt, pausedAt, isContained } = item;
      return {
        wakeAtMs: Number(wakeAt),
        wakeIsSent: wakeIsSent === true,
        lastWriteAtMs: typeof lastWriteAt === 'number' ? lastWriteAt : undefined,
        paused: pausedAt !== undefined,
        isContained: isContained === true,
      };
    },

    /**
     * Whether the group has stored this batch as its latest, and is not dirty, failed or contained in another group.
     * @param mayBeDirty whether the result is true for a dirty group too, because the requeue job finds dirty groups
     */
    async isRepeated(ref: GroupRef, digest: string, mayBeDirty: boolean): Promise<boolean> {
      const item: Attributes = (await table.get(groupKey(ref))) ?? {};
      const { batchDigest, dirtySince, failedAt, isContained } = item;
      // A repeated batch must wake this group again, because its outer groups may not be marked dirty yet.
      if (isContained === true) return false;
      return batchDigest === digest && (mayBeDirty || dirtySince === undefined) && failedAt === undefined;
    },

    /** Notes the groups within the group, before the caller writes their registers. The note is never removed. */
    async noteNesting(ref: GroupRef, inner: readonly GroupId[]): Promise<void> {
      const note = (of: GroupRef, name: 'containsGroups' | 'isContained') =>
        table.update(groupKey(of), { set: { group: of.group, [name]: true }, setIfMissing: OF_THIS_SCHEMA });
      const contained = inner.map((group) => note({ ...ref, group }, 'isContained'));
      await Promise.all([note(ref, 'containsGroups'), ...contained]);
    },

    /** Returns the groups that contain the group now, or contained it earlier. */
    async groupsAround(ref: GroupRef): Promise<readonly GroupId[]> {
      const partition = userKey(ref.connection, nestedMember(ref.group)).pk;
      const notes = await itemsOf(table, { partition, prefix: IN_PREFIX });
      return notes.map(({ group }) => groupId(String(group)));
    },

    /**
     * Stores a new wake-up in place of the wake-up `seenMs`.
     * @returns false if the stored wake-up is no longer `seenMs`
     */
    async renew(ref: GroupRef, seenMs: number, wakeAtMs: number): Promise<boolean> {
      // If the SDK repeats the write, the first attempt has already stored the new wake-up. The caller must then send its
      // message.
      const isSeenOrOwn = any(equal('wakeAt', seenMs), equal('wakeAt', wakeAtMs));
      const isAsSeen = all(exists('dirtySince'), isSeenOrOwn);
      return (await table.update(groupKey(ref), { set: wakeUpFields(ref, wakeAtMs) }, isAsSeen)).written;
    },
  };
}

function memberChange({ member, register }: MemberEntry, nowMs: number) {
  const { actor, stamp, value: presence } = register;
  const set = { member, stamp, presence, ...(actor && { actor }) };
  const noActor = actor === undefined ? ['actor'] : [];
  return register.value === 'present'
    ? { set: { ...set, presentAt: stamp }, remove: ['expiresAt', ...noActor] }
    : { set: { ...set, expiresAt: tombstoneEndSeconds(stamp, nowMs) }, remove: noActor };
}

function registerWrites({ author, ...registers }: GroupRegisters) {
  const update = (['upserted', 'deleted', 'snapshot'] as const).filter(
    (floor) => registers[floor] !== STAMP_ZERO,
  );
  const writes: { readonly set: Attributes; readonly when: Condition }[] = update.map((floor) => ({
    set: { [floor]: registers[floor] },
    when: laterThanStored(floor, registers[floor]),
  }));
  if (author !== undefined) {
    const { stamp, actor } = author;
    writes.push({ set: { actor: { ...actor, stamp } }, when: laterThanStored('actor.stamp', stamp) });
  }
  for (const field of EVENT_FIELDS) {
    const register = registers[field];
    if (register === undefined) continue;
    const { stamp, value } = register;
    const when = newerThanStored(`${field}.stamp`, `${field}.value`, stamp, value);
    writes.push({ set: { [field]: { value, stamp } }, when });
  }
  return writes;
}

const Part = z.lazy(() => z.object({ index: number, stamp: stampText }));
const partOf = (item: Item) => understood(Part, item, `a snapshot part at ${item.sk}`);
