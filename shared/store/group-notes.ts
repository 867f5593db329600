import type { GroupField } from '../domain/group-fields.ts';
import type { GroupState, RefusedValue, SuspectedChange } from '../domain/group-state.ts';
import type { GroupRef } from '../domain/ids.ts';
import type { Dirty } from '../sync/ports/desired.ts';
import { dirtying, IS_AT_REST, MISSING_SINCE, suspectedChangeIsAs, viewIsAs } from './group-writes.ts';
import { plain } from './item-form.ts';
import { groupKey } from './keys.ts';
import { all, type Change, type Condition, equal, exists, missing, type Table } from './table.ts';

/** The part of the group store that records facts about a group outside of a write to the platform. */
export function createGroupNotes(table: Table) {
  const update = async (ref: GroupRef, how: Change, when: Condition) =>
    (await table.update(groupKey(ref), how, all(when, IS_AT_REST))).written;
  return {
    /** Notes the time of the first 404 for the platform group that `seen` is linked to or will adopt. */
    async noteMissing({ ref, link, missingSinceMs: sinceMs }: GroupState, atMs: number): Promise<void> {
      const isSame = link === undefined ? missing('link') : equal('link.id', link.id);
      const isAsSeen = sinceMs === undefined ? missing(MISSING_SINCE) : equal(MISSING_SINCE, sinceMs);
      await update(ref, { set: { [MISSING_SINCE]: atMs } }, all(isSame, isAsSeen));
    },

    /**
     * Notes that an operator replays the dead-lettered message of the group. Apply then tries refused fields again, and
     * reports the next failure.
     */
    noteReplay: async (ref: GroupRef, failedBefore: string): Promise<void> =>
      void (await update(
        ref,
        { set: { failureReport: { failedBefore } }, remove: ['refusedFields'] },
        exists('rev'),
      )),

    noteRefusedField: ({ ref, refusedFields }: GroupState, field: GroupField, refused: RefusedValue) => {
      const known = { ...refusedFields, [field]: refused };
      return update(ref, { set: { refusedFields: plain(known) } }, exists('rev'));
    },

    /** Forgets the refused values, so that the next write tries the fields again. */
    forgetRefusedFields: async (ref: GroupRef): Promise<void> =>
      void (await update(ref, { remove: ['refusedFields'] }, exists('refusedFields'))),

    /**
     * Notes that a sweep saw the previous platform group in a list, raises rev and marks the group dirty. Returns false
     * if the group has a link again.
     */
    noteListed: (seen: GroupState, dirty: Dirty): Promise<boolean> => {
      const { previousLink } = seen;
      if (previousLink === undefined) return Promise.resolve(false);
      const listed = { ...previousLink, view: plain(previousLink.view), isListed: true };
      const isAsSeen = all(equal('previousLink.platformId', previousLink.platformId), missing('link'));
      return update(seen.ref, dirtying(seen.ref, dirty, { set: { previousLink: listed } }), isAsSeen);
    },

    /** Replaces the group's list of drift records without an initiator by `ids`. */
    async keepUnattributed(seen: GroupState, ids: readonly string[]): Promise<void> {
      const left = ids.length === 0 ? { remove: ['unattributed'] } : { set: { unattributed: [...ids] } };
      // New drift is always stored together with a new view. So if the view is unchanged, the list of drift is
      // unchanged too.
      await update(seen.ref, left, viewIsAs(seen));
    },

    /**
     * Notes a suspected external change. The same write raises rev and marks the group dirty. Returns false if another
     * suspected change was noted since `seen` was read, or if the link has ended.
     */
    noteSuspected: (seen: GroupState, suspected: SuspectedChange, dirty: Dirty): Promise<boolean> => {
      const { version, atMs } = suspected;
      const isAsked = version === null && suspected.activityEvents.length === 0;
      const suspectedChange = {
        version,
        atMs,
        activityEvents: suspected.activityEvents.map((event) => ({ ...event })),
      };
      return update(
        seen.ref,
        {
          ...dirtying(seen.ref, dirty, { set: { suspectedChange } }),
          // Without version and events (from `sync` or the sweep), `calledMs` and `attempts` are reset. Changes that
          // the platform shows do not reset them, because repeated changes must not cause ever more calls.
          ...(!isAsked && { remove: ['failedAt'] }),
        },
        all(equal('link.id', seen.link?.id ?? ''), suspectedChangeIsAs(seen)),
      );
    },
  };
}
