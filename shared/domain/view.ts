import type { GroupField, WrittenFields } from './group-fields.ts';
import type { PlatformUserId, VersionToken } from './ids.ts';
import type { Stamp } from './stamp.ts';

/** A platform group as groupsync last wrote or read it. The next plan compares the wanted state with the view. */
export interface View extends WrittenFields {
  /** The name that groupsync sent, if the platform stored it in another form. `name` then has the platform's form. */
  readonly alias?: string;
  /** All users in the group; `true` if groupsync added the user. */
  readonly users: ReadonlyMap<PlatformUserId, boolean>;
  /**
   * Hidden users; `true` if groupsync added the user. The platform does not show such a user, but the user may be in
   * the group. So a write that omits the user counts as a removal.
   */
  readonly unshown?: ReadonlyMap<PlatformUserId, boolean>;
  /** External changes that the drift policy accepts. */
  readonly acceptedDrift?: AcceptedDrift;
}

/**
 * Returns the view from which a plan starts. A hidden user (`unshown`) may or may not be in the group. An unwanted
 * hidden user counts as present, so the plan removes the user. A wanted hidden user counts as missing, so the plan
 * sends the user again.
 */
export function withUnwanted(view: View, wanted: ReadonlyMap<PlatformUserId, unknown> | undefined): View {
  const unwanted = [...(view.unshown ?? [])].filter(([user]) => !wanted?.has(user));
  return unwanted.length === 0 ? view : { ...view, users: new Map([...view.users, ...unwanted]) };
}

/** The users that writes add or remove. In a record of several writes, a user may be in both sets. */
export interface UserChange {
  readonly added: ReadonlySet<PlatformUserId>;
  readonly removed: ReadonlySet<PlatformUserId>;
}

/** A listed group. For a malformed group, only the id and the spokeId are known. */
export type ListedGroup = ObservedGroup | Pick<ObservedGroup, 'id' | 'spokeId'>;

export const isWhole = (listed: ListedGroup): listed is ObservedGroup => 'version' in listed;

/** A platform group as one response showed it. */
export interface ObservedGroup extends WrittenFields {
  readonly id: string;
  readonly users: readonly PlatformUserId[];
  readonly version: VersionToken;
}

/**
 * External changes that stay because the drift policy accepts them. With the policy `report`, a change stays until the
 * next directory event about the group. With `adopt`, a change stays until the next directory event about the same
 * member or field.
 */
export interface AcceptedDrift extends Readonly<Partial<Record<GroupField, boolean>>> {
  readonly policy: 'report' | 'adopt';
  /** The newest stamp of the group when groupsync found the difference. */
  readonly seen: Stamp;
  /** Users in the platform group that the directory does not want. */
  readonly present: ReadonlySet<PlatformUserId>;
  /** Users that the directory wants and that are not in the platform group. */
  readonly absent: ReadonlySet<PlatformUserId>;
}
