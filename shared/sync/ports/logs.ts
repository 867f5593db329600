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
import type { OpenMove } from '../../domain/group-state.ts';
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
export type AuditedChange = Frozen<z.infer<typeof AuditedChange>>;

const AuditActor = z.lazy(() =>
  z.object({
    kind: z.enum(['directory', 'operator', 'scim', 'groupsync', 'platform']),
    id: text,
    name: text.exactOptional(),
    /** The ARN of a caller with AWS credentials. */
    arn: text.exactOptional(),
  }),
);
/** The author of a change. This is personal data, so it is never logged. */
export type AuditActor = Frozen<z.infer<typeof AuditActor>>;

export const OURSELVES: AuditActor = { kind: 'groupsync', id: 'groupsync' };

/** A connection's journal has the entries that belong to no single group. No group can have its id. */
export const journalOf = (connection: ConnectionName): GroupRef => ({ connection, group: groupId('') });

/** The name of the action that erases a connection. The audit entry of this action is not erased. */
export const ERASING = 'connections_erase';

/**
 * Returns the person who runs a command.
 * @throws if AWS does not return the identity
 */
export type Caller = () => Promise<AuditActor>;

/** Identifies an entry and its content: `<milliseconds since 1970>#<hash>`. */
export type AuditLink = string;

/** Entries older than this time are deleted. */
export const AUDIT_LIFETIME_MS = 400 * 86_400_000;

/**
 * An entry about a write to the platform, another action of groupsync such as a hold, or an operator's action.
 */
export const AuditEntry = z.lazy(() =>
  z.object({
    atMs: number,
    intent: intentText,
    action: text,
    /** The first thousand changes, or fewer to keep the item small. `changeCount` is the number of all changes. */
    changes: z.array(AuditedChange),
    changeCount: number,
    versionBefore: versionForm.nullable(),
    versionAfter: versionForm.nullable(),
    cause: text,
    outcome: z.enum(['written', 'found_written', 'found_changed', 'rejected']),
    actor: AuditActor,
    reason: text.exactOptional(),
    /** For a write: the time at which the group became dirty. */
    dirtySinceMs: number.exactOptional(),
    /** The group of the entry, if the entry is stored in the journal and not with the group. */
    group: groupText.exactOptional(),
    /** Links to the newest earlier entries. The link of a changed or removed entry no longer matches. */
    previous: texts.exactOptional(),
  }),
);
export type AuditEntry = Frozen<z.infer<typeof AuditEntry>>;

/** Returns an entry for one change that is not a write to the platform. */
export const entryOf = (action: string, change: AuditedChange, { clock, newId }: EntryPorts) => ({
  atMs: clock(),
  intent: intentId(newId()),
  action,
  changes: [change],
  changeCount: 1,
  versionBefore: null,
  versionAfter: null,
  outcome: 'written' as const,
});
type EntryPorts = { readonly clock: () => number; readonly newId: () => string };

/** A stored entry with the link by which later entries refer to it. A journal entry may have no group. */
export type KeptEntry = AuditEntry & { readonly link: AuditLink };

/**
 * The links of the group's item to its newest entries: one for the last write, and one for the last action. There are
 * two links, because a worker and an operator may each add an entry at the same time.
 */
interface AuditHead {
  readonly lastAudit?: AuditLink | undefined;
  readonly lastAction?: AuditLink | undefined;
  readonly openMove?: OpenMove | undefined;
}

export const linksOf = ({ lastAudit, lastAction }: AuditHead): readonly AuditLink[] =>
  [lastAudit, lastAction].filter((link) => link !== undefined);

export interface AuditLog {
  /**
   * Stores an entry. An entry with the same key is replaced.
   * @param kind `action`: the entry is an action of a person, and not a write or decision of groupsync
   */
  record(ref: GroupRef, entry: AuditEntry, kind?: 'action'): Promise<AuditLink>;
  /** Returns undefined if there is no such group. */
  head(ref: GroupRef): Promise<AuditHead | undefined>;
  /** Stores the link of the newest action. Returns false if another action was stored since `seen` was read. */
  endWith(ref: GroupRef, action: AuditLink, seen: AuditHead): Promise<boolean>;
  /** Returns the group's entries in pages, newest first. */
  read(ref: GroupRef): AsyncIterable<readonly KeptEntry[]>;
  /** Returns only the actions of persons that may cause removals, in pages, newest first. */
  actions(ref: GroupRef): AsyncIterable<readonly KeptEntry[]>;
  /** All entries of the connection since this time, newest first. Entries of the last second may be missing. */
  since(connection: ConnectionName, atMs: number): AsyncIterable<readonly KeptEntry[]>;
}

const Side = z.lazy(() => z.union([text, texts]).nullable());
const Settlement = z.lazy(() => z.enum(['restore', 'report', 'adopt']));

/** A difference on the platform that groupsync did not make, with its initiator and its outcome. */
export const DriftRecord = z.lazy(() =>
  z.object({
    /** For an external change: a hash of group, platform group, earlier view and kind. Equal changes share it. */
    id: text,
    group: groupText,
    platformId: platformGroupText.nullable(),
    kind: z.enum(DRIFT_KINDS),
    before: Side,
    after: Side,
    /** `ROLE`, `SYSTEM` or `EXTERNAL`, from the activity feed; `UNKNOWN` if no event explains the difference. */
    initiator: text,
    actor: Actor.exactOptional(),
    eventIds: texts,
    detectedAtMs: number,
    settledBy: Settlement.nullable(),
    settledAtMs: number.nullable(),
  }),
);
export type DriftRecord = Frozen<z.infer<typeof DriftRecord>>;

export interface DriftLog {
  /** Stores a record. If the record already exists, the stored record stays, and the method returns false. */
  record(connection: ConnectionName, drift: DriftRecord): Promise<boolean>;
  /** Settles records. A record that is already settled does not change. */
  settle(
    ref: GroupRef,
    ids: readonly string[],
    how: { readonly by: NonNullable<DriftRecord['settledBy']>; readonly atMs: number },
  ): Promise<void>;
  /** Stores the initiator of a difference, if the record has no initiator yet. */
  attribute(ref: GroupRef, id: string, attribution: Attribution): Promise<void>;
  read(ref: GroupRef, ids: readonly string[]): Promise<readonly DriftRecord[]>;
  list(connection: ConnectionName): AsyncIterable<readonly DriftRecord[]>;
  /** Returns the records in pages, newest first. Records about unknown users and duplicates come last, unsorted. */
  ofGroup(ref: GroupRef): AsyncIterable<readonly DriftRecord[]>;
  /** Returns the records that were found or settled since this time. Records of the last second may be missing. */
  since(
    connection: ConnectionName,
    atMs: number,
    newestFirst?: boolean,
  ): AsyncIterable<readonly DriftRecord[]>;
}
