import type { GroupState } from '../domain/group-state.ts';
import { REJECTION_LIFETIME_MS, type RemovalSet, removalsOf } from '../domain/hold.ts';
import type { GroupRef } from '../domain/ids.ts';
import type { Commit, GroupStore } from '../sync/ports/groups.ts';
import { CorruptItemError } from '../sync/ports/store-errors.ts';
import { findLines, readChunks, writeChunks } from './chunks.ts';
import {
  acceptedChange,
  isOtherView,
  MISSED,
  RELEASED,
  removalsChange,
  removalsTo,
  withoutRemovals,
  writtenBy,
} from './group-changes.ts';
import { parseGroup } from './group-item.ts';
import { createGroupMembers } from './group-members.ts';
import { createGroupMoves } from './group-moves.ts';
import { createGroupNotes } from './group-notes.ts';
import {
  collectTombstones,
  dirtying,
  IS_AT_REST,
  intentIs,
  intentIsAs,
  PARTIAL_READ_HINTS,
  removalsAre,
  revIsAs,
  settledChange,
  suspectedChangeIsAs,
  UNWRITTEN,
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

export function createGroupStore(table: Table, inlineViewBytes?: number): GroupStore {
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
    return { stored, removals, change: removalsTo(removals) };
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

    readView: views.read,
    prepareView: views.write,
    readChange: views.readChange,
    prepareChange: views.writeChange,

    openIntent: (seen, intent) =>
      update(
        seen.ref,
        {
          set: { intent: plain(intent), ...withoutRemovals(seen) },
          // The item is largest while it has an intent, so optional data is removed from it.
          remove: PARTIAL_READ_HINTS,
        },
        // If the SDK repeats the write, the intent of the first attempt is already stored. Without this condition, the
        // worker would take its own intent for the intent of another worker.
        any(unsettledSince(seen), intentIs(intent.id)),
      ),

    noteMiss: (ref, intent) => update(ref, { set: { intent: plain(intent) } }, intentIs(intent.id)),

    async dropIntent(ref, intent, { uncertain, isRefused, audited }) {
      const set = plain({ uncertain: uncertain && plain(uncertain), lastAudit: audited });
      const dropped = await change(ref, { set, remove: ['intent'] }, intentIs(intent.id));
      if (dropped.written && isRefused) await views.discard(ref, intent.change, dropped.item);
      return dropped.written;
    },

    async commit(ref, commit) {
      const { seen, platform } = commit;
      const written = writtenBy(commit);
      const writeClean = () => {
        const { set, remove } = settledChange(seen, platform?.view, commit);
        const used = removalsChange(commit);
        const removed = new Set([...(written.remove ?? []), ...remove, ...used.remove]);
        const clean = { set: { ...written.set, ...set, ...used.set }, remove: [...removed] };
        const isAsSeen = all(revIsAs(seen), removalsAre(seen), missing('pausedAt'));
        return change(ref, clean, all(intentIs(commit.intent), isAsSeen));
      };
      const writeDirty = async (now: GroupState): Promise<WriteOutcome> => {
        const used = removalsChange({ ...commit, seen: now });
        const set = { ...written.set, ...wakeUpFields(ref, commit.wakeAtMs), ...used.set };
        const dirty = { ...written, set, remove: [...(written.remove ?? []), ...used.remove] };
        const done = await change(ref, dirty, all(intentIs(commit.intent), removalsAre(now)));
        // An operator may have decided about other removals after the write began. These decisions stay.
        const later = done.written ? undefined : await read(ref);
        return later?.intent?.id === commit.intent ? writeDirty(later) : done;
      };
      const ended = commit.unfinished === true ? undefined : await writeClean();
      const clean = ended?.written === true;
      const committed = clean ? ended : await writeDirty(seen);
      if (!committed.written) return undefined;
      await discardOld(commit, committed.item);
      return { clean };
    },

    async storeObserved(seen, platform, found) {
      const how = acceptedChange(seen, platform, found);
      const accepted = await change(seen.ref, how, all(unsettledSince(seen), suspectedChangeIsAs(seen)));
      if (accepted.written && platform !== undefined && isOtherView(seen, platform))
        await views.discard(seen.ref, seen.link?.view, accepted.item);
      return accepted.written;
    },

    async settle(seen, settled, { counts, driftClosed, isUnwritten, calledMs, againAtMs, failing }) {
      const { isListed, ...previousLink } = seen.previousLink ?? {};
      const { set, remove } =
        againAtMs === undefined
          ? settledChange(seen, seen.link?.view, { settled, counts, failing })
          : { set: wakeUpFields(seen.ref, againAtMs, { isSent: false }), remove: ['attempts', 'lastError'] };
      const certain = againAtMs === undefined ? ['uncertain'] : [];
      const sinceMs = isUnwritten ? (seen.unwrittenSinceMs ?? seen.dirtySinceMs) : undefined;
      return update(
        seen.ref,
        {
          set: {
            settled,
            calledMs,
            counts: { ...counts },
            ...set,
            ...(isListed && { previousLink: plain(previousLink) }),
            ...(sinceMs !== undefined && { [UNWRITTEN]: sinceMs }),
          },
          remove: [
            ...remove.filter((name) => name !== UNWRITTEN || sinceMs === undefined),
            ...[...certain, MISSED, ...(driftClosed ? ['openDrift'] : [])],
          ],
        },
        all(unwrittenSince(seen), revIsAs(seen), removalsAre(seen), missing('pausedAt')),
      );
    },

    async decideRemovals(seen, sets, dirty) {
      const { removals, change: how } = await listed(seen.ref, sets);
      // If the SDK repeats a write without an answer, the condition must accept the list that the first attempt stored.
      const isOwn = removalsAre({ removals });
      return update(seen.ref, dirtying(seen.ref, dirty, how), any(removalsAre(seen), isOwn));
    },

    adopt: (seen, link, dirty) =>
      update(
        seen.ref,
        dirtying(seen.ref, dirty, {
          set: { link: plain({ ...link, takeOver: true }) },
          remove: [
            ...RELEASED,
            'suspectedChange',
            'previousLink',
            'refusedFields',
            'createsNamesake',
            MISSED,
          ],
        }),
        all(exists('rev'), unwrittenSince(seen)),
      ),

    async storeMarks(seen, view) {
      const stored = await change(
        seen.ref,
        { set: { link: plain({ ...seen.link, view: plain(view) }) } },
        unsettledSince(seen),
      );
      if (stored.written) await views.discard(seen.ref, seen.link?.view, stored.item);
      return stored.written;
    },

    createNamesake: (seen, dirty) =>
      update(
        seen.ref,
        dirtying(seen.ref, dirty, { set: { createsNamesake: true } }),
        all(exists('rev'), missing('link')),
      ),

    release: (ref, dirty, movedTo) => {
      const remove = movedTo === undefined ? ['movedTo'] : [];
      const set = plain({ released: true, movedTo });
      return update(ref, dirtying(ref, dirty, { set, remove }), exists('rev'));
    },

    endRelease: (ref, dirty, from) =>
      update(ref, dirtying(ref, dirty, { remove: RELEASED }), equal('movedTo', from)),

    pause: (ref, atMs) =>
      update(
        ref,
        {
          // Paused groups stay in the lists of groups that are not in sync.
          set: placed(ref, NOT_DUE),
          setIfMissing: { pausedAt: atMs },
          remove: [MISSED],
        },
        exists('rev'),
      ),

    resume: (ref, { pausedAtMs, ...dirty }) =>
      update(ref, dirtying(ref, dirty, { remove: ['pausedAt'] }), equal('pausedAt', pausedAtMs)),

    async readMany(refs, onUnreadable) {
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

    collect: async (state, nowMs) =>
      state.openMove === undefined
        ? (await views.collect(state, nowMs)) + (await collectTombstones(table, state, nowMs))
        : 0,

    async postpone(
      seen,
      { retryAtMs, isRetrySent, soonerMs, attempts, calledMs, error, mine = seen.intent?.id },
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

    fail: (seen, { reported, ...error }, lastAudit) =>
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
          remove: ['dirtySince', ...WAKE_UP, 'attempts', MISSED],
        },
        all(revIsAs(seen), intentIsAs(seen)),
      ),

    async storeRemovals(seen, sets, lastAudit) {
      const { stored, change: how } = await listed(seen.ref, sets);
      const isStored = await update(seen.ref, { ...how, set: { ...how.set, lastAudit } }, revIsAs(seen));
      return isStored ? stored : undefined;
    },

    async readHeld(ref, hold) {
      const lines = await readChunks(table, (n) => heldChunkKey(ref, hold.digest, n), hold);
      return lines === undefined ? undefined : new Set(lines.map(decodeUser));
    },

    findHeld: async (ref, digest) =>
      new Set((await findLines(table, heldChunkKey(ref, digest, 0))).map(decodeUser)),
  };
}
