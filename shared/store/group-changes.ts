import type { GroupState, LinkedGroup } from '../domain/group-state.ts';
import { type Removals, removalsAfter } from '../domain/hold.ts';
import type { Commit, Findings } from '../sync/ports/groups.ts';
import { findingsToStore } from './group-writes.ts';
import { plain } from './item-form.ts';
import type { Change } from './table.ts';

/** The attribute with the time of the first 404. Removed, for example, when the platform shows the group. */
export const MISSED = 'missedAt';
/** The attributes of a group that was released. */
export const RELEASED = ['released', 'movedTo'];
const LINK = ['link', 'refusedFields'] as const;

/** Returns the attributes that every commit removes, whether the group is clean or still dirty after the commit. */
const removedBy = (
  seen: GroupState,
  { driftClosed, platform, settled, isCertain, hasRemoved, found }: Commit,
): readonly string[] => [
  'intent',
  'createsNamesake',
  MISSED,
  ...(settled === undefined ? ['settled'] : []),
  ...(driftClosed === true ? ['openDrift'] : []),
  ...(isCertain === true ? ['uncertain'] : []),
  ...(hasRemoved === true && seen.failureReport?.digest !== undefined ? ['failureReport'] : []),
  ...(platform === undefined ? LINK : ['previousLink']),
  ...refusalExplainedBy(found),
];

export const removalsTo = (removals: Removals | undefined): Required<Pick<Change, 'set' | 'remove'>> =>
  removals === undefined
    ? { set: {}, remove: ['removals'] }
    : { set: { removals: plain(removals) }, remove: [] };

/** Returns the change of the list of removals. After the deletion of the platform group, the whole list ends. */
export function removalsChange({ seen, platform, consumes }: Commit): ReturnType<typeof removalsTo> {
  const left = consumes === undefined ? seen.removals : platform && removalsAfter(seen, consumes);
  return left?.id === seen.removals?.id ? { set: {}, remove: [] } : removalsTo(left);
}

/** Returns the change that every commit makes, whether the group is clean or still dirty after the commit. */
export const writtenBy = (commit: Commit): Change => {
  const { seen, platform, found, settled, counts, writtenAtMs, calledMs } = commit;
  const { createdAtMs = seen.link?.createdAtMs } = commit;
  return {
    set: {
      ...(platform === undefined
        ? plain({ previousLink: linkBefore(seen, true) })
        : { link: plain({ ...platform, createdAtMs }) }),
      ...findingsToStore(seen, found),
      ...plain({ settled, counts, lastWriteAt: writtenAtMs, calledMs }),
    },
    remove: removedBy(seen, commit),
  };
};

/**
 * Returns the change of the item after an external change of the platform group.
 * @param platform undefined if the directory group no longer has a platform group
 */
export const acceptedChange = (
  seen: GroupState,
  platform: LinkedGroup | undefined,
  found: Findings | undefined,
): Change => {
  const foundNow = findingsToStore(seen, found);
  const answered = seen.suspectedChange === undefined ? [] : ['suspectedChange'];
  if (platform === undefined) {
    const previousLink = linkBefore(seen, found?.isGone ?? false);
    return {
      set: { ...foundNow, ...plain({ releasedPlatformId: seen.link?.id, previousLink }) },
      remove: [...LINK, MISSED, ...answered],
    };
  }
  return {
    set: {
      link: plain({
        ...seen.link,
        ...platform,
        takeOver: isOtherView(seen, platform) || seen.link?.takeOver,
      }),
      ...foundNow,
    },
    remove: [MISSED, 'previousLink', ...answered, ...refusalExplainedBy(found)],
  };
};

export const isOtherView = ({ link }: GroupState, platform: LinkedGroup): boolean =>
  platform.view.id !== link?.view.id;

const linkBefore = ({ link }: GroupState, isGone: boolean) =>
  link && { platformId: link.id, view: link.view, isGone };

const refusalExplainedBy = ({ explainsRefusal = false }: Findings = {}) =>
  explainsRefusal ? ['lastError'] : [];

/** Returns the uncertain writes without their guard record, because the guard record of the new write replaces it. */
export const withoutRemovals = ({ uncertain }: GroupState) => {
  if (uncertain?.removals === undefined) return {};
  const { removals: _, ...others } = uncertain;
  return { uncertain: plain(others) };
};
