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
import { Step } from '../../domain/history.ts';
import { type ConnectionName, type GroupRef, groupId, intentId } from '../../domain/ids.ts';

const AuditedChange = z.lazy(() =>
  z.object({
    kind: text,
    member: text.nullable().exactOptional(),
    before: text.nullable(),
    after: text.nullable(),
    reason: text,
    /** The number of its cause in `causes`; absent if it has the cause and the actor of the entry. */
    cause: number.exactOptional(),
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
export type CallerIdentity = () => Promise<AuditActor>;

/** What caused a change: an event, an approval, an external change, a block or the state of the person. */
export const AuditCause = z.lazy(() =>
  z.object({
    cause: text,
    actor: AuditActor,
    /** The time of the event; absent if the cause is no event. */
    eventMs: number.exactOptional(),
    /** The decision about the hold that permitted the removal. */
    approved: z.object({ by: text, reason: text }).exactOptional(),
  }),
);
export type AuditCause = Frozen<z.infer<typeof AuditCause>>;

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
    /** The different causes of the changes; absent if each change has the cause and the actor of the entry. */
    causes: z.array(AuditCause).exactOptional(),
    outcome: z.enum(['written', 'found_written', 'found_changed', 'rejected']),
    actor: AuditActor,
    /** The time of the latest event among the causes. */
    eventMs: number.exactOptional(),
    reason: text.exactOptional(),
    /** For a write: the time at which the group became dirty. */
    dirtySinceMs: number.exactOptional(),
    /** The group of the entry, if the entry is stored in the journal and not with the group. */
    group: groupText.exactOptional(),
    /** How the entry changed the content of the platform group; absent if it changed nothing. */
    step: Step.exactOptional(),
    /** Links to the newest earlier entries. The link of a changed or removed entry no longer matches. */
    previous: texts.exactOptional(),
  }),
);
export type AuditEntry = Frozen<z.infer<typeof AuditEntry>>;

/** Returns an entry for changes that are not a write to the platform. */
export const entryOf = (action: string, changes: AuditEntry['changes'], { clock, newId }: EntryPorts) => ({
  atMs: clock(),
  intent: intentId(newId()),
  action,
  changes,
  changeCount: changes.length,
  versionBefore: null,
  versionAfter: null,
  outcome: 'written' as const,
});
type EntryPorts = { readonly clock: () => number; readonly newId: () => string };

/** A stored entry with the link by which later entries refer to it. A journal entry may have no group. */
export type KeptEntry = AuditEntry & { readonly link: AuditLink };

export async function* entriesIn(pages: AsyncIterable<readonly KeptEntry[]>) {
  for await (const page of pages) yield* page;
}

/** Returns the entries of an audit, newest first, that are not earlier than `sinceMs`. */
export async function entriesSince(pages: AsyncIterable<readonly KeptEntry[]>, sinceMs: number) {
  const found: KeptEntry[] = [];
  for await (const entry of entriesIn(pages)) {
    if (entry.atMs < sinceMs) break;
    found.push(entry);
  }
  return found;
}

/**
 * The links of the group's item to its newest entries: one for the last write, and one for the last action. There are
 * two links, because a worker and an operator may each add an entry at the same time.
 */
export interface AuditHead {
  readonly lastAudit?: AuditLink | undefined;
  readonly lastAction?: AuditLink | undefined;
  readonly unnamedAudits?: string | undefined;
  readonly openMove?: OpenMove | undefined;
}

export const linksOf = ({ lastAudit, lastAction, unnamedAudits }: AuditHead): readonly AuditLink[] => [
  ...new Set(
    [lastAudit, lastAction, ...(unnamedAudits?.split(' ') ?? [])].filter((link) => link !== undefined),
  ),
];

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
