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

/** All fields of a group to write. With null, the platform removes the value. */
export interface WholeGroup extends WrittenFields {
  readonly users: readonly PlatformUserId[];
}
/** The fields of a group to change. A missing field keeps its value. */
export type GroupFields = Partial<WholeGroup>;
export type NewGroupFields = WholeGroup & { readonly spokeId: string };

export interface CallOutcome {
  /** Method and path template. */
  readonly endpoint: string;
  /** Status, or the class of the error; undefined if the call succeeded. */
  readonly failure: string | undefined;
}

/** Options for the attempts of a call. */
export interface Trying {
  /** Called for each attempt, retries included. */
  readonly onTry?: () => void;
  readonly maxAttempts?: number | undefined;
}

/**
 * The platform's groups for one connection. The only error that methods throw is PlatformFailure. If a read fails or is
 * incomplete, it throws, and does not return an empty list (invariant 4).
 */
export interface PlatformGroups {
  /** Returns all groups of the company. The result may be a list that this worker read at most `maxAgeMs` ago. */
  list(maxAgeMs: number): Promise<readonly ListedGroup[]>;
  /** Returns the number of groups in the last list of this worker; 0 before the first list. */
  countListed(): number;
  /** Makes the next `list` read the platform, because the last list may lack a group that was released since then. */
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
  /** `absent` means that the platform answers 404, which alone proves nothing. */
  delete(id: PlatformGroupId, how?: Trying): Promise<'deleted' | 'absent'>;
}

/** The platform, accessed with the credential of one connection. */
export interface Platform {
  readonly groups: PlatformGroups;
  /** The version of the secret in use. The result of a check of the credential is valid for this version only. */
  readonly secretVersion: string;
  /** The platform's user behind the credential, as the latest `/me` named it. */
  readonly holder?: string | undefined;
  /**
   * Sends a neutral request (`/me`), to distinguish a fault of one group from a fault of the whole connection.
   * @returns undefined if the request succeeds
   */
  probe(): Promise<PlatformFailure | undefined>;
  /**
   * Returns all employees, page by page. `fields` are the fields that match rules use. People before their first day
   * are included if `states` contains their state, or with `isEveryone`. If the platform fails repeatedly at one
   * position of the list, the result has the failure at this position, and the list continues after it.
   */
  employees(wanted: {
    readonly fields: readonly EmployeeField[];
    readonly states: readonly string[];
    readonly isEveryone?: boolean;
  }): AsyncIterable<readonly EmployeeRecord[] | PlatformFailure>;
  /** undefined if the platform answers 404. A missing entry in a list does not show that the employee is gone. */
  employee(role: RoleId, fields: readonly EmployeeField[]): Promise<EmployeeRecord | undefined>;
  /** Returns the activity feed page by page, up to its present end. */
  activity(start: FeedStart): AsyncIterable<FeedPage>;
}

/** Where a read of the activity feed starts: after a cursor, or at a time (milliseconds since 1970, inclusive). */
export type FeedStart = { readonly cursor: string } | { readonly sinceMs: number };

/** An employee of one listing. A field that the listing lacks is absent. */
export interface EmployeeRecord {
  readonly role: RoleId;
  readonly userId?: string;
  readonly state?: string;
  /** The end of the employment, YYYY-MM-DD. Only `employee` returns it, and only if the scopes permit it. */
  readonly endDate?: string;
  readonly fields: ReadonlyMap<EmployeeField, string | null>;
}

export interface Opening {
  /** A version that must not be tried again. If it is still the current one, `open` fails without a request. */
  readonly unlessSecret?: string | undefined;
  /** A version of the secret that the platform refuses, although its tokens were refreshed once. */
  readonly refusedSecret?: KnownRefusal | undefined;
  /** A version of the secret with which `/me` succeeds, but calls about groups are refused. */
  readonly refusedAtGroups?: KnownRefusal | undefined;
}

export interface KnownRefusal {
  readonly version: string;
  /** The time of the last refresh that did not help. All workers together refresh at most once an hour. */
  readonly atMs?: number | undefined;
}

export interface Platforms {
  /** @throws PlatformFailure `unauthorized` if the secret is missing, unreadable or belongs to another company */
  open(connection: Connection, how?: Opening): Promise<Platform>;
}

/** A group for the checks of `connect`. If the group is malformed, name and users are empty. */
export interface ListedForApplicant {
  readonly id: string;
  readonly name: string;
  readonly spokeId: string | null;
  readonly users: readonly string[];
}

/** The platform, accessed with a credential that is not stored yet. */
export interface Applicant {
  me(): Promise<{ readonly company: string; readonly id: string }>;
  markInstalled(): Promise<void>;
  groups(): Promise<readonly ListedForApplicant[]>;
  /**
   * Whether the platform answers 403 to a PATCH of the name, or of the users, of a group that does not exist. Nothing
   * is written.
   */
  refusesWrite(scope: 'groups' | 'members'): Promise<boolean>;
  /**
   * Whether the platform also answers 403 to a GET of that group. In this case the 403 to the PATCH does not prove that
   * a scope is missing.
   */
  hidesGroups(): Promise<boolean>;
  /**
   * Returns the values of each employee by field name: `id`, `roleState`, and the requested fields that the credential
   * may read.
   */
  employees(
    fields: readonly string[],
    states: readonly string[],
  ): AsyncIterable<readonly ReadonlyMap<string, string | null>[]>;
  /**
   * Returns by how many milliseconds this machine's clock is ahead of the platform's clock; undefined if the platform
   * sends no time.
   */
  clockSkewMs(): Promise<number | undefined>;
}

export interface Applicants {
  /** @throws TypeError if base URL or token cannot be used; the message does not show the token */
  present(baseUrl: string, token: string): Promise<Applicant> | Applicant;
}

export interface StoredApplicants {
  /**
   * Uses the stored credential.
   * @throws PlatformFailure
   */
  stored(connection: ConnectionName, baseUrl: string): Promise<Applicant>;
}

export type FailureKind = Failed['kind'];

/**
 * Separates groupsync's own text from the platform's error text after it, which may contain names. Operators see both.
 * Logs contain only the part before this separator.
 */
export const ANSWER_PREFIX = ', saying: ';

/** A failed call. `meaningOf` returns how the caller must react. */
export class PlatformFailure extends Error implements Failed {
  override readonly name = 'PlatformFailure';
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly call: Call | undefined;
  readonly retryAfterMs: number | undefined;
  readonly secretVersion: string | undefined;
  /** For `unauthorized`: the `atMs` of `KnownRefusal`. */
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

/** Returns the failure of a call; undefined if the call succeeded. */
export async function failureIn(call: () => Promise<unknown>): Promise<PlatformFailure | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof PlatformFailure) return error;
    throw error;
  }
}
