import type { Mode } from '../contract/settings.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import { type View, type WaitCause, WHOLE_GROUP } from '../domain/view.ts';
import { asMode, marksAfter } from './draft.ts';

/** A higher mode permits more removals. */
const RANK: Readonly<Record<Mode, number>> = { report: 0, additive: 1, authoritative: 2 };

export const modeOf = ({ mode }: Pick<View, 'mode'>): Mode => mode ?? 'authoritative';

export const permitsMore = (view: View, mode: Mode): boolean => RANK[mode] > RANK[modeOf(view)];

/** The wanted users; undefined if the directory does not have the group. */
type WantedUsers = ReadonlyMap<PlatformUserId, unknown> | undefined;

/**
 * Returns the view after a change of the mode. Removals and deletions that only this change makes possible wait for an
 * operator:
 *
 *     the mode was | and is now    | users in the group that the directory does not want
 *     -------------|---------------|----------------------------------------------------
 *     report       | additive      | wait if the directory has wanted them since the link
 *     report       | authoritative | wait
 *     additive     | authoritative | wait if the directory never wanted them
 *     otherwise    |               | unchanged
 */
export function withMode(view: View, mode: Mode, wanted: WantedUsers): View {
  const before = modeOf(view);
  const { mode: _, ...others } = view;
  const next: View = { ...others, ...asMode(mode) };
  if (!permitsMore(view, mode)) return next;
  const becomesPossible = (isMarked: boolean) =>
    mode === 'additive' ? isMarked : before === 'report' || !isMarked;
  const users = [...view.users].filter(
    ([user, isMarked]) => wanted?.has(user) !== true && becomesPossible(isMarked),
  );
  const waits = new Map<PlatformUserId, WaitCause>(view.waits);
  for (const [user] of users) if (!waits.has(user)) waits.set(user, 'mode');
  if (wanted === undefined && mode === 'authoritative') waits.set(WHOLE_GROUP, 'mode');
  return waits.size === 0 ? next : { ...next, waits };
}

/** Returns the view with a mark for each wanted user; undefined if every mark is already stored. */
export function withWanted(view: View, wanted: WantedUsers): View | undefined {
  if (wanted === undefined) return undefined;
  const isNew = ([user, isMarked]: readonly [PlatformUserId, boolean]) => !isMarked && wanted.has(user);
  const isOver = (user: PlatformUserId) => user === WHOLE_GROUP || wanted.has(user);
  const { waits, ...others } = view;
  if (![...(waits?.keys() ?? [])].some(isOver) && ![...view.users].some(isNew)) return undefined;
  const users = new Map([...view.users].map(([user, isMarked]) => [user, isMarked || wanted.has(user)]));
  return { ...others, users, ...marksAfter(view, users, wanted) };
}

/** Returns the view in which the directory may have wanted these users since the link, so their removal waits. */
export function withUnknown(view: View, unknown: readonly PlatformUserId[]): View {
  if (unknown.length === 0) return view;
  const users = new Map([...view.users, ...unknown.map((user) => [user, true] as const)]);
  const waits = new Map([...(view.waits ?? []), ...unknown.map((user) => [user, 'adoption'] as const)]);
  return { ...view, users, waits };
}

/** Returns the view of an adopted group. The removal of each user waits, unless the directory is known to want the user. */
export function withAdoption(view: View, isWanted = (_: PlatformUserId): boolean => false): View {
  const users = [...view.users.keys()].filter((user) => !isWanted(user));
  return users.length === 0 ? view : { ...view, waits: new Map(users.map((user) => [user, 'adoption'])) };
}
