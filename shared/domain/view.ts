import type { GroupField, WrittenFields } from './group-fields.ts';
import type { PlatformUserId, VersionToken } from './ids.ts';
import type { Stamp } from './stamp.ts';

/** A platform group as it was last written or read: the base of the next comparison. */
export interface View extends WrittenFields {
  /** The sent name, if the platform stored another form of it as `name`. */
  readonly alias?: string;
  /** Everybody in the group; `true` where we put them there. */
  readonly users: ReadonlyMap<PlatformUserId, boolean>;
  /**
   * Users that the platform does not show although no client removed them; `true` where we put them there. They may be in
   * the group, so a write that leaves them out removes them.
   */
  readonly unshown?: ReadonlyMap<PlatformUserId, boolean>;
  /** External changes that a policy accepts. */
  readonly acceptedDrift?: AcceptedDrift;
}

/**
 * The view for a plan. Users who may be in the group count as members, unless they are wanted: wanted users are sent
 * again.
 */
export function withUnwanted(view: View, wanted: ReadonlyMap<PlatformUserId, unknown> | undefined): View {
  const unwanted = [...(view.unshown ?? [])].filter(([user]) => !wanted?.has(user));
  return unwanted.length === 0 ? view : { ...view, users: new Map([...view.users, ...unwanted]) };
}

/** Users that writes add to a group and remove from it. In a record of several writes, a user may be in both. */
export interface UserChange {
  readonly added: ReadonlySet<PlatformUserId>;
  readonly removed: ReadonlySet<PlatformUserId>;
}

/** A listed group. Of a malformed one only the id and the spokeId are known. */
export type ListedGroup = ObservedGroup | Pick<ObservedGroup, 'id' | 'spokeId'>;

export const isWhole = (listed: ListedGroup): listed is ObservedGroup => 'version' in listed;

/** A platform group as one response showed it. */
export interface ObservedGroup extends WrittenFields {
  readonly id: string;
  readonly users: readonly PlatformUserId[];
  readonly version: VersionToken;
}

/**
 * External changes that stay because the connection's policy accepts them. `report` accepts them until the next directory
 * event about the group, `adopt` until the next one about the same member or field.
 */
export interface AcceptedDrift extends Readonly<Partial<Record<GroupField, boolean>>> {
  readonly policy: 'report' | 'adopt';
  /** The newest stamp in the group when the difference was seen. */
  readonly seen: Stamp;
  /** In the platform's group although the directory does not want them. */
  readonly present: ReadonlySet<PlatformUserId>;
  /** Not in it although the directory wants them. */
  readonly absent: ReadonlySet<PlatformUserId>;
}
