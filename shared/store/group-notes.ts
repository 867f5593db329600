import type { GroupRef } from '../domain/ids.ts';
import type { GroupStore } from '../sync/ports/groups.ts';
import { MISSED } from './group-changes.ts';
import { dirtying, IS_AT_REST, suspectedChangeIsAs, viewIsAs } from './group-writes.ts';
import { plain } from './item-form.ts';
import { groupKey } from './keys.ts';
import { all, type Change, type Condition, equal, exists, missing, type Table } from './table.ts';

type GroupNotes = Pick<
  GroupStore,
  | 'noteMissing'
  | 'noteReplay'
  | 'noteRefusedField'
  | 'forgetRefusedFields'
  | 'noteListed'
  | 'keepUnattributed'
  | 'noteSuspected'
>;

/** The part of the group store that records facts about a group outside of a write to the platform. */
export function createGroupNotes(table: Table): GroupNotes {
  const update = async (ref: GroupRef, how: Change, when: Condition) =>
    (await table.update(groupKey(ref), how, all(when, IS_AT_REST))).written;
  return {
    async noteMissing({ ref, link, missedAtMs }, atMs) {
      const isSame = link === undefined ? missing('link') : equal('link.id', link.id);
      const isAsSeen = missedAtMs === undefined ? missing(MISSED) : equal(MISSED, missedAtMs);
      await update(ref, { set: { [MISSED]: atMs } }, all(isSame, isAsSeen));
    },

    noteReplay: async (ref, failedBefore) =>
      void (await update(
        ref,
        { set: { failureReport: { failedBefore } }, remove: ['refusedFields'] },
        exists('rev'),
      )),

    noteRefusedField: ({ ref, refusedFields }, field, refused) => {
      const known = { ...refusedFields, [field]: refused };
      return update(ref, { set: { refusedFields: plain(known) } }, exists('rev'));
    },

    forgetRefusedFields: async (ref) =>
      void (await update(ref, { remove: ['refusedFields'] }, exists('refusedFields'))),

    noteListed: (seen, dirty) => {
      const { previousLink } = seen;
      if (previousLink === undefined) return Promise.resolve(false);
      const listed = { ...previousLink, view: plain(previousLink.view), isListed: true };
      const isAsSeen = all(equal('previousLink.platformId', previousLink.platformId), missing('link'));
      return update(seen.ref, dirtying(seen.ref, dirty, { set: { previousLink: listed } }), isAsSeen);
    },

    async keepUnattributed(seen, ids) {
      const left = ids.length === 0 ? { remove: ['unattributed'] } : { set: { unattributed: [...ids] } };
      // New drift is always stored together with a new view. So if the view is unchanged, the list of drift is
      // unchanged too.
      await update(seen.ref, left, viewIsAs(seen));
    },

    noteSuspected: (seen, suspected, dirty) => {
      const { version, atMs } = suspected;
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
          ...(version === null && suspectedChange.activityEvents.length === 0
            ? {}
            : { remove: ['failedAt'] }),
        },
        all(equal('link.id', seen.link?.id ?? ''), suspectedChangeIsAs(seen)),
      );
    },
  };
}
