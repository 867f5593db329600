import type {
  Cause,
  Check,
  ConnectionRow,
  CredentialReport,
  DirectoryStatus,
  DriftRow,
  GroupStateName,
  GroupStatus,
  HoldRow,
  LogEntry,
  NameClash,
  SettingRequestRow,
  SourceReport,
  StatusReport,
  Survey,
} from '../shared/contract/answers.ts';

/* What the server of the console answers: what the commands answer with `--json`, with names beside the ids. */

export type { Explanation, ShownDeadLetter } from '../shared/contract/answers.ts';

/** A member of the directory, as far as anything is known of them but their id. */
export interface PersonName {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
}

/** One thing that happened. */
export interface Entry {
  readonly at: string;
  readonly actor: { readonly kind: string; readonly id: string; readonly name: string | null };
  readonly action: string;
  /** null: it concerns the connection. */
  readonly group: string | null;
  readonly groupName: string | null;
  readonly cause: string;
  readonly outcome: string;
  readonly version: string | number | null;
  readonly changes: LogEntry['changes'];
  readonly changeCount: number;
  readonly waitedMs: number | null;
  /** Of members and users in the changes, by id. */
  readonly people: Readonly<Record<string, PersonName>>;
}

export interface GroupLine {
  readonly id: string;
  readonly name: string | null;
  readonly state: GroupStateName;
  readonly held: boolean;
  readonly waitingSince: string | null;
  readonly wanted: number;
  readonly applied: number;
  readonly pending: number;
  readonly lastWriteAt: string | null;
  readonly lastError: string | null;
}

export interface GroupPage {
  readonly rows: readonly GroupLine[];
  /** Rows that fit the filter, all pages together. */
  readonly found: number;
  readonly total: number;
  readonly states: Readonly<Partial<Record<GroupStateName, number>>>;
}

export interface HoldLine extends HoldRow {
  readonly name: string | null;
}

/** A membership for which no employee on the platform was found, or more than one. */
export interface Unmatched {
  readonly person: PersonName;
  readonly cause: string;
  readonly groups: number;
  readonly sinceMs: number;
}

export interface Home {
  readonly at: string;
  readonly company: string;
  readonly observing: boolean;
  readonly status: StatusReport;
  readonly holds: readonly HoldLine[];
  readonly failed: readonly GroupLine[];
  /** Dead letters by cause. */
  readonly causes: readonly Cause[];
  readonly drift: readonly (DriftRow & { readonly name: string | null })[];
  readonly unmatched: readonly Unmatched[];
  readonly unmatchedTotal: number;
  readonly activity: readonly Entry[];
  /** Writes in each of the last 24 hours, the newest last. */
  readonly writes: readonly number[];
  /** How long the oldest change had waited at most, in each quarter of an hour of the last 24 hours, the newest last. */
  readonly lag: readonly number[];
}

export interface Live {
  readonly revision: string;
  /** Dead letters, of all connections; null: they cannot be counted. */
  readonly deadLetters: number | null;
  readonly connections: readonly ConnectionRow[];
}

/** A person whose removal a hold stops, or who is in the group and stays. */
export interface HeldPerson extends PersonName {
  readonly user: string;
  readonly department: string | null;
  /** The directory's last word about them in this group. */
  readonly said: {
    readonly what: string;
    readonly at: string | null;
    readonly event: string | null;
    readonly source: string | null;
  } | null;
}

export interface HoldPage {
  readonly group: string;
  readonly name: string | null;
  /** null: nothing of the group is held (any more). */
  readonly hold: (HoldRow & { readonly by: string | null; readonly reason: string | null }) | null;
  /** Removals that an operator approved while the hold stays over the others; null after they are written. */
  readonly approved: { readonly removes: number; readonly by: string; readonly reason: string } | null;
  readonly goes: readonly HeldPerson[];
  readonly stays: readonly HeldPerson[];
}

export interface MemberLine extends PersonName {
  readonly directory: boolean;
  /** Why they cannot be written; null where nothing keeps them back. */
  readonly pending: string | null;
  readonly held: boolean;
  /** Id in the platform's groups. */
  readonly user: string | null;
  readonly platform: boolean;
}

export interface GroupPlan {
  readonly group: string;
  readonly name: string | null;
  readonly action: string;
  readonly changes: LogEntry['changes'];
  readonly held: readonly string[];
  readonly note: string | null;
  readonly clashes: readonly NameClash[];
}

export interface GroupDetail {
  readonly status: GroupStatus;
  readonly held: boolean;
  readonly members: readonly MemberLine[];
  readonly history: readonly Entry[];
}

export interface PersonGroup {
  readonly group: string;
  readonly name: string | null;
  readonly directory: boolean;
  readonly platform: boolean;
  readonly pending: string | null;
}

export interface PersonPage {
  readonly person: PersonName;
  readonly attributes: Readonly<Record<string, string>>;
  readonly bound: { readonly id: string; readonly user: string | null; readonly state: string } | null;
  readonly groups: readonly PersonGroup[];
  readonly timeline: readonly Entry[];
}

export interface Activity {
  readonly entries: readonly Entry[];
  readonly found: number;
  /** Where older entries were not looked at. */
  readonly isCut: boolean;
}

export interface DeadLetters extends Survey {
  /** Of the groups in question, by id, where they are known. */
  readonly names: Readonly<Record<string, string>>;
}

export interface TokenLine {
  readonly prefix: string;
  /** Id of the OAuth client whose secret it is; null for a bearer token. */
  readonly client: string | null;
  readonly state: string;
  readonly createdAt: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

export interface ConnectionPage {
  readonly row: ConnectionRow;
  readonly credential: CredentialReport;
  readonly feedAgeMs: number | null;
  readonly sources: readonly SourceReport[];
  /** null: no directory is read. */
  readonly reader: DirectoryStatus | null;
  /** Groups with changes that are not written yet. */
  readonly backlog: number;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly requests: readonly SettingRequestRow[];
  readonly tokens: readonly TokenLine[];
}

export interface Checks {
  readonly checks: readonly Check[];
}

export interface SettingsPreview {
  readonly changes: readonly { readonly key: string; readonly before: string; readonly after: string }[];
  readonly replans: boolean;
  /** Settings that do not change until another person confirms the change. */
  readonly requested: readonly string[];
  /** null: there are too many groups to plan them all here. */
  readonly effects: readonly (PlanEffect & { readonly group: string; readonly name: string | null })[] | null;
  readonly total: PlanEffect;
}

/** What the change alone makes of plans; what waits anyway is not counted. */
export interface PlanEffect {
  readonly added: number;
  readonly removed: number;
  readonly held: number;
  /** Changes that were planned before, and are not any more. */
  readonly dropped: number;
}

/** What is told of a replay while it goes on; the last line says how it ended. */
export interface ReplayProgress {
  readonly replayed: number;
  readonly failed: number;
  readonly remaining: number | null;
  /** Why the replay ended early without being stopped by the operator. */
  readonly problem?: string;
}
