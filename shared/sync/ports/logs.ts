import type { Actor, Difference } from '../../domain/drift.ts';
import {
  type ConnectionName,
  type GroupId,
  type GroupRef,
  groupId,
  type IntentId,
  type PlatformGroupId,
} from '../../domain/ids.ts';
import type { Attribution } from '../../plan/attribute.ts';

/** A change of a plan, as it is kept. */
export interface AuditedChange {
  readonly kind: string;
  readonly member?: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string;
}

/** Who did something, or had it done: personal, so never in a log. */
export type AuditActor = {
  readonly kind: 'directory' | 'operator' | 'scim' | 'groupsync' | 'platform';
  readonly id: string;
  readonly name?: string;
  /** Of a caller whom AWS knows. */
  readonly arn?: string;
};

export const OURSELVES: AuditActor = { kind: 'groupsync', id: 'groupsync' };

/** What concerns no one group is kept beside the groups' audits, under an id that no group can have. */
export const journalOf = (connection: ConnectionName): GroupRef => ({ connection, group: groupId('') });

/** Who runs a command. @throws where AWS does not tell */
export type Caller = () => Promise<AuditActor>;

/** Names an entry, what it says included: `<milliseconds since 1970>#<hash>`. */
export type AuditLink = string;

/** One write to the platform, its certain failure, or a person's deed, for people to read later. Kept for 400 days. */
export interface AuditEntry {
  readonly atMs: number;
  readonly intent: IntentId;
  readonly action: string;
  /** The first thousand; `changeCount` says how many there were. */
  readonly changes: readonly AuditedChange[];
  readonly changeCount: number;
  readonly versionBefore: string | null;
  readonly versionAfter: string | null;
  readonly cause: string;
  readonly outcome: 'written' | 'found_written' | 'found_changed' | 'rejected';
  /** None in the entries of earlier releases. */
  readonly actor?: AuditActor;
  readonly reason?: string;
  /** Told to `record` only of an entry that is not kept with its group. */
  readonly group?: GroupId;
  /** The newest entries of the group before this one: who changes or removes one breaks what comes after it. */
  readonly previous?: readonly AuditLink[];
}

/** An entry as it is read, with the link that later ones have to it; what is in the journal may have no group. */
export type KeptEntry = AuditEntry & { readonly link: AuditLink };

/**
 * The newest entries that the group's item names: that of the last write, and that of the last deed. They are two, since
 * a worker moves the one with its own write of the item, whatever a person does meanwhile.
 */
export interface AuditHead {
  readonly lastAudit?: AuditLink | undefined;
  readonly lastDeed?: AuditLink | undefined;
}

export const linksOf = ({ lastAudit, lastDeed }: AuditHead): readonly AuditLink[] =>
  [lastAudit, lastDeed].filter((link) => link !== undefined);

export interface AuditLog {
  /** One put of the same key takes the place of another. */
  record(ref: GroupRef, entry: AuditEntry): Promise<AuditLink>;
  /** undefined where there is no such group. */
  head(ref: GroupRef): Promise<AuditHead | undefined>;
  /** Makes a deed the newest; false where another came after `seen`. */
  endWith(ref: GroupRef, deed: AuditLink, seen: AuditHead): Promise<boolean>;
  /** Newest first, in pages. */
  read(ref: GroupRef): AsyncIterable<readonly KeptEntry[]>;
  /** Of all groups and the journal, newest first, from this instant on; up to a second or so behind. */
  since(connection: ConnectionName, atMs: number): AsyncIterable<readonly KeptEntry[]>;
}

export type DriftSettlement = 'restore' | 'report' | 'adopt';

/** A difference on the platform that we did not make: who made it, and how it ended. */
export interface DriftRecord extends Difference {
  /** The same difference found again is the same record: hash of group, platform group, our view before it, and kind. */
  readonly id: string;
  readonly group: GroupId;
  readonly platformId: PlatformGroupId | null;
  /** `ROLE`, `SYSTEM` or `EXTERNAL`, as the activity feed says; `UNKNOWN` where no event told of it. */
  readonly initiator: string;
  readonly actor?: Actor;
  readonly eventIds: readonly string[];
  readonly policy: DriftSettlement;
  readonly detectedAtMs: number;
  readonly settledBy: DriftSettlement | null;
  readonly settledAtMs: number | null;
}

export interface DriftLog {
  /** false where it was known already: it stays as it is. */
  record(connection: ConnectionName, drift: DriftRecord): Promise<boolean>;
  /** The first settlement stands. */
  settle(
    ref: GroupRef,
    ids: readonly string[],
    how: { readonly by: DriftSettlement; readonly atMs: number },
  ): Promise<void>;
  /** Names who made a difference that was found before the feed told of it; the first name stands. */
  attribute(ref: GroupRef, id: string, attribution: Attribution): Promise<void>;
  /** Those of these ids that there are. */
  read(ref: GroupRef, ids: readonly string[]): Promise<readonly DriftRecord[]>;
  list(connection: ConnectionName): AsyncIterable<readonly DriftRecord[]>;
  ofGroup(ref: GroupRef): AsyncIterable<readonly DriftRecord[]>;
  /** Found or settled at or after the instant; up to a second or so behind. */
  since(
    connection: ConnectionName,
    atMs: number,
    newestFirst?: boolean,
  ): AsyncIterable<readonly DriftRecord[]>;
}
