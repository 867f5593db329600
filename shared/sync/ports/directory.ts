import * as z from 'zod';
import type { DirectoryStepRow } from '../../contract/answers/directory.ts';
import type { DirectorySetting } from '../../contract/settings.ts';
import { type Frozen, number, text } from '../../domain/forms.ts';
import type { ConnectionName, GroupId, MemberId } from '../../domain/ids.ts';
import type { ReaderGroup } from '../../domain/reader-group.ts';
import type { Source } from '../../domain/source.ts';
import type { Connection } from './connections.ts';
import type { Lease } from './reconcile.ts';

export interface Directories {
  /**
   * Opens the directory that a connection reads.
   * @param untilMs the time at which the run must end. If a list has not ended by then, the call throws
   * @throws DirectoryError `denied` if there is no usable credential
   */
  open(connection: Connection, untilMs?: number): Promise<Directory>;
  /**
   * Tries each step of reading the directory. If a step fails that later steps need, these are not tried.
   * @param isSelected if given, the step `members` also fails if the reader may not read one of these groups
   */
  examine(connection: Connection, isSelected?: SelectsGroup): Promise<readonly DirectoryStep[]>;
}

export type SelectsGroup = (group: Pick<DirectoryGroup, 'id' | 'name'>) => boolean;

/** Opens directories that an operator wants to connect, and stores their credentials. */
export interface DirectoryApplicants {
  /**
   * @param key the credential, as the vendor's key file has it
   * @throws DirectoryError `denied` if `key` is not a key file
   */
  present(setting: DirectorySetting, key: unknown): Promise<Directory>;
  store(connection: ConnectionName, key: unknown): Promise<void>;
  /** Removes the stored credential, if there is one, because the connection now signs in without one. */
  remove(connection: ConnectionName): Promise<void>;
}

/** A company's directory, read through its API. Every method may throw a DirectoryError, and nothing else. */
export interface Directory {
  groups(): AsyncIterable<DirectoryPage<DirectoryGroup>>;
  /**
   * @param key the id of a group, or its address
   * @returns undefined if the directory has no such group
   */
  group(key: string): Promise<DirectoryGroup | undefined>;
  /**
   * The direct members, page by page. A member may be on several pages.
   * @param nested `ignore` if the caller does not need the groups among the members, which may need further calls
   */
  membersOf(group: GroupId, nested?: 'flatten' | 'ignore'): AsyncIterable<MemberPage>;
  /**
   * Whether the group has this direct member. Unlike a list, the answer to this question cannot end too early. Returns
   * false if there is no such group.
   */
  hasMember(group: GroupId, member: GroupId): Promise<boolean>;
  /**
   * @param key the id of a user, or an address
   * @returns undefined if the directory has no such user
   */
  user(key: string): Promise<DirectoryUser | undefined>;
  /**
   * The users that were deleted and can be restored, page by page. They are inactive. The method is absent if the
   * directory reports each deletion by the user's id.
   */
  deletedUsers?(): AsyncIterable<DirectoryPage<DirectoryUser>>;
  /**
   * Reads any user, to test the right to read users.
   * @throws DirectoryError `denied` without this right
   */
  tryUsers(): Promise<void>;
  /** The changes that the directory reports since `cursor`. Reports may be late, and changes may be missing. */
  changesSince(cursor: string): Promise<DirectoryChanges>;
  /** The cursor for changes from `nowMs` on. Some directories ignore `nowMs` and use their own present time. */
  cursorAt(nowMs: number): Promise<string>;
  /** For this time after a reported change, answers may show the state before the change. In milliseconds. */
  readonly lagMs: number;
}

export interface DirectoryPage<Item> {
  readonly items: readonly Item[];
  /** The time, in milliseconds since 1970, at which or after which the directory was as the page shows it. */
  readonly asOfMs: number;
}

export interface MemberPage extends DirectoryPage<DirectoryMember> {
  /** The directory's count of members that are users; undefined if the page has no count. */
  readonly userCount?: number | undefined;
  /** The directory's count of members that are groups; undefined if the page has no count. */
  readonly groupCount?: number | undefined;
}

export interface DirectoryGroup {
  readonly id: GroupId;
  readonly name: string;
  /** The address of the group, or its id if the directory names groups only by id. */
  readonly address: string;
  /** The directory's count of direct members that are users; undefined if the directory returns no count. */
  readonly userCount: number | undefined;
}

export type DirectoryMember =
  | { readonly kind: 'user'; readonly user: DirectoryUser }
  | {
      readonly kind: 'group';
      readonly id: GroupId;
      /** Absent if the directory names groups only by id. */
      readonly address?: string | undefined;
    }
  /** Means every user of the company. */
  | { readonly kind: 'everyone' };

export interface DirectoryUser {
  readonly id: MemberId;
  /** Attributes that match rules may use. */
  readonly attributes: ReadonlyMap<string, string>;
  /** False for a user who may not sign in, such as a suspended one. */
  readonly isActive: boolean;
  /** True for a user of another company. Only lists of members show such a user. */
  readonly isExternal?: boolean;
}

export interface DirectoryChange {
  /** Id or address of the group or user. */
  readonly key: string;
  readonly atMs: number;
  /** Whether the group or user was deleted. */
  readonly isDeletion: boolean;
  /** Whether only the members of the group changed, and not its name and address. */
  readonly isMembership?: boolean;
  /** The members that a report about a group names. A member may be named several times. */
  readonly members?: readonly NamedMember[];
  /** Whether a deleted user cannot be restored. */
  readonly isFinal?: boolean;
  /** The changed user, if the report contains the user. Otherwise the user must be requested. */
  readonly found?: FoundUser;
}

/** A member that a report shows as added or removed. */
export interface NamedMember {
  /** Id or address of the user or group. */
  readonly key: string;
  readonly atMs: number;
  readonly isMember: boolean;
  /** True for a group, if the report shows the kind of the member. */
  readonly isGroup?: true;
}

export interface FoundUser {
  readonly user: DirectoryUser;
  /** The time, in milliseconds since 1970, at which or after which the user was as the report shows. */
  readonly asOfMs: number;
}

/** The reported changes. For each key, there are at most two: the latest deletion, and the latest other change. */
export interface DirectoryChanges {
  readonly groups: readonly DirectoryChange[];
  readonly users: readonly DirectoryChange[];
  readonly cursor: string;
  /** Whether the directory does not know the given cursor any more. Then any group and any user may have changed. */
  readonly isReset?: boolean;
}

/**
 * What the reader does after a failed call:
 *   denied       stop reading: the credential or a right is missing, and answers may look empty
 *   busy         read later: the limit of calls is reached
 *   unavailable  read later: no answer, or a 5xx
 *   missing      the group is not in the directory any more
 *   odd          read later: the answer is not what the API describes
 */
export type DirectoryErrorKind = 'denied' | 'busy' | 'unavailable' | 'missing' | 'odd';

/** A failed call. The message is free of addresses, names and tokens. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
  readonly kind: DirectoryErrorKind;
  /** The vendor's error code, such as `unauthorized_client`. */
  readonly reason: string | undefined;
  /** How many milliseconds to wait before the next call; undefined if the directory did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: DirectoryErrorKind,
    message: string,
    { reason, retryAfterMs, ...options }: DirectoryErrorOptions = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

interface DirectoryErrorOptions extends ErrorOptions {
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

export type DirectoryStepName = DirectoryStepRow['step'];

/** The result of one step of reading. */
export interface DirectoryStep {
  readonly step: DirectoryStepName;
  /** undefined if the step succeeded. */
  readonly failure: Pick<DirectoryError, 'kind' | 'message' | 'reason'> | undefined;
}

export const ReaderPosition = z.lazy(() =>
  z.object({
    /** All changes that were reported before this cursor are recorded. */
    cursor: text,
    /**
     * The latest recorded reports, each with a digest of its key. They are reported again, because each run also asks
     * for a time before the cursor.
     */
    taken: z.array(z.object({ key: text, atMs: number })).exactOptional(),
    /** The time at which all groups were last listed. */
    listedMs: number.exactOptional(),
    /** The time of an operator's request to read all groups. Each group must be read after this time. */
    fullMs: number.exactOptional(),
  }),
);
export type ReaderPosition = Frozen<z.infer<typeof ReaderPosition>>;

/** The stored state of the reader. If another run has taken over the lease, a write of the earlier run is refused. */
export interface ReaderStore {
  /**
   * Begins a run: from now on no holder of an earlier lease can write.
   * @returns undefined if a later holder has begun already
   */
  begin(
    connection: ConnectionName,
    lease: Lease,
  ): Promise<{ readonly position: ReaderPosition | undefined } | undefined>;
  /** undefined before the first run. */
  position(connection: ConnectionName): Promise<ReaderPosition | undefined>;
  write(connection: ConnectionName, position: ReaderPosition, lease: Lease): Promise<boolean>;
  /** Returns all known groups. If a group has moved to another source, `other` has the id of the group there. */
  groups(connection: ConnectionName): Promise<readonly ReaderGroup[]>;
  putGroup(connection: ConnectionName, group: ReaderGroup, lease: Lease): Promise<boolean>;
  removeGroup(connection: ConnectionName, group: GroupId, lease: Lease): Promise<boolean>;
  /**
   * Returns those of `groups` that the reader owns, each with its id in the directory. The two ids differ if the group
   * was taken over from a source with another id.
   */
  owned(connection: ConnectionName, groups: readonly GroupId[]): Promise<ReadonlyMap<GroupId, GroupId>>;
  /** Records that another source now owns the group `from`, under the id `to`. Replaces an earlier move of `from`. */
  noteMove(connection: ConnectionName, move: MovedGroup): Promise<void>;
  /** Removes the record that the group has moved, because the group is separate again. */
  dropMove(connection: ConnectionName, from: GroupId): Promise<void>;
  moves(connection: ConnectionName): Promise<readonly MovedGroup[]>;
  /** Notes that another source has sent an event about the group. The next run reads the group. */
  notePushed(connection: ConnectionName, group: GroupId, atMs: number): Promise<void>;
  pushed(connection: ConnectionName): Promise<readonly PushedGroup[]>;
  /** Removes the note, unless another event has come since. */
  dropPushed(connection: ConnectionName, pushed: PushedGroup): Promise<void>;
  /** Removes the position and the groups of a directory that is not read any more. The moves stay. */
  forget(connection: ConnectionName): Promise<void>;
}

/** A group that has moved to another source. The ids are equal if both sources name the group by the same id. */
export interface MovedGroup {
  readonly from: GroupId;
  readonly to: GroupId;
  readonly source: Source;
  /** Whether the platform group has not moved yet. */
  readonly isOpen?: boolean;
}

export interface PushedGroup {
  readonly group: GroupId;
  readonly atMs: number;
}
