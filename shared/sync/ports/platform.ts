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
import type { CallKind, Failed, FailureKind } from '../../plan/meaning.ts';
import type { Connection } from './connections.ts';
import type { FeedPage } from './reconcile.ts';

/** All fields of a group, for a PUT or POST. Null makes the platform remove the value. */
export interface WholeGroup extends WrittenFields {
  readonly users: readonly PlatformUserId[];
}
/** The fields of a group to change, for a PATCH. A missing field keeps its value. */
export type GroupFields = Partial<WholeGroup>;
type NewGroupFields = WholeGroup & { readonly spokeId: string };

export interface CallOutcome {
  /** The method and the path template of the call. */
  readonly endpoint: string;
  /** The HTTP status, or the class of the error; undefined if the call succeeded. */
  readonly failure: string | undefined;
}

export interface Trying {
  readonly onTry?: () => void;
  readonly maxAttempts?: number | undefined;
}

/**
 * The platform's groups for one connection. The only error that methods throw is PlatformFailure. A read that fails or
 * is incomplete throws, and never returns an empty list (invariant 4).
 */
export interface PlatformGroups {
  /**
   * Visits all groups of the company while the list arrives. Only a promise that resolves shows that the list was
   * complete, so nothing follows from a missing group before.
   */
  each(visit: (group: ListedGroup) => void): Promise<void>;
  /**
   * Returns all groups of the company, perhaps from this worker's cache of at most `maxAgeMs`. A failed list is not
   * read again, because a large list needs most of the time of apply.
   */
  list(maxAgeMs: number): Promise<readonly ListedGroup[]>;
  /** Returns the number of groups in the last list of this worker; 0 before the first list. */
  countListed(): number;
  /** Drops the cached list, because it may lack a group that was created and released after the read. */
  forgetList(): void;
  /** Returns undefined if the platform answers 404. */
  get(id: PlatformGroupId, how?: Trying): Promise<ObservedGroup | undefined>;
  create(fields: NewGroupFields, how?: Trying): Promise<ObservedGroup>;
  patch(
    id: PlatformGroupId,
    fields: GroupFields,
    version: VersionToken,
    how?: Trying,
  ): Promise<ObservedGroup>;
  put(id: PlatformGroupId, fields: WholeGroup, version: VersionToken, how?: Trying): Promise<ObservedGroup>;
  /** Returns `missing` if the platform answers 404. This answer alone does not prove that the group is gone. */
  delete(id: PlatformGroupId, how?: Trying): Promise<'deleted' | 'missing'>;
}

export interface Platform {
  readonly groups: PlatformGroups;
  /** The version of the secret in use. A check of the credential is valid only for this version. */
  readonly secretVersion: string;
  /** The platform's user to which the credential belongs, from the latest answer to `/me`. */
  readonly holder?: string | undefined;
  /**
   * Sends a request that concerns no group (`/me`). Its result distinguishes a fault of one group from a fault of the
   * whole connection.
   * @returns undefined if the request succeeds
   */
  probe(): Promise<PlatformFailure | undefined>;
  /**
   * Returns all employees, page by page. `fields` are the fields for match rules. The result includes people before
   * their first day if `states` contains their state, or if `isEveryone` is set. If the platform fails repeatedly at
   * one position of the list, the result contains the failure in place of the employee. The listing then continues
   * after this position.
   */
  employees(wanted: {
    readonly fields: readonly EmployeeField[];
    readonly states: readonly string[];
    readonly isEveryone?: boolean;
  }): AsyncIterable<readonly EmployeeRecord[] | PlatformFailure>;
  /**
   * Returns undefined if the platform answers 404. Unlike a missing list entry, this proves that the employee is gone.
   */
  employee(role: RoleId, fields: readonly EmployeeField[]): Promise<EmployeeRecord | undefined>;
  activity(start: FeedStart): AsyncIterable<FeedPage>;
}

/** The start of a read of the activity feed: after a cursor, or at a time (milliseconds since 1970, inclusive). */
export type FeedStart = { readonly cursor: string } | { readonly sinceMs: number };

/** An employee in one answer of the platform. A field that the answer lacks is absent. */
export interface EmployeeRecord {
  readonly role: RoleId;
  readonly userId?: string;
  readonly state?: string;
  /** The end of the employment, YYYY-MM-DD. Only `employee` returns it, and only if the scopes permit it. */
  readonly endDate?: string;
  readonly fields: ReadonlyMap<EmployeeField, string | null>;
}

export interface Opening {
  /** A version of the secret. If it is still the current version, `open` fails without a request. */
  readonly unlessSecret?: string | undefined;
  /** A version of the secret that the platform still refused after a refresh of its tokens. */
  readonly refusedSecret?: KnownRefusal | undefined;
  /** A version of the secret with which the platform answers `/me`, but refuses calls about groups. */
  readonly refusedAtGroups?: KnownRefusal | undefined;
}

export interface KnownRefusal {
  readonly version: string;
  /** The time of the last token refresh without success. All workers together refresh at most once an hour. */
  readonly atMs?: number | undefined;
}

export interface Platforms {
  /** @throws PlatformFailure `unauthorized` if the secret is missing, unreadable or belongs to another company */
  open(connection: Connection, how?: Opening): Promise<Platform>;
}

/** A group for the checks of `connect`. If the group is malformed, name and users are empty. */
interface ListedForApplicant {
  readonly id: string;
  readonly name: string;
  readonly spokeId: string | null;
  readonly users: readonly string[];
}

/** The platform's API, called with the credential that an operator wants to connect. */
export interface Applicant {
  me(): Promise<{ readonly company: string; readonly id: string }>;
  markInstalled(): Promise<void>;
  groups(): Promise<readonly ListedForApplicant[]>;
  /**
   * Returns whether the platform answers 403 to a PATCH of a group that does not exist. The PATCH is about the name or
   * the users, and changes nothing.
   */
  refusesWrite(scope: 'groups' | 'members'): Promise<boolean>;
  /**
   * Returns whether the platform also answers 403 to a GET of that group. In this case, the 403 to the PATCH does not
   * prove that a scope is missing.
   */
  hidesGroups(): Promise<boolean>;
  /** Returns the values of each employee by field name: `id`, `roleState`, and the readable requested fields. */
  employees(
    fields: readonly string[],
    states: readonly string[],
  ): AsyncIterable<readonly ReadonlyMap<string, string | null>[]>;
}

export interface Applicants {
  /** @throws TypeError if the base URL or the token cannot be used. The message does not show the token */
  present(baseUrl: string, token: string): Promise<Applicant> | Applicant;
}

export interface StoredApplicants {
  /**
   * Uses the stored credential.
   * @throws PlatformFailure if the credential cannot be used
   */
  stored(connection: ConnectionName, baseUrl: string): Promise<Applicant>;
}

/**
 * Separates groupsync's own text from the platform's error text. The platform's text comes after the separator and may
 * contain names. Operators see both parts. Logs contain only the part before the separator.
 */
export const ANSWER_PREFIX = ', saying: ';

export const isJson = (answer: string): boolean => /^[{[]/.test(answer);

/** Returns an error's text without a response that is JSON and was cut, because only a whole document is readable. */
export function withoutCutJson(text: string): string {
  const [ours = '', answer = ''] = text.split(ANSWER_PREFIX, 2);
  return isJson(answer) && text.endsWith('…') ? ours : text;
}

/** A failed call. `meaningOf` returns how the caller must react. */
export class PlatformFailure extends Error implements Failed {
  override readonly name = 'PlatformFailure';
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly call: CallKind | undefined;
  readonly retryAfterMs: number | undefined;
  readonly secretVersion: string | undefined;
  /** For `unauthorized`: the `atMs` of `KnownRefusal`. */
  refusedAtMs?: number;

  constructor(
    kind: FailureKind,
    message: string,
    detail: {
      readonly status?: number | undefined;
      readonly call?: CallKind | undefined;
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
