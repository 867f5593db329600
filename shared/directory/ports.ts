import * as z from 'zod';
import type { DirectoryStepRow } from '../contract/answers/directory.ts';
import type { DirectorySetting } from '../contract/directory-settings.ts';
import { type Frozen, number, text } from '../domain/forms.ts';
import type { ConnectionName, GroupId, MemberId } from '../domain/ids.ts';
import type { Connection } from '../sync/ports/connections.ts';

export interface Directories {
  /**
   * Opens the directory that a connection reads.
   * @param untilMs the time at which the run must end. If a list is incomplete at this time, the call throws
   * @throws DirectoryError `denied` if there is no usable credential
   */
  open(connection: Connection, untilMs?: number): Promise<Directory>;
  /**
   * Tries each step of reading the directory. If a step of the sign-in fails, no later step is tried.
   * @param isSelected if given, the step `members` also fails if the reader has no right to read a selected group
   */
  examine(connection: Connection, isSelected?: SelectsGroup): Promise<readonly DirectoryStep[]>;
}

export type SelectsGroup = (group: Pick<DirectoryGroup, 'id' | 'name'>) => boolean;

/** Opens directories that an operator wants to connect, and stores their credentials. */
export interface DirectoryApplicants {
  /**
   * @param key the credential, in the form of the vendor's key file
   * @param attributes the attributes of users to read in addition to address and login
   * @throws DirectoryError `denied` if `key` is not a key file
   */
  present(setting: DirectorySetting, key: unknown, attributes: readonly string[]): Promise<Directory>;
  store(connection: ConnectionName, key: unknown): Promise<void>;
  /** Removes the stored credential, if any. Used when a connection begins to sign in without a stored credential. */
  remove(connection: ConnectionName): Promise<void>;
}

/** A company's directory, read through its API. A DirectoryError is the only error that methods throw. */
export interface Directory {
  groups(): AsyncIterable<DirectoryPage<DirectoryGroup>>;
  /**
   * @param key the id of a group, or its address
   * @returns undefined if the directory has no such group
   */
  group(key: string): Promise<DirectoryGroup | undefined>;
  /**
   * The direct members, page by page. A member may be on several pages.
   * @param nested `ignore` if the caller does not need the groups among the members. This may save calls
   */
  membersOf(group: GroupId, nested?: 'flatten' | 'ignore'): AsyncIterable<MemberPage>;
  /**
   * Returns whether the group directly contains the other group. Entra ID answers from a list, which may be incomplete.
   * Google answers about the member itself.
   */
  hasMember(group: GroupId, member: GroupId): Promise<boolean>;
  /**
   * @param key the id of a user, or an address
   * @returns undefined if the directory has no such user
   */
  user(key: string): Promise<DirectoryUser | undefined>;
  /**
   * Returns the deleted users that can still be restored, page by page. These users are inactive. The method is absent
   * if the directory reports each deletion by the user's id.
   */
  deletedUsers?(): AsyncIterable<DirectoryPage<DirectoryUser>>;
  /**
   * Reads an arbitrary user, to test the right to read users.
   * @throws DirectoryError `denied` without this right
   */
  tryUsers(): Promise<void>;
  /** Returns the changes that the directory reports since `cursor`. A report may be late, or missing. */
  changesSince(cursor: string): Promise<DirectoryChanges>;
  /** Returns the cursor for changes from `nowMs` on. Some directories use their own present time instead of `nowMs`. */
  cursorAt(nowMs: number): Promise<string>;
  /** How long after a reported change answers may still show the earlier state, in milliseconds. */
  readonly lagMs: number;
}

export interface DirectoryPage<Item> {
  readonly items: readonly Item[];
  /** A time in milliseconds since 1970. The page shows the state of the directory at this time or later. */
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
  /**
   * The directory's count of direct members; undefined if the directory returns no count. It includes all users. Whether
   * it includes groups may be unknown.
   */
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
  /** A member that stands for all users of the company. */
  | { readonly kind: 'everyone' };

export interface DirectoryUser {
  readonly id: MemberId;
  readonly attributes: ReadonlyMap<string, string>;
  /** False for a user who may not sign in, for example a suspended user. */
  readonly isActive: boolean;
  /** True for a user of another company. Only lists of members show such a user. */
  readonly isExternal?: boolean;
}

export interface ReportedChange {
  /** Id or address of the group or user. */
  readonly key: string;
  readonly atMs: number;
  readonly isDeletion: boolean;
  /** Whether the report is only about the members of the group, and not about its name or address. */
  readonly isMembership?: boolean;
  /** The members that a report about a group names. The list may contain a member several times. */
  readonly members?: readonly NamedMember[];
  /** Whether a deleted user cannot be restored. */
  readonly isFinal?: boolean;
  /** The changed user, if the report contains the user's data. If it is absent, the reader must request the user. */
  readonly found?: FoundUser;
}

export interface NamedMember {
  /** Id or address of the user or group. */
  readonly key: string;
  readonly atMs: number;
  readonly isMember: boolean;
  /** True if the report shows that the member is a group. */
  readonly isGroup?: true;
}

interface FoundUser {
  readonly user: DirectoryUser;
  /** A time in milliseconds since 1970. The report shows the state of the user at this time or later. */
  readonly asOfMs: number;
}

/** The reported changes. For each key, there are at most the latest deletion and the latest other change. */
export interface DirectoryChanges {
  readonly groups: readonly ReportedChange[];
  readonly users: readonly ReportedChange[];
  readonly cursor: string;
  /** Whether the directory no longer knows the given cursor. In that case, any group or user may have changed. */
  readonly isReset?: boolean;
}

/**
 * What the reader does after a failed call:
 *   denied       stop reading: the credential or a right is missing, and answers may look empty
 *   busy         read later: the limit of calls is reached
 *   unavailable read later: no answer, or a 5xx
 *   missing      the group is no longer in the directory
 *   invalid      read later: the answer is not what the API describes
 */
export type DirectoryErrorKind = 'denied' | 'busy' | 'unavailable' | 'missing' | 'invalid';

/** A failed call. The message is free of addresses, names and tokens. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
  readonly kind: DirectoryErrorKind;
  /** The vendor's error code, such as `unauthorized_client`. */
  readonly reason: string | undefined;
  /** How many milliseconds to wait before the next call; undefined if the answer has no such time. */
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

export interface DirectoryStep {
  readonly step: DirectoryStepName;
  /** The reason why the step failed; undefined if it succeeded. */
  readonly failure: Pick<DirectoryError, 'kind' | 'message' | 'reason'> | undefined;
  /** What a step that succeeded has found. */
  readonly detail?: string;
}

export const ReaderPosition = z.lazy(() =>
  z.object({
    /** The reader has recorded all changes that were reported before this cursor. */
    cursor: text,
    /**
     * The latest recorded reports, each with a digest of its key. Each run also reads a period before the cursor, and
     * this list identifies the reports that it already recorded.
     */
    taken: z.array(z.object({ key: text, atMs: number })).exactOptional(),
    /** The named attributes and the groups that the reader reads. After a change, the reader reads every group. */
    scope: text.exactOptional(),
    /** The directory (`groupsOfDirectory`) to which the cursor and the groups belong. */
    directory: text.exactOptional(),
    listedMs: number.exactOptional(),
    /** The time of an operator's request to read all groups. Each group must be read after this time. */
    fullMs: number.exactOptional(),
  }),
);
export type ReaderPosition = Frozen<z.infer<typeof ReaderPosition>>;

export interface PushedGroup {
  readonly group: GroupId;
  readonly atMs: number;
}
