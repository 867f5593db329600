import type { BlockReport as BlockedAnswer, BlockRow } from '../shared/contract/answers/block.ts';
import type { Check } from '../shared/contract/answers/connect.ts';
import type { Cause, Survey } from '../shared/contract/answers/dead-letters.ts';
import type { DeliveryRow } from '../shared/contract/answers/deliveries.ts';
import type { DirectoryStatus } from '../shared/contract/answers/directory.ts';
import type { LogEntry } from '../shared/contract/answers/explain.ts';
import type { GroupStateName, GroupStatus, Plan, Waiting } from '../shared/contract/answers/groups.ts';
import type { HoldRow } from '../shared/contract/answers/holds.ts';
import type { DriftRow, PlanEffect as EffectOnGroups } from '../shared/contract/answers/reconcile.ts';
import type {
  ConnectionRow,
  CredentialReport,
  SettingRequestRow,
  SourceReport,
  StatusReport,
} from '../shared/contract/answers/status.ts';
import type { Role } from '../shared/contract/console.ts';
import type { GroupTreatment } from '../shared/contract/group-policy.ts';
import type { SettingForm } from '../shared/contract/setting-forms.ts';
import type { Source } from '../shared/domain/source.ts';

/* The responses of the console's server: the JSON of the commands, with names next to the ids. */

export type { ShownDeadLetter } from '../shared/contract/answers/dead-letters.ts';
export type { Explanation } from '../shared/contract/answers/explain.ts';
export type { HoldRow } from '../shared/contract/answers/holds.ts';
export type {
  AdoptionPreview,
  PlatformGroupRow,
  PlatformGroupsReport,
} from '../shared/contract/answers/platform-groups.ts';
export type { BlockedAnswer, BlockRow };

export interface PersonName {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
}

/** The fields of an entry of `log`. `group` is null if the entry is about the whole connection. */
type SharedWithLog = Pick<
  LogEntry,
  'at' | 'action' | 'group' | 'groupName' | 'cause' | 'outcome' | 'changes' | 'changeCount' | 'waitedMs'
>;

export interface Entry extends SharedWithLog {
  readonly actor: { readonly kind: string; readonly id: string; readonly name: string | null };
  readonly version: string | number | null;
  /** Names of the members and users in the changes, by id. */
  readonly people: Readonly<Record<string, PersonName>>;
}

export interface GroupLine {
  readonly id: string;
  readonly name: string | null;
  readonly state: GroupStateName;
  readonly held: boolean;
  readonly waitingSince: string | null;
  readonly wanted: number;
  /** Number of users at the last read or write of the platform group; null if there is no platform group. */
  readonly platform: number | null;
  readonly pending: number;
  readonly lastWriteAt: string | null;
  /** Why a changed group is not written, and when groupsync tries again; null if nothing waits. */
  readonly waiting: Waiting | null;
  /** The source of the latest name: events, SCIM or the reader; null for a group without a name. */
  readonly source: Source | null;
  readonly lastError: string | null;
}

export interface GroupPage {
  readonly rows: readonly GroupLine[];
  /** Number of rows that match the filter, on all pages. */
  readonly found: number;
  readonly total: number;
  readonly states: Readonly<Partial<Record<GroupStateName, number>>>;
}

export interface HoldLine extends HoldRow {
  readonly name: string | null;
}

export interface Holds {
  readonly holds: readonly HoldLine[];
  /** Decisions of the last entries of the activity, the newest first. */
  readonly decided: readonly Entry[];
}

/** A person who is pending in at least one group. */
export interface Unmatched {
  readonly person: PersonName;
  readonly department: string | null;
  readonly cause: string;
  /** The ACTIVE employee who matches a member that is bound to a person who has left. */
  readonly rehire: string | null;
  readonly groups: number;
  readonly sinceMs: number;
}

/** A part of the sorted list of pending people. */
export interface UnmatchedPage {
  readonly rows: readonly Unmatched[];
  /** Number of people who match the filter. */
  readonly found: number;
  /** Number of people by cause, without the filter. */
  readonly causes: Readonly<Record<string, number>>;
}

/** An item that an operator has hidden on the page Home. */
interface Acknowledgement {
  readonly item: string;
  /** The item is shown again when its version changes, or at `until`. null: only at `until`. */
  readonly version: string | null;
  readonly until: string;
  readonly by: string;
}

/** The items of one connection that need an operator. */
export interface Attention {
  readonly company: string;
  readonly observing: boolean;
  readonly status: StatusReport;
  readonly holds: readonly HoldLine[];
  readonly failed: readonly GroupLine[];
  readonly drift: readonly (DriftRow & { readonly name: string | null })[];
  readonly unmatched: readonly Unmatched[];
  readonly unmatchedTotal: number;
  readonly acknowledged: readonly Acknowledgement[];
}

/** All connections that the person may see. */
export interface EveryConnection {
  readonly connections: readonly {
    readonly row: ConnectionRow;
    /** null if the person uses AWS credentials. */
    readonly role: Role | null;
    /** null if the connection cannot be read. */
    readonly value: Attention | null;
    readonly problem: string | null;
  }[];
  /** Causes of the dead-lettered messages of all connections; empty for a person who may not see these messages. */
  readonly causes: readonly Cause[];
}

export interface Home extends Attention {
  readonly at: string;
  /** Empty for a person who may not see the messages of all connections. */
  readonly causes: readonly Cause[];
  readonly activity: readonly Entry[];
  readonly charts: Charts;
}

/** Values of the last 24 hours, the newest last. null: there is no data, for example because groupsync did not run. */
export interface Charts {
  /** Writes in each hour. */
  readonly writes: readonly (number | null)[];
  /** Maximum delay of a change in each quarter of an hour. */
  readonly lag: readonly (number | null)[];
  /** Groups, and for `pending` memberships, that needed work in each hour. */
  readonly trends: Readonly<Record<TrendKind, readonly (number | null)[]>>;
}

export type TrendKind = 'waiting' | 'held' | 'failed' | 'pending';

export interface Live {
  readonly revision: string;
  /** Number of dead-lettered messages of all connections; null if they cannot be counted. */
  readonly deadLetters: number | null;
  /** Number of holds of this connection that wait for a decision. */
  readonly holds: number;
  /** The role of the person for the connection. null without sign-in, and in the answer for all connections. */
  readonly role: Role | null;
  /** The actions and queries that this role may not use, with the role that may. Empty without sign-in. */
  readonly refused: Readonly<Record<string, Role>>;
  readonly connections: readonly ConnectionRow[];
}

/**
 * A user of a group with a hold. The hold stops the removal of this user, or the directory does not remove the user.
 */
export interface HeldPerson extends PersonName {
  readonly user: string;
  readonly department: string | null;
  /** Index in `HoldPage.causes`; null if the directory does not remove the person. */
  readonly cause: number | null;
}

/** Why the directory removes people, with the event. People with the same cause share one object. */
export interface HeldPeopleCause {
  readonly because: string;
  readonly count: number;
  readonly event: string | null;
  readonly source: string | null;
  readonly at: string | null;
  /** The operator who sent the event; null if the directory sent it. */
  readonly by: string | null;
}

export interface DecidedRemovals {
  readonly decision: 'approved' | 'rejected';
  readonly removes: number;
  readonly by: string;
  readonly reason: string;
}

export interface HoldPage {
  readonly group: string;
  readonly name: string | null;
  /**
   * The removals that wait for a decision. If no removals wait, the decided removals. null if the group has no
   * removals.
   */
  readonly hold: (HoldRow & { readonly by: string | null; readonly reason: string | null }) | null;
  /** Decided removals that `hold` does not contain: approved and not written yet, or rejected. */
  readonly others: readonly DecidedRemovals[];
  /** Decisions about earlier removals of the group and the writes that they permitted, the newest first. */
  readonly decided: readonly Entry[];
  /** The cause with the most removals comes first. */
  readonly causes: readonly HeldPeopleCause[];
  readonly leaving: readonly HeldPerson[];
  readonly staying: readonly HeldPerson[];
}

export interface MemberLine extends PersonName {
  readonly department: string | null;
  readonly directory: boolean;
  /** The time and the source of the latest event about the membership; null if there is none. */
  readonly since: string | null;
  readonly source: string | null;
  /** Why the member is pending; null if the member is not pending. */
  readonly pending: string | null;
  readonly held: boolean;
  /** The id of the member's user, as in platform groups. */
  readonly user: string | null;
  readonly platform: boolean;
}

export interface GroupPlan extends Plan {
  readonly name: string | null;
}

/** The settings of the connection that apply to one group. */
export interface GroupSettings extends GroupTreatment {
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface GroupDetail {
  readonly status: GroupStatus;
  readonly held: boolean;
  /** Number of users of the platform group; null if there is no platform group. */
  readonly users: number | null;
  readonly applies: GroupSettings;
  readonly members: readonly MemberLine[];
  readonly history: readonly Entry[];
}

export interface PersonGroup {
  readonly group: string;
  /** The member through which the group has the person. */
  readonly member: string;
  readonly name: string | null;
  readonly directory: boolean;
  readonly platform: boolean;
  readonly pending: string | null;
  /** The time of the latest event about the membership. */
  readonly since: string | null;
}

export interface PersonPage {
  readonly person: PersonName;
  readonly attributes: Readonly<Record<string, string>>;
  readonly bound: { readonly id: string; readonly user: string | null; readonly state: string } | null;
  readonly rehire: string | null;
  readonly groups: readonly PersonGroup[];
  /** The block of the person; null if the person is not blocked. */
  readonly blocked: BlockRow | null;
  readonly timeline: readonly Entry[];
}

export interface Activity {
  readonly entries: readonly Entry[];
  readonly found: number;
  /** True if older entries were not searched. */
  readonly isCut: boolean;
}

export interface Delivery extends Omit<DeliveryRow, 'groups' | 'members'> {
  readonly groups: readonly { readonly id: string; readonly name: string | null }[];
  readonly people: readonly PersonName[];
}

export interface Deliveries {
  readonly deliveries: readonly Delivery[];
  /** False if older deliveries may match. */
  readonly complete: boolean;
  /** False if there are no deliveries at all. */
  readonly isAny: boolean;
}

/** The last delivery, and the refused deliveries of the last day, at most the newest thousand. */
export interface DeliverySurvey {
  readonly lastAt: string | null;
  readonly received: number;
  readonly refused: number;
  readonly reasons: readonly { readonly code: string; readonly count: number }[];
}

export interface DeadLetters extends Survey {
  /** Names of the groups, by id, if known. */
  readonly names: Readonly<Record<string, string>>;
}

export interface TokenLine {
  readonly prefix: string;
  /** Id of the OAuth client of the secret; null for a bearer token. */
  readonly client: string | null;
  readonly state: string;
  readonly createdAt: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

export interface SessionLine {
  readonly id: string;
  readonly person: string;
  readonly role: Role;
  readonly since: string;
  readonly expiresAt: string;
}

/** The sessions of people who signed in and have a role for the connection. */
export interface Sessions {
  readonly sessions: readonly SessionLine[];
}

export interface ConnectionPage {
  readonly row: ConnectionRow;
  readonly credential: CredentialReport;
  readonly feedAgeMs: number | null;
  readonly sources: readonly SourceReport[];
  /** A sentence about groups that kept all members, because a PUT did not mention members; null if there are none. */
  readonly keptMembers: string | null;
  /** A sentence about groups whose move to another source is not finished; null if there are none. */
  readonly openMoves: string | null;
  /** null if no directory is read. */
  readonly reader: DirectoryStatus | null;
  /** Groups with changes that are not written yet. */
  readonly backlog: number;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly fields: readonly SettingField[];
  readonly requests: readonly SettingRequestRow[];
  readonly blocked: readonly BlockRow[];
  readonly tokens: readonly TokenLine[];
  /** Base URL for the identity provider; null if there is no SCIM server or its address is unknown. */
  readonly scimUrl: string | null;
}

export interface Checks {
  readonly checks: readonly Check[];
}

export interface SettingsPreview {
  readonly changes: readonly { readonly key: string; readonly before: string; readonly after: string }[];
  readonly replans: boolean;
  /** Settings that do not change until another person confirms the change. */
  readonly requested: readonly string[];
  /** Whether the change permits more removals without an approval. */
  readonly weakens: boolean;
  /** null if there are too many groups to plan them all here. */
  readonly effects:
    | readonly (PlanEffect & {
        readonly group: string;
        readonly name: string | null;
        /** A line for each member that is added, removed, or whose removal waits. */
        readonly members: readonly string[];
      })[]
    | null;
  readonly total: PlanEffect;
}

/** The effect of a changed setting on the plans. Changes that are planned without the new setting are not counted. */
export type PlanEffect = Omit<EffectOnGroups, 'groups'>;

/** Progress of a replay; the last line contains the result. */
export interface ReplayProgress {
  readonly replayed: number;
  readonly failed: number;
  readonly remaining: number | null;
  /** The error that ended the replay early. */
  readonly problem?: string;
}

/**
 * The form in which a person enters the value of one setting. `group` means that the value is null or consists of
 * further settings. `json` stands for all forms that have no entry here.
 */
export type FieldForm =
  | SettingForm
  | { readonly kind: 'text' }
  | { readonly kind: 'list'; readonly values: readonly string[] | null }
  | { readonly kind: 'json' }
  | { readonly kind: 'group' };

/** One setting that a person can change, as the schema of the settings defines it. */
export interface SettingField {
  /** Dotted: `guard.minSize`. */
  readonly key: string;
  readonly form: FieldForm;
  readonly isNullable: boolean;
  /** The default; null if the setting has no default. */
  readonly default: unknown;
}
