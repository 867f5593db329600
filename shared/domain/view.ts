import type { WrittenFields } from './group-fields.ts';
import type { PlatformUserId, VersionToken } from './ids.ts';

/** A platform group as groupsync last wrote or read it. The next plan compares the wanted state with the view. */
export interface View extends WrittenFields {
  /** The name that groupsync sent, if the platform stored it in another form. `name` then has the platform's form. */
  readonly alias?: string;
  /** All users in the group; `true` if the directory has wanted the user at any time since the link. */
  readonly users: ReadonlyMap<PlatformUserId, boolean>;
  /**
   * Hidden users, with the same mark. The platform does not show such a user, but the user may be in
   * the group. So a write that omits the user counts as a removal.
   */
  readonly hidden?: ReadonlyMap<PlatformUserId, boolean>;
  /** Users that are not in the group, and that the directory has wanted at any time since the link. */
  readonly wantedBefore?: ReadonlySet<PlatformUserId>;
  /**
   * Users whose removal waits for an operator, with the cause. `WHOLE_GROUP` stands for the deletion of the group. An
   * entry ends when the directory wants the user.
   */
  readonly waits?: ReadonlyMap<PlatformUserId, WaitCause>;
  /** The mode with which the marks of this view were computed; absent for `authoritative`. */
  readonly mode?: WeakMode;
}

/**
 * `adoption`: a person adopted the group, and the user was in it. `mode`: the removal became possible by a change of
 * the mode.
 */
export type WaitCause = 'adoption' | 'mode';
export type WeakMode = 'additive' | 'report';
export const WHOLE_GROUP = '' as PlatformUserId;

/**
 * Returns the view from which a plan starts. A hidden user (`hidden`) may or may not be in the group. An unwanted
 * hidden user counts as present, so the plan removes the user. A wanted hidden user counts as missing, so the plan
 * sends the user again.
 */
export function withUnwanted(view: View, wanted: ReadonlyMap<PlatformUserId, unknown> | undefined): View {
  const { hidden = new Map(), ...known } = view;
  const unwanted = [...hidden].filter(([user]) => !wanted?.has(user));
  if (unwanted.length === 0) return view;
  const left = new Map([...hidden].filter(([user]) => wanted?.has(user)));
  return { ...known, ...(left.size > 0 && { hidden: left }), users: new Map([...view.users, ...unwanted]) };
}

/**
 * Returns the users that the directory has wanted since the link, and that are not in the group now.
 * @param views the earlier views of the group
 * @param users the users that are in the group now
 */
export function wantedBefore(
  views: readonly View[],
  users: ReadonlyMap<PlatformUserId, unknown>,
): Pick<View, 'wantedBefore'> {
  const wanted = views.flatMap((view) => [
    ...[...view.users, ...(view.hidden ?? [])].flatMap(([user, isMarked]) => (isMarked ? [user] : [])),
    ...(view.wantedBefore ?? []),
  ]);
  const left = wanted.filter((user) => !users.has(user));
  return left.length === 0 ? {} : { wantedBefore: new Set(left) };
}

/** The users that writes add or remove. In a record of several writes, a user may be in both sets. */
export interface UserChange {
  readonly added: ReadonlySet<PlatformUserId>;
  readonly removed: ReadonlySet<PlatformUserId>;
}

/** A listed group. For a malformed group, only the id and the spokeId are known. */
export type ListedGroup = ObservedGroup | Pick<ObservedGroup, 'id' | 'spokeId'>;

export const isWhole = (listed: ListedGroup): listed is ObservedGroup => 'version' in listed;

export interface ObservedGroup extends WrittenFields {
  readonly id: string;
  readonly users: readonly PlatformUserId[];
  readonly version: VersionToken;
}
