import * as z from 'zod';
import { Actor, DRIFT_KINDS } from '../../domain/drift.ts';
import type { Frozen } from '../../domain/forms.ts';
import {
  groupText,
  intentText,
  number,
  platformGroupText,
  text,
  texts,
  versionForm,
} from '../../domain/forms.ts';
import { type ConnectionName, type GroupRef, groupId, intentId } from '../../domain/ids.ts';
import type { Attribution } from '../../plan/attribute.ts';

const AuditedChange = z.lazy(() =>
  z.object({
    kind: text,
    member: text.nullable().exactOptional(),
    before: text.nullable(),
    after: text.nullable(),
    reason: text,
  }),
);
/** A change of a plan, as the audit stores it. */
export type AuditedChange = Frozen<z.infer<typeof AuditedChange>>;

const AuditActor = z.lazy(() =>
  z.object({
    kind: z.enum(['directory', 'operator', 'scim', 'groupsync', 'platform']),
    id: text,
    name: text.exactOptional(),
    /** Of a caller with AWS credentials. */
    arn: text.exactOptional(),
  }),
);
/** The author of a change. It is personal data, so it never goes to a log. */
export type AuditActor = Frozen<z.infer<typeof AuditActor>>;

export const OURSELVES: AuditActor = { kind: 'groupsync', id: 'groupsync' };

/** The journal of a connection: entries about no single group, stored under an id that no group can have. */
export const journalOf = (connection: ConnectionName): GroupRef => ({ connection, group: groupId('') });

/** The action whose entry stays after the erasure. */
export const ERASING = 'connections_erase';

/** Who runs a command. @throws where AWS does not tell */
export type Caller = () => Promise<AuditActor>;

/** Names an entry, what it says included: `<milliseconds since 1970>#<hash>`. */
export type AuditLink = string;

/** One write to the platform, its certain failure, or a person's action, for people to read later. Kept for 400 days. */
export const AuditEntry = z.lazy(() =>
  z.object({
    atMs: number,
    intent: intentText,
    action: text,
    /** The first thousand, or as many as an item holds; `changeCount` says how many there were. */
    changes: z.array(AuditedChange),
    changeCount: number,
    versionBefore: versionForm.nullable(),
    versionAfter: versionForm.nullable(),
    cause: text,
    outcome: z.enum(['written', 'found_written', 'found_changed', 'rejected']),
    actor: AuditActor,
    reason: text.exactOptional(),
    /** Of a write: since when the group had been dirty. */
    dirtySinceMs: number.exactOptional(),
    /** Given to `record` only for an entry that is not stored with its group. */
    group: groupText.exactOptional(),
    /** The newest entries of the group before this one: a change or a removal of an entry breaks the chain after it. */
    previous: texts.exactOptional(),
  }),
);
export type AuditEntry = Frozen<z.infer<typeof AuditEntry>>;

/** An entry of one change that is no write to the platform. */
export const entryOf = (action: string, change: AuditedChange, { clock, newId }: EntryPorts) => ({
  ...{ atMs: clock(), intent: intentId(newId()), action, changes: [change], changeCount: 1 },
  ...{ versionBefore: null, versionAfter: null, outcome: 'written' as const },
});
type EntryPorts = { readonly clock: () => number; readonly newId: () => string };

/** An entry as it is read, with the link that later ones have to it; what is in the journal may have no group. */
export type KeptEntry = AuditEntry & { readonly link: AuditLink };

/**
 * The newest entries that the group's item names: that of the last write, and that of the last action. They are two, since
 * a worker moves the one with its own write of the item, whatever a person does meanwhile.
 */
export interface AuditHead {
  readonly lastAudit?: AuditLink | undefined;
  readonly lastAction?: AuditLink | undefined;
}

export const linksOf = ({ lastAudit, lastAction }: AuditHead): readonly AuditLink[] =>
  [lastAudit, lastAction].filter((link) => link !== undefined);

export interface AuditLog {
  /** One put of the same key takes the place of another. */
  record(ref: GroupRef, entry: AuditEntry): Promise<AuditLink>;
  /** undefined if there is no such group. */
  head(ref: GroupRef): Promise<AuditHead | undefined>;
  /** Makes an action the newest; false if another came after `seen`. */
  endWith(ref: GroupRef, action: AuditLink, seen: AuditHead): Promise<boolean>;
  /** Newest first, in pages. */
  read(ref: GroupRef): AsyncIterable<readonly KeptEntry[]>;
  /** Entries of all groups and of the journal from this instant on, newest first; about a second behind. */
  since(connection: ConnectionName, atMs: number): AsyncIterable<readonly KeptEntry[]>;
}

const Side = z.lazy(() => z.union([text, texts]).nullable());
const Settlement = z.lazy(() => z.enum(['restore', 'report', 'adopt']));

/** A difference on the platform that we did not make: who made it, and how it ended. */
export const DriftRecord = z.lazy(() =>
  z.object({
    /** The same difference found again is the same record: hash of group, platform group, our view before it, and kind. */
    id: text,
    group: groupText,
    platformId: platformGroupText.nullable(),
    kind: z.enum(DRIFT_KINDS),
    before: Side,
    after: Side,
    /** `ROLE`, `SYSTEM` or `EXTERNAL`, as the activity feed says; `UNKNOWN` where no event told of it. */
    initiator: text,
    actor: Actor.exactOptional(),
    eventIds: texts,
    policy: Settlement,
    detectedAtMs: number,
    settledBy: Settlement.nullable(),
    settledAtMs: number.nullable(),
  }),
);
export type DriftRecord = Frozen<z.infer<typeof DriftRecord>>;

export interface DriftLog {
  /** false if it was known already: it stays as it is. */
  record(connection: ConnectionName, drift: DriftRecord): Promise<boolean>;
  /** The first settlement stands. */
  settle(
    ref: GroupRef,
    ids: readonly string[],
    how: { readonly by: DriftRecord['policy']; readonly atMs: number },
  ): Promise<void>;
  /** Names who made a difference that was found before the feed told of it; the first name stands. */
  attribute(ref: GroupRef, id: string, attribution: Attribution): Promise<void>;
  /** Returns the records that exist. */
  read(ref: GroupRef, ids: readonly string[]): Promise<readonly DriftRecord[]>;
  list(connection: ConnectionName): AsyncIterable<readonly DriftRecord[]>;
  /** Newest first, in pages; then, in no order, unknown users and groups of the same spokeId. */
  ofGroup(ref: GroupRef): AsyncIterable<readonly DriftRecord[]>;
  /** Found or settled at or after the instant; up to a second or so behind. */
  since(
    connection: ConnectionName,
    atMs: number,
    newestFirst?: boolean,
  ): AsyncIterable<readonly DriftRecord[]>;
}
