/**
 * The data of a simulation run. draw.ts derives the data from a seed, and execute.ts executes the run. Each happening
 * contains all data that it needs, so that shrink.ts can remove any other happening.
 */

import type * as z from 'zod';
import type { Change } from '../directory-simulator/engine/changes.ts';
import type { Settings } from '../directory-simulator/engine/settings.ts';
import type { WorldInput } from '../directory-simulator/engine/world.ts';
import type { DirectorySetting } from '../shared/contract/directory-settings.ts';
import type { WrittenFields } from '../shared/domain/group-fields.ts';
import type { PlatformFault } from './platform-faults.ts';
import type { DirectoryFaultAction } from './reader/faults.ts';

export type { PlatformFault };

/** The time at which every simulation run begins: 2026-11-20T10:00:00Z. */
export const START_MS = Date.UTC(2026, 10, 20, 10);
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** The suffix of the new connection's name. */
const RETURNED = '-again';
export const returnedName = (connection: string): string => `${connection}${RETURNED}`;
export const originalName = (connection: string): string =>
  connection.endsWith(RETURNED) ? connection.slice(0, -RETURNED.length) : connection;

export interface SimulationRun {
  readonly seed: number;
  /** The number of days with faults. After these days, the run has a day without faults and then the final check. */
  readonly days: number;
  readonly coalesceSeconds: number;
  readonly connections: readonly ConnectionSpec[];
  /** Sorted by time. */
  readonly happenings: readonly Happening[];
}

export interface ConnectionSpec {
  readonly name: string;
  readonly company: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** The traits of this company's platform, which never change during the run. */
  readonly traits: Traits;
  /** With `oauth`, access tokens expire after an hour, and groupsync refreshes them at the platform's token URL. */
  readonly credential: 'static' | 'oauth';
  /** Set if this connection replaces a removed one of the same company under another name, during the run. */
  readonly isLater?: true;
  readonly people: readonly PersonSpec[];
  /** The directory that groupsync reads. If undefined, all changes arrive as messages and SCIM requests. */
  readonly source?: SourceSpec;
}

/** A directory at the start, and the difficulties of reading it. */
export interface SourceSpec {
  readonly setting: DirectorySetting;
  readonly world: WorldInput;
  readonly difficulty: Settings;
}

export interface PersonSpec {
  readonly role: string;
  readonly email: string | null;
  /** The employment state (default: ACTIVE). */
  readonly state?: string;
  /** The user id. The default is `u-<role>`. Null if the platform shows no user id. */
  readonly userId?: string | null;
  /** The employee number; absent if the employee has none. */
  readonly number?: string;
}

/** Behaviour that the specification leaves open. Each platform has fixed values. */
export interface Traits {
  readonly staleStatus: 409 | 412 | 400 | 422;
  readonly enforceVersionOnPatch: boolean;
  readonly echoSpokeId: boolean;
  readonly spokeIds: 'exact' | 'folded';
  /** The platform refuses longer names with 400 or 422; null if it has no limit. */
  readonly longestName: number | null;
  readonly names: 'exact' | 'trimmed' | 'folded';
  /** If true, two groups cannot have the same name. */
  readonly uniqueNames: boolean;
  /** A user that this platform adds to each new group; null if it adds none. */
  readonly installer: string | null;
  /** How long the list, and a GET by id, show an earlier state. */
  readonly listLagMs: number;
  readonly getLagMs: number;
  readonly endOfFeed: 'same' | 'null' | 'absent' | 'empty';
  /** The delay after which the feed shows a change. */
  readonly feedLagMs: number;
  /** The envelope of the feed, and the form of a page without events. */
  readonly feedEnvelope: 'data' | 'flat';
  readonly emptyFeedPage: 'list' | 'nullEvents' | 'nullData';
  /** True if versions are numbers, false if they are texts. */
  readonly numericVersions: boolean;
}

interface At {
  /** Milliseconds after START_MS. */
  readonly atMs: number;
  readonly connection: string;
}

export type Happening = At &
  (
    | { readonly actor: 'directory'; readonly action: DirectoryAction; readonly way: Way }
    | { readonly actor: 'source'; readonly action: SourceAction }
    | { readonly actor: 'company'; readonly action: CompanyAction }
    | { readonly actor: 'platform'; readonly action: PlatformAction }
    | { readonly actor: 'client'; readonly action: ClientAction }
    /** `by` is the actor id of the person (persons.ts). */
    | { readonly actor: 'operator'; readonly action: OperatorAction; readonly by?: string }
    | { readonly actor: 'aws'; readonly action: AwsAction }
  );

/**
 * Members are named by their ids in the directory. Most members have the address `<id>@<connection>.test` in each
 * event. The address of a member `h…` is only in a profile. A member `n…` has an employee number, and no address that
 * matches an employee. Groups `s…` and members `q…` exist only in the SCIM server, and the server assigns other ids to
 * them. The SCIM client sends `s-g1` and `q-p1` for what the events call `g1` and `p1`.
 */
export type DirectoryAction =
  | { readonly kind: 'name'; readonly group: string; readonly name: string }
  | { readonly kind: 'delete'; readonly group: string }
  | { readonly kind: 'join' | 'leave'; readonly group: string; readonly members: readonly string[] }
  | {
      readonly kind: 'snapshot';
      readonly group: string;
      readonly name: string | null;
      readonly members: readonly string[];
      /** Number of parts; 1 if the snapshot is not split. */
      readonly parts: number;
    }
  | { readonly kind: 'profile'; readonly member: string; readonly email?: string; readonly number?: string }
  | { readonly kind: 'forget'; readonly member: string }
  /** One message with snapshots of `groups` groups: `<prefix>0`, `<prefix>1` … */
  | { readonly kind: 'wide'; readonly prefix: string; readonly groups: number }
  | { readonly kind: 'rubbish'; readonly body: string };

export interface Way {
  readonly form: 'native' | 'sns' | 'eventbridge' | 'okta' | 'scim_request';
  /** `none`: ingest uses the time of sending. `future`: the time is an hour ahead, so ingest must refuse it. */
  readonly time: 'exact' | 'whole_second' | 'none' | 'future';
  /** The delay of the message. The delay may be days. */
  readonly lateMs: number;
  /** The number of times that SQS delivers the message. */
  readonly copies: number;
  /** The actor of the change in the directory, if the form of the message can name one. */
  readonly by?: string;
  /** The id of the event. Two events with the same id and the same instant have equal stamps. */
  readonly eventId?: string;
}

/** A change of a directory that groupsync reads, or a fault in its answers. */
export type SourceAction = z.input<typeof Change> | DirectoryFaultAction;

export type CompanyAction =
  | { readonly kind: 'hire'; readonly person: PersonSpec }
  | { readonly kind: 'readdress'; readonly role: string; readonly email: string | null }
  | { readonly kind: 'renumber'; readonly role: string; readonly number: string }
  /** Moves the role to another user. The platform does not change the user's groups. */
  | { readonly kind: 'change_user_id'; readonly role: string; readonly userId: string }
  | { readonly kind: 'terminate' | 'activate' | 'erase' | 'lose_user_id'; readonly role: string };

export interface PlatformAction {
  readonly kind: 'platformFault';
  readonly platformFault: PlatformFault;
  readonly forMs: number;
  /** The affected users, groups or values. For a fault with Retry-After, this is the value of the header. */
  readonly about?: readonly string[];
  /** Probability that the fault affects a call, from 0 to 1. */
  readonly share?: number;
}

/** An action of another client on the platform group that belongs to the directory group `group`. */
export type ClientAction =
  | (Partial<WrittenFields> & {
      readonly kind: 'edit';
      readonly group: string;
      readonly add?: readonly string[];
      readonly remove?: number;
      /** After groupsync has reverted the edit, the client repeats the edit, up to `times` times. */
      readonly again?: { readonly everyMs: number; readonly times: number };
    })
  | { readonly kind: 'delete' | 'recreate' | 'strip' | 'twin'; readonly group: string }
  /** Creates an unmanaged group. Its name may equal the name of a managed group. */
  | { readonly kind: 'own'; readonly name: string; readonly spokeId: string | null };

export type OperatorAction =
  /** `oldMs` is the age of the operator's screen. `isPart`: the decision is about every second removal. */
  | {
      readonly kind: 'approve' | 'reject';
      readonly group: string;
      readonly oldMs: number;
      readonly isPart?: boolean;
    }
  | { readonly kind: 'pause' | 'resume' | 'release' | 'adopt' | 'sync'; readonly group: string }
  | { readonly kind: 'pause_all' | 'resume_all' | 'observe' }
  /** Restores the connection to an instant after which nothing changed, and accepts the members of all its groups. */
  | { readonly kind: 'restore' | 'restated_all' }
  | { readonly kind: 'rebind'; readonly member: string; readonly role: string }
  /** Keeps the person with this role out of all groups, until `unblock`. */
  | { readonly kind: 'block' | 'unblock'; readonly role: string }
  /** Erases the stored data of this member's person. */
  | { readonly kind: 'forget'; readonly member: string }
  | { readonly kind: 'set'; readonly key: string; readonly value: unknown }
  | { readonly kind: 'remove_connection' }
  /** Connects the company under the name of this connection. */
  | { readonly kind: 'connect'; readonly company: string }
  | { readonly kind: 'replay_all' | 'discard_one' | 'edit_one' }
  /** A new token is used by the SCIM requests of the connection from then on. */
  | { readonly kind: 'new_token' | 'new_client' }
  /** Confirms or rejects the requests that a second person must confirm. */
  | { readonly kind: 'confirm' | 'reject_requests' }
  /** Makes another source the owner of the groups that this source also has. */
  | { readonly kind: 'takeover'; readonly to: 'scim' | 'events' | 'directory' }
  /** Sends an event from a file. */
  | { readonly kind: 'send'; readonly event: DirectoryAction }
  /** Imports a file of this age, with members of one group. */
  | {
      readonly kind: 'import';
      readonly group: string;
      readonly members: readonly string[];
      readonly lists: 'snapshot' | 'add' | 'remove';
      readonly ageMs: number;
    }
  /** Undoes the last import or undo of this group. */
  | { readonly kind: 'undo_import'; readonly group: string }
  /** Brings back the members that the group had at an earlier time. */
  | { readonly kind: 'undo'; readonly group: string; readonly agoMs: number }
  /** Confirms that the groups that the reader misses are deleted. Drawn by no seed (reader/readers.ts). */
  | { readonly kind: 'accept_deletions' };

type FunctionName =
  | 'ingest'
  | 'apply'
  | 'people'
  | 'pump'
  | 'feed'
  | 'sweep'
  | 'health'
  | 'scim'
  | 'directory';
/** The processes that may crash: the functions, and a command of an operator (`operator`). */
export type LambdaName = FunctionName | 'operator';

export type AwsAction =
  /** This function crashes before its n-th effect of this kind, counted over all invocations. */
  | { readonly kind: 'crash'; readonly lambda: LambdaName; readonly effect: string; readonly nth: number }
  | { readonly kind: 'throttled' | 'unheard' | 'echo'; readonly forMs: number; readonly share: number }
  | { readonly kind: 'queue_refuses'; readonly forMs: number; readonly share: number }
  /** Each request to the table takes `msPerRequest`. */
  | { readonly kind: 'slow_table'; readonly forMs: number; readonly msPerRequest: number }
  /** The clocks of new workers are wrong by up to `skewMs`. */
  | { readonly kind: 'skew'; readonly forMs: number; readonly skewMs: number }
  /** Two workers receive the same message of the apply queue, or start the same scheduled task. */
  | { readonly kind: 'twins'; readonly forMs: number; readonly share: number };
