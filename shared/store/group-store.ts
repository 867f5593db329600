import type { GroupState, Intent, SettledState, StateChange } from '../domain/group-state.ts';
import { type Hold, REJECTION_LIFETIME_MS, type RemovalSet, removalsOf } from '../domain/hold.ts';
import type { GroupId, GroupRef } from '../domain/ids.ts';
import type { Dirty } from '../sync/ports/desired.ts';
import type { Commit, Postponement, ReportedError } from '../sync/ports/groups.ts';
import type { HeldSet } from '../sync/ports/guard.ts';
import type { AuditLink } from '../sync/ports/logs.ts';
import { CorruptItemError } from '../sync/ports/store-errors.ts';
import { findLines, readChunks, writeChunks } from './chunks.ts';
import { itemChange, parseGroup } from './group-item.ts';
import { createGroupMembers } from './group-members.ts';
import { createGroupMoves } from './group-moves.ts';
import { createGroupNotes } from './group-notes.ts';
import {
  collectTombstones,
  dirtying,
  IS_AT_REST,
  intentIs,
  intentIsAs,
  MISSING_SINCE,
  openRemovals,
  PARTIAL_READ_HINTS,
  RELEASED,
  removalsAre,
  revIsAs,
  type SettledAs,
  settledChange,
  suspectedChangeIsAs,
  unsettledSince,
  unwrittenSince,
  WAKE_UP,
  wakeUpFields,
} from './group-writes.ts';
import { plain } from './item-form.ts';
import { groupKey, heldChunkKey, NOT_DUE, placed } from './keys.ts';
import type { Change, Condition, Item, Table, WriteOutcome } from './table.ts';
import { all, any, equal, exists, missing } from './table.ts';
import { createViewStore, decodeUser } from './view-store.ts';

export function createGroupStore(table: Table, inlineViewBytes?: number) {
  const views = createViewStore(table, inlineViewBytes);
  const change = (ref: GroupRef, how: Change, when: Condition) =>
    table.update(groupKey(ref), how, all(when, IS_AT_REST));
  const update = async (...how: Parameters<typeof change>) => (await change(...how)).written;

  async function read(ref: GroupRef): Promise<GroupState | undefined> {
    const item = await table.get(groupKey(ref));
    return item === undefined ? undefined : parseGroup(ref, item);
  }

  /** Writes the users of new sets. They are stored longer than a rejection lasts. */
  async function recorded(ref: GroupRef, { hold, users }: RemovalSet): Promise<RemovalSet> {
    if (hold.chunks > 0 || users === undefined) return { hold, users };
    const expiresAt = Math.ceil((hold.expiresAtMs + REJECTION_LIFETIME_MS) / 1_000) + 400 * 86_400;
    const lines = [...users].sort().map(encodeURIComponent);
    const keyOf = (n: number) => heldChunkKey(ref, hold.digest, n);
    return { hold: { ...hold, ...(await writeChunks(table, keyOf, lines, { expiresAt })) }, users };
  }

  async function listed(ref: GroupRef, sets: readonly RemovalSet[]) {
    const stored = await Promise.all(sets.map((set) => recorded(ref, set)));
    const removals = removalsOf(stored.map(({ hold }) => hold));
    return { stored, removals, change: itemChange({ removals }) };
  }

  /** Deletes what the item no longer uses after a commit: the previous view, and the change of the intent. */
  async function discardOld({ seen: { ref, link, intent }, platform }: Commit, item: Item) {
    const before = link?.view;
    if (platform === undefined || platform.view.id !== before?.id) await views.discard(ref, before, item);
    const { change: sent } = intent ?? {};
    if (sent?.head && sent.id !== platform?.view.id) await views.discard(ref, sent, item);
  }

  return {
    read,

    ...createGroupMembers(table),
    ...createGroupNotes(table),
    ...createGroupMoves(table),

    /** @returns undefined if the stored chunks do not match the pointer. The caller must then fetch the platform group */
    readView: views.read,
    /** Stores a view. The caller may store the returned pointer only while the group still has the view of `seen`. */
    prepareView: views.write,
    /** Returns undefined if the stored set does not match the pointer. */
    readChange: views.readChange,
    /** Stores the users that an intent changes, or that uncertain writes may change. */
    prepareChange: views.writeChange,

    /**
     * @returns false if another worker has opened an intent, changed the view or settled the group since `seen` was read
     */
    openIntent(seen: GroupState, intent: Intent): Promise<boolean> {
      const { uncertain } = seen;
      // The guard record of the new write replaces the record of the uncertain writes.
      const replaced = uncertain?.removals && plain({ ...uncertain, removals: undefined });
      // The item is largest while it has an intent, so optional data is removed from it.
      const how = { set: plain({ intent: plain(intent), uncertain: replaced }), remove: PARTIAL_READ_HINTS };
      // If the SDK repeats the write, the intent of the first attempt is already stored. Without this condition, the
      // worker would take its own intent for the intent of another worker.
      return update(seen.ref, how, any(unsettledSince(seen), intentIs(intent.id)));
    },

    /** Counts a search that did not find a created group, or an answered deletion without effect. */
    noteTry: (ref: GroupRef, intent: Intent): Promise<boolean> =>
      update(ref, itemChange({ intent }), intentIs(intent.id)),

    /**
     * Ends an intent without a new view. Examples are a refused write, and a write whose effect no fetch shows.
     * @param isRefused whether the platform refused the write. If so, the write's stored sets are deleted
     */
    async dropIntent(ref: GroupRef, intent: Intent, left: StateChange, isRefused = false) {
      const dropped = await change(ref, itemChange(left), intentIs(intent.id));
      if (dropped.written && isRefused) await views.discard(ref, intent.change, dropped.item);
      return dropped.written;
    },

    /**
     * Ends the intent, stores the written view, and clears the dirty mark if rev has not changed.
     * @returns whether the group is now clean; undefined if the intent was no longer open
     */
    async commit(ref: GroupRef, commit: Commit): Promise<{ readonly clean: boolean } | undefined> {
      const { seen, platform } = commit;
      const writeClean = () => {
        const written = itemChange({ ...commit.change, ...openRemovals(commit) });
        const { set, remove } = settledChange(seen, platform?.view, commit);
        const clean = {
          set: { ...written.set, ...set },
          remove: [...new Set([...written.remove, ...remove])],
        };
        const isAsSeen = all(revIsAs(seen), removalsAre(seen), missing('pausedAt'));
        return change(ref, clean, all(intentIs(commit.intent), isAsSeen));
      };
      const writeDirty = async (now: GroupState): Promise<WriteOutcome> => {
        const { set, remove } = itemChange({
          ...commit.change,
          ...openRemovals({ ...commit, seen: now }),
        });
        const dirty = { set: { ...set, ...wakeUpFields(ref, commit.wakeAtMs) }, remove };
        const done = await change(ref, dirty, all(intentIs(commit.intent), removalsAre(now)));
        // An operator may have decided about other removals after the write began. These decisions stay. If the group
        // has begun to move, the new group settles the intent.
        const later = done.written ? undefined : await read(ref);
        const isOpen = later?.intent?.id === commit.intent && later.openMove === undefined;
        return isOpen ? writeDirty(later) : done;
      };
      const ended = commit.unfinished === true ? undefined : await writeClean();
      const clean = ended?.written === true;
      const committed = clean ? ended : await writeDirty(seen);
      if (!committed.written) return undefined;
      await discardOld(commit, committed.item);
      return { clean };
    },

    /**
     * Stores what a fetch showed, or other marks of the view. The dirty mark stays.
     * @returns false if an intent, a view, a suspected change or a settlement was stored since `seen` was read
     */
    async storeObserved(seen: GroupState, how: StateChange) {
      const isAsSeen = all(unsettledSince(seen), suspectedChangeIsAs(seen), removalsAre(seen));
      const stored = await change(seen.ref, itemChange(how), isAsSeen);
      if (stored.written && how.link !== undefined && how.link.view.id !== seen.link?.view.id)
        await views.discard(seen.ref, seen.link?.view, stored.item);
      return stored.written;
    },

    /**
     * Clears the dirty mark of a group that needs no write now. Returns false if the group is paused or has an open
     * intent, or if rev, the view or the hold has changed since `seen` was read.
     * @param how.driftClosed whether every record in `openDrift` was closed
     * @param how.againAtMs if given, the group stays dirty until this time, and apply then reads the group again
     * @param how.failing the error about a refused field, if this field is the only difference
     */
    async settle(
      seen: GroupState,
      settled: SettledState,
      how: Omit<SettledAs, 'settled'> & {
        readonly driftClosed: boolean;
        readonly calledMs: readonly number[];
        readonly againAtMs?: number | undefined;
      },
    ) {
      const { counts, driftClosed, calledMs, againAtMs } = how;
      const { isListed, ...previousLink } = seen.previousLink ?? {};
      const { set, remove } =
        againAtMs === undefined
          ? settledChange(seen, seen.link?.view, { ...how, settled })
          : { set: wakeUpFields(seen.ref, againAtMs, { isSent: false }), remove: ['attempts', 'lastError'] };
      const certain = againAtMs === undefined ? ['uncertain'] : [];
      return update(
        seen.ref,
        {
          set: {
            settled,
            calledMs,
            counts: { ...counts },
            ...set,
            ...(isListed && { previousLink: plain(previousLink) }),
          },
          remove: [...remove, ...certain, MISSING_SINCE, ...(driftClosed ? ['openDrift'] : [])],
        },
        all(unwrittenSince(seen), revIsAs(seen), removalsAre(seen), missing('pausedAt')),
      );
    },

    /**
     * Stores the list of removals after an operator's decision, raises rev and marks the group dirty, in one write.
     * Returns false if the list has changed since `seen` was read.
     */
    async decideRemovals(seen: GroupState, sets: readonly RemovalSet[], dirty: Dirty): Promise<boolean> {
      const { removals, change: how } = await listed(seen.ref, sets);
      // If the SDK repeats a write without an answer, the condition must accept the list that the first attempt stored.
      const isOwn = removalsAre({ removals });
      return update(seen.ref, dirtying(seen.ref, dirty, how), any(removalsAre(seen), isOwn));
    },

    /**
     * Links a platform group that an operator chose, raises rev and marks the group dirty.
     * @returns false if another worker has opened an intent or changed the view since `seen` was read
     */
    adopt: (seen: GroupState, linked: StateChange, dirty: Dirty): Promise<boolean> =>
      update(
        seen.ref,
        dirtying(seen.ref, dirty, itemChange(linked)),
        all(exists('rev'), unwrittenSince(seen)),
      ),

    /**
     * Notes that this group may get a new platform group although an unmanaged one has this name, raises rev and marks
     * the group dirty.
     * @returns false if there is no such group, or the group has a platform group
     */
    createNamesake: (ref: GroupRef, createsBeside: string, dirty: Dirty): Promise<boolean> =>
      update(ref, dirtying(ref, dirty, { set: { createsBeside } }), all(exists('rev'), missing('link'))),

    /** Records that the stored registers are confirmed after a restore of the table. @returns false without the group */
    restate: (ref: GroupRef, dirty: Dirty): Promise<boolean> =>
      update(ref, dirtying(ref, dirty, { set: { restatedAt: dirty.nowMs } }), exists('rev')),

    /**
     * Marks the group as released and dirty, and raises rev. Apply then ends the link.
     * @param movedTo the group of another source that owns the group's platform group, or its name
     * @returns false if there is no such group
     */
    release: (ref: GroupRef, dirty: Dirty, movedTo?: GroupId): Promise<boolean> => {
      const remove = movedTo === undefined ? ['movedTo'] : [];
      const set = plain({ released: true, movedTo });
      return update(ref, dirtying(ref, dirty, { set, remove }), exists('rev'));
    },

    /**
     * Ends the release in favour of the group `from`, raises rev and marks the group dirty.
     * @returns false if the group is not released in favour of this group
     */
    endRelease: (ref: GroupRef, dirty: Dirty, from: GroupId): Promise<boolean> =>
      update(ref, dirtying(ref, dirty, { remove: RELEASED }), equal('movedTo', from)),

    /** @returns false if there is no such group */
    pause: (ref: GroupRef, atMs: number): Promise<boolean> =>
      update(
        ref,
        {
          // Paused groups stay in the lists of groups that are not in sync.
          set: placed(ref, NOT_DUE),
          setIfMissing: { pausedAt: atMs },
          remove: [MISSING_SINCE],
        },
        exists('rev'),
      ),

    /**
     * Ends the pause that began at `pausedAtMs`, raises rev and marks the group dirty. Returns false if the group is not
     * paused, or if a later pause has begun.
     */
    resume: (ref: GroupRef, { pausedAtMs, ...dirty }: Dirty & { readonly pausedAtMs: number }) =>
      update(ref, dirtying(ref, dirty, { remove: ['pausedAt'] }), equal('pausedAt', pausedAtMs)),

    /**
     * Reads many groups, each with a consistent read. Groups that do not exist are omitted.
     * @param onUnreadable called for each unreadable item. The result omits this item. Without this callback, an
     * unreadable item causes an error
     */
    async readMany(refs: readonly GroupRef[], onUnreadable?: (ref: GroupRef) => void) {
      const byKey = new Map(refs.map((ref) => [groupKey(ref).pk, ref]));
      const items = await table.getMany(refs.map(groupKey));
      return items.flatMap((item) => {
        const ref = byKey.get(item.pk);
        if (ref === undefined) return [];
        try {
          return [parseGroup(ref, item)];
        } catch (error) {
          if (onUnreadable === undefined || !(error instanceof CorruptItemError)) throw error;
          onUnreadable(ref);
          return [];
        }
      });
    },

    /**
     * Deletes chunks of ended writes and expired tombstones.
     * @returns the number of deleted items
     */
    collect: async (state: GroupState, nowMs: number): Promise<number> =>
      state.openMove === undefined
        ? (await views.collect(state, nowMs)) + (await collectTombstones(table, state, nowMs))
        : 0,

    /**
     * Stores the time of the next attempt, and the error. The group stays dirty. Other workers may settle this worker's
     * open intent immediately.
     * @returns the stored wake-up, `soonerMs` if rev has changed; undefined for a clean group or another open intent
     */
    async postpone(
      seen: GroupState,
      { retryAtMs, isRetrySent, soonerMs, attempts, calledMs, error, mine = seen.intent?.id }: Postponement,
    ) {
      const { ref } = seen;
      const noOtherIntent = mine === undefined ? missing('intent') : any(missing('intent'), intentIs(mine));
      const until = (wakeAtMs: number, when: Condition, isSent: boolean) => {
        const tried = { attempts, calledMs, lastError: { ...error } };
        const set = {
          ...tried,
          ...(mine && { releasedIntent: mine }),
          ...wakeUpFields(ref, wakeAtMs, { isSent }),
        };
        return update(ref, { set }, all(exists('dirtySince'), noOtherIntent, when));
      };
      if (await until(retryAtMs, revIsAs(seen), isRetrySent)) return retryAtMs;
      return (await until(soonerMs, exists('rev'), true)) ? soonerMs : undefined;
    },

    /**
     * Stops the attempts until the next change of the group. After a day, the sweep wakes the group.
     * @returns false if the group has changed since `seen` was read
     */
    fail: (seen: GroupState, { reported, ...error }: ReportedError, lastAudit: AuditLink) =>
      update(
        seen.ref,
        {
          set: {
            failedAt: error.atMs,
            lastError: { ...error },
            failureReport: { digest: reported },
            lastAudit,
            calledMs: seen.calledMs,
            ...placed(seen.ref, NOT_DUE),
          },
          remove: ['dirtySince', ...WAKE_UP, 'attempts', MISSING_SINCE],
        },
        all(revIsAs(seen), intentIsAs(seen)),
      ),

    /** @returns the stored list; undefined if rev or the list has changed. The caller must then plan again */
    async storeRemovals(seen: GroupState, sets: readonly RemovalSet[], lastAudit: AuditLink) {
      const { stored, removals, change: how } = await listed(seen.ref, sets);
      // As in `decideRemovals`, a repeated write accepts its own list.
      const isAsSeen = all(revIsAs(seen), any(removalsAre(seen), removalsAre({ removals })));
      const isStored = await update(seen.ref, { ...how, set: { ...how.set, lastAudit } }, isAsSeen);
      return isStored ? stored : undefined;
    },

    async readHeld(ref: GroupRef, hold: Hold): Promise<HeldSet | undefined> {
      const lines = await readChunks(table, (n) => heldChunkKey(ref, hold.digest, n), hold);
      return lines === undefined ? undefined : new Set(lines.map(decodeUser));
    },

    /** Finds the users of a set that may no longer be on the list; empty if they are no longer stored. */
    findHeld: async (ref: GroupRef, digest: string): Promise<HeldSet> =>
      new Set((await findLines(table, heldChunkKey(ref, digest, 0))).map(decodeUser)),
  };
}
