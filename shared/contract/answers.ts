import * as z from 'zod';
import { DRIFT_KINDS } from '../domain/drift.ts';
import type { Frozen } from '../domain/forms.ts';
import { PendingCause } from '../domain/group-state.ts';
import { HOLD_RULES } from '../domain/hold.ts';
import { SOURCES } from '../domain/source.ts';
import { Finding } from './contract-report.ts';
import { GROUP_STATES } from './names.ts';
import { PROTECTED_SETTINGS } from './weakening.ts';

/*
 * The documents of `--json`. The use cases return the types that are derived from these schemas, so the two cannot
 * differ. docs/cli/schemas is generated from this file. Fields may be added, and are never removed.
 */

export const text = z.string();
export const count = z.int().min(0);
export const instant = z.iso.datetime();
/** A duration, or milliseconds since 1970 where the name ends in `sinceMs`. */
export const ms = z.number();
export const nullable = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);

const Version = nullable(z.union([text, z.number()])).describe(
  "The group's version as the platform sent it: text or a number. A number with more digits than JSON parsers keep is the text number:<digits>.",
);

/** The read-only form of the type that a schema describes. */
type Answer<Schema extends z.ZodType> = Frozen<z.infer<Schema>>;

export const Change = z.object({
  kind: text,
  member: nullable(text).optional(),
  before: nullable(text),
  after: nullable(text),
  reason: text,
});

/** The result of the last check of the credential, by the daily job or by `connect`. */
export const CredentialReport = z
  .object({
    goodAt: nullable(instant).describe('When the credential last passed the check; null: never.'),
    goodAgeMs: nullable(ms),
    failure: nullable(z.object({ at: instant, message: text })).describe(
      'The failed check since the last passed check; null: none.',
    ),
  })
  .describe('The result of the daily check, or of connect.');
export type CredentialReport = Answer<typeof CredentialReport>;

/**
 * The state of a group for users. With `dirty`, other fields may be out of date. `unknown`: only member events named
 * the group.
 */
export const GroupStateName = z.enum(GROUP_STATES);
export type GroupStateName = z.infer<typeof GroupStateName>;

/** The reason why a group with changes is not written yet. */
export const Waiting = z.object({
  until: instant.describe('When the group is read again automatically.'),
  code: text,
  reason: text,
});
export type Waiting = Answer<typeof Waiting>;

/** One group as `groups` and `status` show it. */
export const GroupReport = z.object({
  connection: text,
  id: text.describe('Id of the group in the directory.'),
  name: nullable(text),
  platformId: nullable(text),
  version: Version,
  state: GroupStateName,
  wanted: count.describe('Members present in the directory, pending ones included.'),
  applied: count.describe('Members confirmed on the platform.'),
  users: z.array(text).describe("Users in the platform's group as last written or read, sorted."),
  pending: z.array(z.object({ id: text, cause: PendingCause, sinceMs: ms })),
  waiting: nullable(Waiting).describe(
    'Why the changes of the group are not written yet; null if no change waits.',
  ),
});
export type GroupReport = Answer<typeof GroupReport>;

const Queue = nullable(count).describe('Messages, in flight and delayed ones included; null: no such queue.');

/** A change of a protected setting that waits for a second person. The values are JSON texts. */
export const SettingRequestRow = z.object({
  key: z.enum(PROTECTED_SETTINGS),
  before: text,
  after: text,
  by: text.describe('The person who requested the change. Another person must confirm it.'),
  at: instant,
});
export type SettingRequestRow = Answer<typeof SettingRequestRow>;
/** Calls of one endpoint of the platform since they began to fail. */
const FailingEndpoint = z.object({
  endpoint: text.describe('Method and path template.'),
  failed: count,
  total: count.describe('All calls since the first failed call.'),
  share: z.number().describe('Failed calls divided by all calls, from 0 to 1.'),
  since: instant,
  lastFailureAt: instant,
  reason: text.describe('Status of the last failure, or the class of its error.'),
});
export type FailingEndpoint = Answer<typeof FailingEndpoint>;

/** A source of changes: when it was last received, and how often it is expected. */
export const SourceReport = z.object({
  source: z.enum(SOURCES).describe('directory: the reader of the directory.'),
  receivedAt: nullable(instant).describe('The last receipt, up to a minute old; null: none yet.'),
  receivedAgeMs: nullable(ms),
  expectedEveryMs: nullable(ms).describe('Null: no receipt is expected.'),
  late: z.boolean().describe('The next receipt has been overdue for over ten minutes.'),
});
export type SourceReport = Answer<typeof SourceReport>;

/** The state of one connection. */
export const StatusReport = z.object({
  connection: text,
  gate: z.object({
    state: z.enum(['open', 'backoff', 'unauthorized', 'paused']),
    until: nullable(instant),
    reason: nullable(text),
    contact: nullable(text).describe(
      'If the platform refuses the credential: which person to contact, by the id on the platform; null if not known.',
    ),
  }),
  failingCalls: z.array(FailingEndpoint).describe('Endpoints whose calls fail now; empty if none fails.'),
  observing: z.boolean().describe('The connection only plans, and writes nothing.'),
  drift: text.describe('What groupsync does with external changes: restore, report or adopt.'),
  credential: CredentialReport,
  groups: z.record(text, count).describe('Number of groups by state.'),
  pendingMembers: count,
  /** Groups with changes that are not on the platform yet. */
  backlog: count,
  oldestUnappliedMs: nullable(ms),
  holds: count,
  settingRequests: count.describe('Changes of settings that wait for a second person.'),
  feed: z.object({ cursorAgeMs: nullable(ms) }),
  sources: z
    .array(SourceReport)
    .describe('Sources from which a change was received, or from which one is expected.'),
  queues: z.object({ events: Queue, eventsDlq: Queue, apply: Queue, applyDlq: Queue }),
});
export type StatusReport = Answer<typeof StatusReport>;

export const GroupStatus = GroupReport.extend({
  /** `openWrite`: a write whose outcome is not known yet. */
  link: nullable(z.object({ platformId: text, version: Version, openWrite: nullable(text) })),
  lastError: nullable(z.object({ code: text, message: text, at: instant })),
  lastWriteAt: nullable(instant),
  dirtySince: nullable(instant),
  hold: nullable(z.object({ digest: text, removes: count, decision: text })),
});
export type GroupStatus = Answer<typeof GroupStatus>;

/** A group of the platform that groupsync does not manage, and that a new group would duplicate. */
const NameClash = z.object({ platformId: text, name: text });
export type NameClash = Answer<typeof NameClash>;

/** The next write of one group. */
export const Plan = z.object({
  group: text,
  /** `hold`: nothing can be written, because the guard stops all remaining changes. */
  action: z.enum(['create', 'patch', 'put', 'delete', 'release', 'none', 'hold']),
  /** What would be written; with `hold`, the removals that are stopped. */
  changes: z.array(Change),
  held: z.array(text).describe('Users whose removal the guard stops.'),
  /** Identifies the held removals for an approval. Without a hold, a digest of the action and its changes. */
  digest: text,
  /** Why nothing would be done, if the reason is not that the group is in sync. */
  note: nullable(text),
  waiting: nullable(Waiting).describe('Why the action is not done yet, and when the group is read again.'),
  clashes: z
    .array(NameClash)
    .describe(
      'Unmanaged groups on the platform with the name of this group. A creation would make a second group of that name.',
    ),
});
export type Plan = Answer<typeof Plan>;

/** How a platform group relates to the directory groups of the connection. */
export const PLATFORM_GROUP_STATES = ['managed', 'adoptable', 'unmanaged'] as const;

/** One group of the platform, as `platform-groups` shows it. */
const PlatformGroupRow = z.object({
  platformId: text,
  name: nullable(text).describe('Null: the platform shows the group without a usable name.'),
  spokeId: nullable(text).describe('External id of the group.'),
  users: nullable(count),
  state: z
    .enum(PLATFORM_GROUP_STATES)
    .describe(
      'managed: a directory group of a connection owns it. adoptable: a directory group without a platform group has the same external id or name. unmanaged: neither.',
    ),
  owner: nullable(z.object({ connection: text, group: text, name: nullable(text) })).describe(
    'The directory group that owns it; null: none. The name is null for a group of another connection.',
  ),
  matches: z.array(z.object({ group: text, name: text, by: z.enum(['spokeId', 'name']) })),
  ambiguous: z
    .boolean()
    .describe('Adoptable, but several groups match, so an operator must choose the pair.'),
});
export type PlatformGroupRow = Answer<typeof PlatformGroupRow>;

/** Every group of the platform, adoptable ones first. */
export const PlatformGroupsReport = z.object({
  connection: text,
  groups: z.array(PlatformGroupRow),
  totals: z.record(z.enum(PLATFORM_GROUP_STATES), count),
});
export type PlatformGroupsReport = Answer<typeof PlatformGroupsReport>;

/** What an adoption would change. The counts are those of the first write, without the removals that the guard holds. */
export const AdoptionPreview = z.object({
  group: text,
  groupName: text,
  platformId: text,
  name: nullable(text).describe('Name of the platform group now.'),
  renamedTo: nullable(text).describe('The name after the adoption, if it differs.'),
  added: count,
  removed: count,
  held: count.describe('Removals that the guard would hold.'),
  problem: nullable(text).describe('Why the group cannot be adopted now; null: it can.'),
});
export type AdoptionPreview = Answer<typeof AdoptionPreview>;

/** The results of one run. Apply settles drift, so the numbers of drift are those since the previous run. */
export const ReconcileReport = z.object({
  connection: text,
  eventsRead: count,
  groupsTouched: count,
  /** Groups whose version came from groupsync's own write. */
  echoes: count,
  drift: z.record(text, count),
  restored: count,
  reported: count,
  adopted: count,
  /** Platform groups that carry the id of a directory group and are not linked to it. */
  orphans: count,
  /** Links whose platform group is not listed. */
  missing: count,
  reenqueued: count,
  cursor: nullable(text),
  durationMs: ms,
});
export type ReconcileReport = Answer<typeof ReconcileReport>;

export const PeopleReport = z.object({
  connection: text,
  read: count,
  changed: count,
  woken: count.describe('Groups that are read again.'),
  asked: count.describe('Employees that were fetched by id, because the listing did not contain them.'),
  /** Employees that were fetched by id and do not exist. */
  gone: count,
});
export type PeopleReport = Answer<typeof PeopleReport>;

/**
 * The steps of reading a directory, in the order in which they are tried. The sign-in is a stored key (`credential`),
 * or the next three steps without a key. The step `administrator` tests the account in whose name the reader reads. The
 * last steps test one right each.
 */
export const DIRECTORY_STEPS = [
  'credential',
  'web identity',
  'token exchange',
  'signature',
  'administrator',
  'groups',
  'members',
  'users',
  'reports',
] as const;

export const DIRECTORY_GROUP_STATES = [
  'new',
  'confirming',
  'settled',
  'other',
  'failing',
  'missing',
] as const;

export const DirectoryGroupRow = z.object({
  group: text,
  state: z
    .enum(DIRECTORY_GROUP_STATES)
    .describe(
      'new: not read yet. confirming: two reads have not agreed yet. other: another source owns the group. failing: the last read did not end, or its result is not used. missing: the directory does not find the group.',
    ),
  readAt: nullable(instant).describe('When the whole group was last read.'),
  nextAt: instant.describe('When the group is read next.'),
  problem: nullable(text),
  below: count.describe('Groups within this group that were read together with it.'),
  other: nullable(text).describe('Id of the group of another source that has the same id or the same name.'),
  differs: nullable(z.object({ added: count, removed: count, isNamed: z.boolean() })).describe(
    'How the group of the other source differs from the directory: members to be added and removed, and the name.',
  ),
});
export type DirectoryGroupRow = Answer<typeof DirectoryGroupRow>;

export const DirectoryStatus = z.object({
  connection: text,
  kind: nullable(text).describe('Null: no directory is read.'),
  listedAt: nullable(instant).describe('When all groups were last listed.'),
  groups: count.describe('Selected groups.'),
  states: z.record(z.enum(DIRECTORY_GROUP_STATES), count),
  due: count.describe('Groups that the next run reads.'),
  otherSource: count.describe('Groups that SCIM or events own. The reader compares them.'),
  differing: count.describe('Groups of other sources that differ from the directory.'),
  oldestReadAt: nullable(instant).describe('When the group that waits longest was last read.'),
  stopped: nullable(z.object({ since: instant, reason: text })).describe(
    'Why the reader has stopped: a right or too many groups are missing.',
  ),
  short: count.describe('Groups for which the directory repeatedly lists fewer members than it counts.'),
  freshness: nullable(SourceReport).describe(
    'When the directory was last read, and when the next read is expected.',
  ),
});
export type DirectoryStatus = Answer<typeof DirectoryStatus>;

/** The preview of a directory before it is connected. */
export const DirectoryPreview = z.object({
  listed: count.describe('Groups of the directory.'),
  selected: count.describe('Groups that groups.include and groups.exclude select.'),
  sample: z
    .array(
      z.object({
        group: text,
        name: text,
        members: count,
        matched: count.describe('Members with an employee on the platform.'),
        problem: nullable(text).describe('Why the group cannot be read.'),
      }),
    )
    .describe('The first of the selected groups, read whole.'),
  others: z.array(text).describe('Ids of groups that SCIM or events own. See groupsync directory takeover.'),
  adoptable: nullable(count).describe(
    'Existing platform groups that the first run would adopt; null: the platform could not be read.',
  ),
});
export type DirectoryPreview = Answer<typeof DirectoryPreview>;

/** Groups of other sources, each with the same group in the directory. */
export const TakeoverPlan = z.object({
  to: z.enum(SOURCES).describe('The new owner of the groups.'),
  groups: z.array(
    z.object({
      group: text,
      name: nullable(text),
      target: text.describe('Id of the same group in the new source.'),
      targetName: nullable(text),
      by: z
        .enum(['file', 'id', 'externalId', 'name', 'earlier'])
        .describe('file: the option --map. earlier: an interrupted takeover.'),
    }),
  ),
  unmapped: z.array(
    z.object({
      group: text,
      name: nullable(text),
      reason: z
        .enum(['not_found', 'not_unique', 'has_platform_group'])
        .describe(
          'not_found: the new source has no such group. not_unique: several groups have the name. has_platform_group: the group of the new source has another platform group.',
        ),
      target: nullable(text).describe('The group that has another platform group.'),
    }),
  ),
});
export type TakeoverPlan = Answer<typeof TakeoverPlan>;

export const TakeoverReport = TakeoverPlan.extend({
  connection: text,
  observing: z.boolean().describe('Nothing is written until groupsync resume.'),
  busy: z.array(text).describe('Groups with a write that does not end: run the command again.'),
});
export type TakeoverReport = Answer<typeof TakeoverReport>;

export const DirectoryDisconnection = z.object({
  connection: text,
  kind: nullable(text).describe('The directory that was read until now. null: the connection read none.'),
});
export type DirectoryDisconnection = Answer<typeof DirectoryDisconnection>;

const COMPARED_ACTIONS = ['adopt', 'create', 'change', 'same', 'other_source', 'unreadable'] as const;

/** What a first run of the reader would change on the platform. */
export const DirectoryComparison = z.object({
  connection: text,
  groups: z.array(
    z.object({
      group: text,
      name: text,
      action: z
        .enum(COMPARED_ACTIONS)
        .describe(
          'adopt: an existing platform group is linked. create: the platform has no such group. other_source: SCIM or events own the group, and the reader writes nothing. unreadable: see problem.',
        ),
      platformId: nullable(text),
      added: count,
      removed: count,
      pending: count.describe('Active members without an employee who may be a member.'),
      other: nullable(text).describe('Id of the same group of another source.'),
      problem: nullable(text),
    }),
  ),
  totals: z.object({
    adopt: count,
    create: count,
    change: count,
    same: count,
    otherSource: count,
    unreadable: count,
    added: count,
    removed: count,
    pending: count,
  }),
  changes: z
    .array(
      z.object({
        kind: z.enum(['added', 'removed']),
        group: text,
        groupName: text,
        user: text.describe('The user on the platform.'),
        member: nullable(text).describe(
          'Id in the directory; null for a user who is not in the group of the directory.',
        ),
        email: nullable(text),
      }),
    )
    .describe('The first hundred of each kind.'),
  unmanaged: z
    .array(z.object({ platformId: text, name: nullable(text) }))
    .describe('Platform groups without a group of the directory, the first hundred. They stay as they are.'),
  unmanagedCount: count,
});
export type DirectoryComparison = Answer<typeof DirectoryComparison>;

/** The result of one step of reading a directory. */
export const DirectoryStepRow = z.object({
  step: z.enum(DIRECTORY_STEPS),
  problem: nullable(text).describe('Null: the step works.'),
  reason: nullable(text).describe("The vendor's code for the problem."),
  retries: z.boolean().describe('The problem may end by itself: the directory is busy or not available.'),
});
export type DirectoryStepRow = Answer<typeof DirectoryStepRow>;

/** The answer of the function when it tries each step for one connection. */
export const DirectoryExamination = z.object({
  reports: z.tuple([z.object({ steps: z.array(DirectoryStepRow) })]),
});

/** One run of the reader. */
export const DirectoryReadReport = z.object({
  connection: text,
  groups: count,
  reported: count.describe('Changes that the directory reported.'),
  read: count.describe('Groups that were read whole.'),
  sent: count.describe('Groups that differed, and for which events were sent.'),
  deleted: z.array(text).describe('Groups whose deletion was sent, at most a thousand of them.'),
  failed: count,
  waiting: count.describe('Groups that the next run reads.'),
  unreadable: z.array(text).describe('Groups that need an operator.'),
});

export const PlanEffect = z.object({
  groups: count.describe('Groups whose plan differs.'),
  added: count,
  removed: count,
  held: count,
  dropped: count.describe('Changes that were planned before and would not be made any more.'),
});
export type PlanEffect = Answer<typeof PlanEffect>;

export const PeoplePreview = z.object({
  connection: text,
  preview: PlanEffect.describe('With --dry-run: what the refresh would change.'),
});

export const SyncReport = z.object({
  synced: z.array(
    z.object({
      group: text,
      state: GroupStateName,
      version: Version,
      lastError: nullable(text),
      waiting: nullable(Waiting),
    }),
  ),
  stopped: nullable(text).describe('Why the command stopped waiting for the remaining groups.'),
});
export type SyncReport = Answer<typeof SyncReport>;

const EntryActor = z.object({
  kind: z.enum(['directory', 'operator', 'scim', 'groupsync', 'platform']),
  id: text.describe(
    'An ARN, local:<login name>, a SCIM token prefix, or an id of the directory or platform.',
  ),
  name: nullable(text),
  arn: nullable(text),
});

/** The event that set a value, from the value's stamp. */
const ExplainedEvent = z.object({
  /** `member`, `group.upserted`, `group.deleted`, `group.snapshot`, `group.name` or `user.deleted`. */
  register: text,
  summary: text,
  id: nullable(text),
  source: nullable(text),
  time: nullable(text),
  actor: nullable(EntryActor).describe('The author of the change; null if the event names none.'),
});
export type ExplainedEvent = Answer<typeof ExplainedEvent>;

const ExplainedRule = z.object({
  rule: text,
  value: nullable(text),
  found: z.array(z.object({ id: text, state: text })),
});
export type ExplainedRule = Answer<typeof ExplainedRule>;

/** The reason why a member is in a group or is not, from the event to the version on the platform. */
export const Explanation = z.object({
  group: text,
  member: text,
  present: z.boolean().describe("The platform's group, as last written or read, contains the member."),
  /** The whole answer in one sentence. */
  because: text,
  wanted: z.boolean().describe('The member is in the group in the directory.'),
  events: z.array(ExplainedEvent),
  match: z.object({
    rules: z.array(ExplainedRule),
    bound: nullable(text),
    person: nullable(z.object({ id: text, userId: nullable(text), state: text })),
    user: nullable(text),
  }),
  decision: z.object({ outcome: text, detail: text }),
  waiting: nullable(Waiting).describe('Why the group is not written yet; null if it does not wait.'),
  write: nullable(
    z.object({
      at: instant,
      action: text,
      reason: text,
      cause: text,
      versionBefore: Version,
      versionAfter: Version,
      outcome: text,
    }),
  ),
});
export type Explanation = Answer<typeof Explanation>;

/** One log entry: a write, an operator's action, or an external change on the platform. */
export const LogEntry = z.object({
  id: text,
  at: instant,
  connection: text,
  actor: EntryActor,
  action: text.describe('A write, the words of a command, or drift_<kind>.'),
  group: nullable(text),
  groupName: nullable(text),
  member: nullable(text),
  memberName: nullable(text),
  reason: nullable(text).describe('The reason as the operator wrote it.'),
  before: nullable(text).describe(
    'The value before, if the entry has one change. The field changes lists all.',
  ),
  after: nullable(text),
  changes: z.array(Change),
  changeCount: count,
  versionBefore: Version,
  versionAfter: Version,
  cause: text,
  outcome: text,
  waitedMs: nullable(ms).describe('For a write: how long the group had waited.'),
});
export type LogEntry = Answer<typeof LogEntry>;

/** All stored data of one member of the directory. */
export const PersonReport = z.object({
  member: text,
  name: nullable(text),
  bound: nullable(text).describe('The employee that the member is bound to.'),
  person: Explanation.shape.match.shape.person,
  attributes: z
    .record(text, z.object({ value: text, at: instant }))
    .describe(
      'The attributes from the directory, each with the time of its event. An erased value is empty.',
    ),
  values: z.record(text, text).describe('The stored values of the employee, in the form that is compared.'),
  scim: nullable(z.looseObject({})).describe('The SCIM resource of the identity provider, unchanged.'),
  groups: z.array(
    z.object({
      group: text,
      name: nullable(text),
      wanted: Explanation.shape.wanted,
      present: Explanation.shape.present,
      outcome: text,
      because: text,
      event: nullable(ExplainedEvent).describe('The latest event about the membership.'),
      write: Explanation.shape.write,
    }),
  ),
  moreGroups: count.describe('The number of further groups that are not listed.'),
  actions: z.array(LogEntry).describe('Actions of operators about the person: rebind, forget.'),
});
export type PersonReport = Answer<typeof PersonReport>;

/** One member of a group, or a user of the platform's group who is no member. */
const GroupMember = z.object({
  member: nullable(text).describe('Id in the directory; null if no member of the directory is this user.'),
  name: nullable(text),
  email: nullable(text),
  user: nullable(text).describe('The id on the platform; null if it is not known.'),
  wanted: z.boolean().describe('The member is in the group in the directory.'),
  present: z.boolean().describe("The platform's group, as last written or read, contains the user."),
  outcome: text.describe('The outcome as in `explain`. `external`: a user that another client added.'),
  because: text,
});
export type GroupMember = Answer<typeof GroupMember>;

export const GroupMembers = z.object({ group: text, name: nullable(text), members: z.array(GroupMember) });
export type GroupMembers = Answer<typeof GroupMembers>;

const ExportedGroup = z.object({
  group: text,
  name: text,
  members: z.array(z.object({ id: text, email: nullable(text) })),
});
export type ExportedGroup = Answer<typeof ExportedGroup>;

export const ExportReport = z.object({
  groups: z.array(ExportedGroup),
  leftOut: z.array(text).describe('Groups that the directory has deleted or not named yet.'),
});
export type ExportReport = Answer<typeof ExportReport>;

export const PendingRow = z.object({ group: text, member: text, cause: PendingCause, sinceMs: ms });
export type PendingRow = Answer<typeof PendingRow>;

const Side = nullable(z.union([text, z.array(text)]));
export const DriftRow = z.object({
  id: text,
  group: text,
  kind: z.enum(DRIFT_KINDS),
  initiator: text,
  actor: nullable(z.object({ role: nullable(text), name: nullable(text) })),
  before: Side,
  after: Side,
  settledBy: nullable(text),
  detectedAt: instant,
  /** When the difference was seen on the platform. */
  seenAt: instant,
  settledAt: nullable(instant),
});
export type DriftRow = Answer<typeof DriftRow>;

/** The result of checking whether entries of an audit were changed or removed. */
export const AuditCheck = z.object({
  group: nullable(text),
  entries: count,
  named: count.describe('Entries whose content a later entry, or the group itself, confirms by a hash.'),
  broken: nullable(z.object({ at: instant, problem: z.enum(['changed', 'missing']) })).describe(
    'The first entry that was changed or removed.',
  ),
});
export type AuditCheck = Answer<typeof AuditCheck>;

export const HoldRow = z.object({
  group: text,
  removes: count,
  keeps: z.int(),
  share: z
    .number()
    .describe(
      'Removals within the hour, including these, divided by the users that the group had before them.',
    ),
  digest: text,
  rule: z.enum(HOLD_RULES),
  decision: z.enum(['waiting', 'approved', 'rejected']),
  createdAt: instant,
  expiresAt: instant,
});
export type HoldRow = Answer<typeof HoldRow>;

const HeldMember = z.object({
  user: text.describe("The id in the platform's group."),
  member: nullable(text),
  name: nullable(text),
  email: nullable(text),
  because: text,
  event: nullable(z.object({ id: nullable(text), source: nullable(text), time: nullable(text) })),
});
export type HeldMember = Answer<typeof HeldMember>;
/** A hold with every member that would be removed. */
export const HeldGroupReport = HoldRow.extend({ name: nullable(text), members: z.array(HeldMember) });

export const ConnectionRow = z.object({
  name: text,
  company: text,
  baseUrl: text,
  gate: text,
  since: nullable(instant),
  reason: nullable(text),
  observing: z.boolean(),
});
export type ConnectionRow = Answer<typeof ConnectionRow>;

/** The result of one check; `fix` is the next step if the check failed. */
export const Check = z.object({ name: text, ok: z.boolean(), detail: text, fix: nullable(text) });
export type Check = Answer<typeof Check>;

/** How many members of the directory match an employee. */
const MatchPreview = z.object({
  /** The number of members that were tried: members that the directory has sent already; 0 before the first event. */
  members: count,
  matched: count,
  ambiguous: count,
  unmatched: count,
  newlyMatched: count.optional().describe('Matched members who have no employee now, and would join.'),
  /** Per rule, in the order of the rules. */
  byRule: z.array(z.object({ rule: text, matched: count })),
});
export type MatchPreview = Answer<typeof MatchPreview>;

const AdoptedPair = z.object({ group: text, name: text, platformId: text });
export type AdoptedPair = Answer<typeof AdoptedPair>;

/** The existing platform groups that would be adopted, by each setting of `adoptExisting`. */
const AdoptionPlan = z.object({
  /** Groups on the platform. */
  existing: count,
  /** Groups that the directory has named so far. */
  directory: count,
  bySpokeId: z.array(AdoptedPair),
  /** By name, if only one group has the name and no group has the spokeId. */
  byName: z.array(AdoptedPair),
  /** Unmanaged groups with the name of a group that would be created, and that these settings do not adopt. */
  clashes: z.array(AdoptedPair),
});
export type AdoptionPlan = Answer<typeof AdoptionPlan>;

/** The employee id (`userId` or `id`) that the platform's groups hold. */
const MemberIds = z.object({
  field: nullable(z.enum(['userId', 'id'])).describe(
    'The memberIdField whose ids the groups contain; null: not certain.',
  ),
  users: count.describe('Distinct ids in the groups.'),
  userId: count.describe('Ids that are the userId of a checked employee, and the id of none.'),
  id: count.describe('Ids that are the id of a checked employee, and the userId of none.'),
});
export type MemberIds = Answer<typeof MemberIds>;

/** The results of checking a credential before it is stored. */
export const Inspection = z.object({
  usable: z.boolean(),
  company: text.optional(),
  checks: z.array(Check),
  preview: nullable(MatchPreview),
  adoption: nullable(AdoptionPlan),
  memberIds: nullable(MemberIds),
});
export type Inspection = Answer<typeof Inspection>;

/** The results of `probe`. */
export const ProbeReport = z.object({
  findings: z.array(Finding),
  kept: z
    .boolean()
    .describe('The report was stored. It is not stored if the behaviour of a version in PATCH is unknown.'),
  stopped: nullable(text).describe('Why probe ended early; null if it tried everything.'),
  left: z.array(text).describe('Groups that could not be deleted: ids, or the name if the id is not known.'),
});
export type ProbeReport = Answer<typeof ProbeReport>;

const LineError = z.object({ line: count, message: text });
export type LineError = Answer<typeof LineError>;

/** The result of reading a file, line by line. */
export const EventsReport = z.object({
  events: count,
  messages: count,
  errors: z.array(LineError).describe('The first thousand errors.'),
  errorCount: count,
});
export type EventsReport = Answer<typeof EventsReport>;

/** The changes of an import, compared with the stored state of the directory. */
const ImportComparison = z.object({
  added: count,
  removed: count,
  unmatched: count.describe('Added members without an employee: no match rule finds one.'),
  pending: z
    .array(z.object({ cause: PendingCause, count }))
    .optional()
    .describe('Added members who cannot be written yet, by cause.'),
  superseded: count.optional().describe('Differences without effect: the directory reported a later state.'),
  changedSince: z
    .array(text)
    .optional()
    .describe('Groups of the file that the directory has changed since the time of the file.'),
  newGroups: z
    .array(z.object({ group: text, groupName: text }))
    .optional()
    .describe('Groups that the directory has not named before.'),
  otherIds: z
    .array(z.object({ member: text, known: text }))
    .optional()
    .describe('New members whose employee already is a known member under another id.'),
  changes: z.array(
    z.object({
      kind: z.enum(['added', 'removed', 'unmatched']),
      group: text,
      groupName: text.describe('The name in the file.'),
      member: text,
      email: nullable(text).describe(
        'The address in the file; null also for a member that the file does not contain.',
      ),
    }),
  ),
  held: z.array(text).describe('Groups whose removals the guard would hold.'),
  renamed: z.array(
    z.object({ group: text, before: text, groupName: text.describe('The name in the file.') }),
  ),
  clashes: nullable(z.array(AdoptedPair)).describe(
    'Unmanaged groups on the platform that new groups of the file would duplicate; null: the platform could not be read.',
  ),
});
export type ImportComparison = Answer<typeof ImportComparison>;

export const ImportReport = EventsReport.extend({
  comparison: ImportComparison.optional().describe('Present if a deployment was available.'),
  rows: count,
  groups: count,
  ignoredColumns: z.array(text).optional().describe("Columns of the file's header that are not read."),
  otherGroups: count
    .optional()
    .describe('Rows of other groups than the one that --group names; they are left out.'),
  noPeople: count.optional().describe('Rows about a group within a group, or a device; they are left out.'),
  kind: z
    .enum(['add', 'remove'])
    .optional()
    .describe('A list of people to add or to remove, not of all members.'),
  columns: text
    .optional()
    .describe('A value for --columns, if the headings are unusual and their meaning is certain.'),
  delimiter: text.optional().describe('The separator with which the first line is certainly a header.'),
  skipLines: count.optional().describe('The number of lines before the header, if one is certain.'),
  /** False if nothing was sent: a dry run, errors, or an operator who answered no. */
  sent: z.boolean(),
  unsent: count
    .optional()
    .describe('Messages that were not sent because of Ctrl-C. The same import can safely be repeated.'),
});
export type ImportReport = Answer<typeof ImportReport>;

const QueueName = z.enum(['events', 'apply']);
/** Dead-lettered messages of one cause. Ages are in milliseconds. */
const Cause = z.object({
  code: text,
  count,
  superseded: count,
  refused: count.describe('The number of these messages that ingest would refuse again now.'),
  oldestMs: ms,
  newestMs: ms,
});
export type Cause = Answer<typeof Cause>;

const DeadLetterSummary = z.object({
  id: text,
  queue: QueueName,
  code: text,
  message: text,
  source: nullable(text).describe('The CloudEvents source of the message; null if it has none.'),
  type: nullable(text).describe('The CloudEvents type of the message; null if it has none.'),
  connection: nullable(text).describe('The connection of the message; null if it is not known.'),
  group: nullable(text),
  ageMs: ms.describe('The time since the first failure; a replay does not reset it.'),
  failures: count.describe('How often the message failed; 1 if it was never replayed.'),
  superseded: z.boolean(),
  refusal: nullable(text).describe(
    'Why ingest would refuse the message again now; null if it would accept it.',
  ),
});
export type DeadLetterSummary = Answer<typeof DeadLetterSummary>;

export const Survey = z.object({
  queue: z.enum(['events', 'apply', 'all']),
  total: count.describe('Messages that were found, or that another consumer has in flight.'),
  inFlightElsewhere: count,
  /** False if not all messages could be read in time. */
  complete: z.boolean(),
  causes: z.array(Cause),
  /** The first of the selected messages, up to the limit. The causes count all selected messages. */
  messages: z.array(DeadLetterSummary),
  selected: count,
});
export type Survey = Answer<typeof Survey>;

/** The current state of a group that a dead-lettered message is about. */
const CurrentGroupState = z.object({
  group: text,
  state: GroupStateName,
  wanted: count,
  platformId: nullable(text),
  version: Version,
  /** The number of users in the platform's group as last written or read. */
  users: count,
  lastError: nullable(text),
});

export const ShownDeadLetter = z.object({
  id: text,
  queue: QueueName,
  code: text,
  message: text,
  failedAt: instant,
  firstFailedAt: instant,
  failures: count,
  connection: nullable(text),
  superseded: z.boolean(),
  problems: z.array(text).describe('Why ingest would refuse the message now; empty if it would accept it.'),
  events: z.array(
    z.object({
      id: text,
      source: text,
      connection: text,
      time: nullable(text),
      kind: text,
      group: nullable(text),
      members: z.array(text),
    }),
  ),
  now: z.array(CurrentGroupState),
  body: text,
});
export type ShownDeadLetter = Answer<typeof ShownDeadLetter>;

export const ReplayReport = z.object({
  replayed: count,
  /** Messages that the queue or the table refused. They are still in the dead-letter queue. */
  failed: count,
  /**
   * Selected messages that another consumer has in flight, that were refused, or that failed again during the replay.
   */
  remaining: count,
  failedAgain: count.describe(
    'Remaining messages that were sent and were dead-lettered again during the replay.',
  ),
  because: nullable(text).describe('Why the first of these messages failed again.'),
  cancelled: z.boolean(),
});
export type ReplayReport = Answer<typeof ReplayReport>;

export const UpgradeReport = z.object({
  deployed: nullable(text).describe('Version of the stack; null if the stack does not say it.'),
  installed: text,
  direction: z.enum(['upgrade', 'downgrade', 'same', 'unknown']),
  storedForms: z.array(text).describe('Changes of stored data by the versions after the deployed one.'),
  settingsAdded: z.array(text),
  settingsRemoved: z.array(text),
  canReadData: nullable(z.boolean()).describe('Whether the installed version can read the stored data.'),
  canRollBack: nullable(z.boolean()).describe(
    'Whether the deployed version can read the data after an upgrade.',
  ),
});
export type UpgradeReport = Answer<typeof UpgradeReport>;
