import type { EmployeeField } from '../../contract/match-rule.ts';
import type { WrittenFields } from '../../domain/group-fields.ts';
import type {
  ConnectionName,
  PlatformGroupId,
  PlatformUserId,
  RoleId,
  VersionToken,
} from '../../domain/ids.ts';
import type { ListedGroup, ObservedGroup } from '../../domain/view.ts';
import type { Call, Failed } from '../../plan/meaning.ts';
import type { Connection } from './connections.ts';
import type { FeedPage } from './reconcile.ts';

/** A whole group to write. null: the group has no such value any more. */
export interface WholeGroup extends WrittenFields {
  readonly users: readonly PlatformUserId[];
}
/** Fields of a group to change; a missing one keeps its value. */
export type GroupFields = Partial<WholeGroup>;
export type NewGroupFields = WholeGroup & { readonly spokeId: string };

/** How one call ended, including its retries. */
export interface CallOutcome {
  /** Method and path template. */
  readonly endpoint: string;
  /** Status, or the class of the error; undefined if the call succeeded. */
  readonly failure: string | undefined;
}

/** How a call is tried. */
export interface Trying {
  /** Called for each attempt, retries included. */
  readonly onTry?: () => void;
  readonly maxAttempts?: number | undefined;
}

/**
 * The platform's groups for one connection. Every method may throw a PlatformFailure that says what the caller can
 * do; nothing else is thrown, and no failed or partial read is ever an empty list (invariant 4).
 */
export interface PlatformGroups {
  /** All groups of the company; a listing up to `maxAgeMs` old will do, shared with other groups of this worker. */
  list(maxAgeMs: number): Promise<readonly ListedGroup[]>;
  /** How many groups the last listing of this worker had; 0 before one. */
  countListed(): number;
  /** The next list is read from the platform, because the last one may lack a group that was released since. */
  forgetList(): void;
  /** undefined if the platform answers 404. */
  get(id: PlatformGroupId, how?: Trying): Promise<ObservedGroup | undefined>;
  create(fields: NewGroupFields, how?: Trying): Promise<ObservedGroup>;
  patch(
    id: PlatformGroupId,
    fields: GroupFields,
    version: VersionToken,
    how?: Trying,
  ): Promise<ObservedGroup>;
  put(id: PlatformGroupId, fields: WholeGroup, version: VersionToken, how?: Trying): Promise<ObservedGroup>;
  /** `absent`: the platform answers 404, which by itself proves nothing. */
  delete(id: PlatformGroupId, how?: Trying): Promise<'deleted' | 'absent'>;
}

/** The platform as one connection's credential sees it. */
export interface Platform {
  readonly groups: PlatformGroups;
  /** Version of the secret in use: what is learnt of a credential is void once another one is current. */
  readonly secretVersion: string;
  /**
   * Asks something neutral (`/me`), to tell a fault of one group from one of the whole connection.
   * @returns undefined if all is well
   */
  probe(): Promise<PlatformFailure | undefined>;
  /**
   * Employees page by page, to the end; `fields` are those that match rules name. People before their first day are
   * listed if `states` includes them, or with `isEveryone`. For a position that keeps failing, the failure is returned,
   * and the list continues after it.
   */
  employees(wanted: {
    readonly fields: readonly EmployeeField[];
    readonly states: readonly string[];
    readonly isEveryone?: boolean;
  }): AsyncIterable<readonly EmployeeRecord[] | PlatformFailure>;
  /** undefined if the platform answers 404. An employee that is only missing from a listing has not left. */
  employee(role: RoleId, fields: readonly EmployeeField[]): Promise<EmployeeRecord | undefined>;
  /** The activity feed page by page, until there is no more for now. */
  activity(start: FeedStart): AsyncIterable<FeedPage>;
}

/** Where to begin in the activity feed: after a cursor, or at an instant (milliseconds since 1970, inclusive). */
export type FeedStart = { readonly cursor: string } | { readonly sinceMs: number };

/** An employee as one listing shows it, without the fields that the listing lacks. */
export interface EmployeeRecord {
  readonly role: RoleId;
  readonly userId?: string;
  readonly state?: string;
  readonly fields: ReadonlyMap<EmployeeField, string | null>;
}

export interface Opening {
  /** A version that need not be tried: where it is still current, that is a failure, and nothing was asked. */
  readonly unlessSecret?: string | undefined;
  /** A version that is known to be refused: its tokens had their one refresh. */
  readonly refusedSecret?: KnownRefusal | undefined;
  /** The same, of a version that `/me` accepts: it is refused where the groups are. */
  readonly refusedAtGroups?: KnownRefusal | undefined;
}

export interface KnownRefusal {
  readonly version: string;
  /** The last known refresh without success. All workers together refresh once an hour. */
  readonly atMs?: number | undefined;
}

export interface Platforms {
  /** @throws PlatformFailure `unauthorized` where the secret is missing, unreadable or of another company */
  open(connection: Connection, how?: Opening): Promise<Platform>;
}

/** A group for the checks of `connect`; if its form is not as specified, name and users are empty. */
export interface ListedForApplicant {
  readonly id: string;
  readonly name: string;
  readonly spokeId: string | null;
  readonly users: readonly string[];
}

/** The platform as a credential that is not stored yet sees it. */
export interface Applicant {
  me(): Promise<{ readonly company: string; readonly id: string }>;
  markInstalled(): Promise<void>;
  groups(): Promise<readonly ListedForApplicant[]>;
  /** Whether a PATCH of a non-existent group, for its name or its users, is refused with 403. Writes nothing. */
  refusesWrite(scope: 'groups' | 'members'): Promise<boolean>;
  /** Whether a GET of the same non-existent group is refused with 403 too, so that a 403 says nothing of scopes. */
  hidesGroups(): Promise<boolean>;
  /** Employees with the fields asked for, by the names that match rules use; a field that did not come is absent. */
  /** Employees by field name: `id`, `roleState` and those of these fields that the credential may read. */
  employees(
    fields: readonly string[],
    states: readonly string[],
  ): AsyncIterable<readonly ReadonlyMap<string, string | null>[]>;
  /** How far this machine's clock is ahead of the platform's, in milliseconds; undefined if it does not say. */
  clockSkewMs(): Promise<number | undefined>;
}

export interface Applicants {
  /** @throws TypeError if base URL or token cannot be used; the message does not show the token */
  present(baseUrl: string, token: string): Promise<Applicant> | Applicant;
  /** With the credential that is stored. @throws PlatformFailure */
  stored(connection: ConnectionName, baseUrl: string): Promise<Applicant>;
}

export type FailureKind = Failed['kind'];

/** Precedes the platform's own error text, which may contain names. Operators see that text; logs are cut here. */
export const ANSWER_PREFIX = ', saying: ';

/** A call that failed: `meaningOf` says what that means. */
export class PlatformFailure extends Error implements Failed {
  override readonly name = 'PlatformFailure';
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly call: Call | undefined;
  readonly retryAfterMs: number | undefined;
  /** Version of the secret that the call was made with. */
  readonly secretVersion: string | undefined;
  /** `unauthorized`: as of `KnownRefusal`. */
  refusedAtMs?: number;

  constructor(
    kind: FailureKind,
    message: string,
    detail: {
      readonly status?: number | undefined;
      readonly call?: Call | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly secretVersion?: string | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: detail.cause });
    this.kind = kind;
    this.status = detail.status;
    this.call = detail.call;
    this.retryAfterMs = detail.retryAfterMs;
    this.secretVersion = detail.secretVersion;
  }
}

/** How a call failed; undefined if it did not. */
export async function failureIn(call: () => Promise<unknown>): Promise<PlatformFailure | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof PlatformFailure) return error;
    throw error;
  }
}
