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
 * What the commands answer: each schema and its type are one, so that `--json` prints what the use case returns.
 * docs/cli/schemas is generated from here. More fields may follow, none goes.
 */

export const text = z.string();
export const count = z.int().min(0);
export const instant = z.iso.datetime();
/** A duration, or milliseconds since 1970 where the name ends in `sinceMs`. */
export const ms = z.number();
export const nullable = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);

const Version = nullable(z.union([text, z.number()])).describe(
  "The group's version as the platform sent it: text or a number. A number with more digits than JSON readers keep is text: number:<digits>.",
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

/** What the daily check, or `connect`, found of the credential. */
export const CredentialReport = z
  .object({
    goodAt: nullable(instant).describe('When it was last found good; null: never checked.'),
    goodAgeMs: nullable(ms),
    failure: nullable(z.object({ at: instant, message: text })).describe('Since it was last good.'),
  })
  .describe('What the daily check, or connect, found.');
export type CredentialReport = Answer<typeof CredentialReport>;

/** What a person is told of a group's state. `dirty` says that the rest may be out of date; `unknown`: only member events named it. */
export const GroupStateName = z.enum(GROUP_STATES);
export type GroupStateName = z.infer<typeof GroupStateName>;

/** Why a group with changes is not written yet; null if it is written at the next opportunity. */
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
  waiting: nullable(Waiting).describe('Why its changes are not written yet; null if they do not wait.'),
});
export type GroupReport = Answer<typeof GroupReport>;

const Queue = nullable(count).describe('Messages, in flight and delayed ones included; null: no such queue.');

/** A change of a protected setting that waits for a second person. Values as JSON. */
export const SettingRequestRow = z.object({
  key: z.enum(PROTECTED_SETTINGS),
  before: text,
  after: text,
  by: text.describe('Who asked for it; another person confirms it.'),
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
  expectedEveryMs: nullable(ms).describe('Null: nothing is expected of it.'),
  late: z.boolean().describe('The next receipt has been overdue for over ten minutes.'),
});
export type SourceReport = Answer<typeof SourceReport>;

/** How one connection stands; null where there state of one connection. */
export const StatusReport = z.object({
  connection: text,
  gate: z.object({
    state: z.enum(['open', 'backoff', 'unauthorized', 'paused']),
    until: nullable(instant),
    reason: nullable(text),
  }),
  failingCalls: z.array(FailingEndpoint).describe('Endpoints whose calls fail now; empty if none fails.'),
  observing: z.boolean().describe('It plans only, and writes nothing.'),
  drift: text.describe('What is done about changes by others: restore, report or adopt.'),
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
    .describe('Sources that were ever received, or of which something is expected.'),
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

/** What apply would do to one group. */
export const Plan = z.object({
  group: text,
  /** `hold`: nothing can be written, because the guard stops all that is left. */
  action: z.enum(['create', 'patch', 'put', 'delete', 'release', 'none', 'hold']),
  /** What would be written; with `hold`, the removals that are stopped. */
  changes: z.array(Change),
  held: z.array(text).describe('Users whose removal the guard stops.'),
  /** Of a hold: what an approval names. Otherwise of the action and its changes. */
  digest: text,
  /** Why nothing would be done, if the reason is not that the group is in sync. */
  note: nullable(text),
  waiting: nullable(Waiting).describe('Why it is not done yet, and when the group is read again.'),
  clashes: z
    .array(NameClash)
    .describe(
      'Unmanaged groups with the same name on the platform, which creating the group would duplicate.',
    ),
});
export type Plan = Answer<typeof Plan>;

/** What one run found and did. Drift is settled by apply, so its numbers are those since the run before. */
export const ReconcileReport = z.object({
  connection: text,
  eventsRead: count,
  groupsTouched: count,
  /** Groups whose version was our own. */
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
  woken: count.describe('Groups that are looked at again.'),
  asked: count.describe('Asked for by id, because the listing did not name them.'),
  /** Of those asked for. */
  gone: count,
});
export type PeopleReport = Answer<typeof PeopleReport>;

/**
 * What a reader needs, in the order in which it is tried: a stored key (`credential`), or the three hops of a sign-in without
 * one; the administrator in whose name it reads; and each right.
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

/** A group of a directory that is read. */
export const DirectoryGroupRow = z.object({
  group: text,
  state: z
    .enum(DIRECTORY_GROUP_STATES)
    .describe(
      'new: not read yet. confirming: two reads have not agreed yet. other: another source owns it. failing: the last read did not end, or is not used. missing: the directory does not find it.',
    ),
  readAt: nullable(instant).describe('When it was last read whole.'),
  nextAt: instant.describe('When it is read next.'),
  problem: nullable(text),
  below: count.describe('Groups within it that were read with it.'),
  other: nullable(text).describe('Id of the same group of another source, which owns it: by id, or by name.'),
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
  differing: count.describe('Of these, the groups that differ from the directory.'),
  oldestReadAt: nullable(instant).describe('Of the group that was not read for the longest time.'),
  stopped: nullable(z.object({ since: instant, reason: text })).describe(
    'Why the reader has stopped: a right or too many groups are missing.',
  ),
  short: count.describe('Groups of which the directory keeps listing fewer members than it counts.'),
  freshness: nullable(SourceReport).describe('When the directory was last read, and when it is expected.'),
});
export type DirectoryStatus = Answer<typeof DirectoryStatus>;

/** What a directory shows before it is connected. */
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
  others: z.array(text).describe('Ids of groups that SCIM or events own: groupsync directory takeover.'),
  adoptable: nullable(count).describe(
    'Existing platform groups that the first run would adopt; null: the platform could not be read.',
  ),
});
export type DirectoryPreview = Answer<typeof DirectoryPreview>;

/** Groups of other sources, and the groups of the directory that they are. */
export const TakeoverPlan = z.object({
  groups: z.array(
    z.object({
      group: text,
      name: nullable(text),
      directoryGroup: text.describe('Id of the same group in the directory.'),
      directoryName: nullable(text),
      by: z.enum(['id', 'externalId', 'name', 'earlier']).describe('earlier: an interrupted takeover.'),
    }),
  ),
  unmapped: z
    .array(z.object({ group: text, name: nullable(text) }))
    .describe('Groups that the directory does not have, or not under one name only.'),
});
export type TakeoverPlan = Answer<typeof TakeoverPlan>;

export const TakeoverReport = TakeoverPlan.extend({
  connection: text,
  observing: z.boolean().describe('Nothing is written until groupsync resume.'),
  busy: z.array(text).describe('Groups with a write that does not end: run the command again.'),
});
export type TakeoverReport = Answer<typeof TakeoverReport>;

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
          'adopt: an existing platform group becomes its own. create: there is none. other_source: SCIM or events own the group, and the reader writes nothing. unreadable: see problem.',
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

/** One step of reading a directory, as it was tried. */
export const DirectoryStepRow = z.object({
  step: z.enum(DIRECTORY_STEPS),
  problem: nullable(text).describe('Null: it works.'),
  reason: nullable(text).describe("The vendor's code for the problem."),
  retries: z.boolean().describe('The problem may end by itself: the directory is busy or not available.'),
});
export type DirectoryStepRow = Answer<typeof DirectoryStepRow>;

/** What the function answers that was asked to try each step of one connection. */
export const DirectoryExamination = z.object({
  reports: z.tuple([z.object({ steps: z.array(DirectoryStepRow) })]),
});

/** One run of the reader. */
export const DirectoryReadReport = z.object({
  connection: text,
  groups: count,
  reported: count.describe('Changes that the directory reported.'),
  read: count.describe('Groups that were read whole.'),
  sent: count.describe('Groups that differed, and were sent.'),
  failed: count,
  waiting: count.describe('Groups that the next run reads.'),
  unreadable: z.array(text).describe('Groups that an operator has to look at.'),
});

export const PlanEffect = z.object({
  groups: count.describe('Groups whose plan differs.'),
  added: count,
  removed: count,
  held: count,
  dropped: count.describe('Changes that were planned before, and are not any more.'),
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
  stopped: nullable(text).describe('Why the rest was not waited for.'),
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
  actor: nullable(EntryActor).describe('Who did it, where the event said.'),
});
export type ExplainedEvent = Answer<typeof ExplainedEvent>;

const ExplainedRule = z.object({
  rule: text,
  value: nullable(text),
  found: z.array(z.object({ id: text, state: text })),
});
export type ExplainedRule = Answer<typeof ExplainedRule>;

/** Why a member is, or is not, in a group: from the event to the version on the platform. */
export const Explanation = z.object({
  group: text,
  member: text,
  present: z.boolean().describe("In the platform's group, as it was last written or read."),
  /** The whole answer in one sentence. */
  because: text,
  wanted: z.boolean().describe('The directory has them in the group.'),
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
  reason: nullable(text).describe("In the person's own words."),
  before: nullable(text).describe('Where it changed one thing; changes tells all.'),
  after: nullable(text),
  changes: z.array(Change),
  changeCount: count,
  versionBefore: Version,
  versionAfter: Version,
  cause: text,
  outcome: text,
  waitedMs: nullable(ms).describe('Of a write: how long the group had waited for it.'),
});
export type LogEntry = Answer<typeof LogEntry>;

/** Everything of one member of the directory. */
export const PersonReport = z.object({
  member: text,
  name: nullable(text),
  bound: nullable(text).describe('The employee that the member is bound to.'),
  person: Explanation.shape.match.shape.person,
  attributes: z
    .record(text, z.object({ value: text, at: instant }))
    .describe('What the directory says, and since when; an erased value is empty.'),
  values: z.record(text, text).describe('What is kept of the employee, in the form that is compared.'),
  scim: nullable(z.looseObject({})).describe('What an identity provider says by SCIM, as it says it.'),
  groups: z.array(
    z.object({
      group: text,
      name: nullable(text),
      wanted: Explanation.shape.wanted,
      present: Explanation.shape.present,
      outcome: text,
      because: text,
      event: nullable(ExplainedEvent).describe('The last word about their membership.'),
      write: Explanation.shape.write,
    }),
  ),
  moreGroups: count.describe('Beyond those that are listed.'),
  actions: z.array(LogEntry).describe('What people did about them: rebind, forget.'),
});
export type PersonReport = Answer<typeof PersonReport>;

/** One member of a group, or a user of the platform's group who is no member. */
const GroupMember = z.object({
  member: nullable(text).describe('Null: no member of the directory is this user.'),
  name: nullable(text),
  email: nullable(text),
  user: nullable(text).describe('The id on the platform; null where it is not known.'),
  wanted: z.boolean().describe('The directory has them in the group.'),
  present: z.boolean().describe("In the platform's group, as last written or read."),
  outcome: text.describe('As `explain` has it; `external`: a user that another client added.'),
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

/** Whether a group's audit is as it was written. */
export const AuditCheck = z.object({
  group: nullable(text),
  entries: count,
  named: count.describe('Entries that a later one, or the group itself, names with what they say.'),
  broken: nullable(z.object({ at: instant, problem: z.enum(['changed', 'missing']) })).describe(
    'The first that is not as it was written.',
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
  user: text.describe("As the platform's group has them."),
  member: nullable(text),
  name: nullable(text),
  email: nullable(text),
  because: text,
  event: nullable(z.object({ id: nullable(text), source: nullable(text), time: nullable(text) })),
});
export type HeldMember = Answer<typeof HeldMember>;
/** A hold with everybody who would go. */
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

/** How many members of the directory would find their employee. */
const MatchPreview = z.object({
  /** Members looked at: those that the directory has sent already; 0 before the first event. */
  members: count,
  matched: count,
  ambiguous: count,
  unmatched: count,
  newlyMatched: count
    .optional()
    .describe('Of those matched: members who have no employee now, so would join.'),
  /** By each rule, in their order. */
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
  /** By name, where only one group has it and none carries the spokeId. */
  byName: z.array(AdoptedPair),
  /** Unmanaged groups with the name of a group that would be created, and that these settings do not adopt. */
  clashes: z.array(AdoptedPair),
});
export type AdoptionPlan = Answer<typeof AdoptionPlan>;

/** The employee id (`userId` or `id`) that the platform's groups hold. */
const MemberIds = z.object({
  field: nullable(z.enum(['userId', 'id'])).describe(
    'The memberIdField that the groups show; null: they do not show it.',
  ),
  users: count.describe('Distinct ids in the groups.'),
  userId: count.describe('Ids that are the userId of a checked employee, and the id of none.'),
  id: count.describe('Ids that are the id of a checked employee, and the userId of none.'),
});
export type MemberIds = Answer<typeof MemberIds>;

/** What was found of a credential, before anything is stored. */
export const Inspection = z.object({
  usable: z.boolean(),
  company: text.optional(),
  checks: z.array(Check),
  preview: nullable(MatchPreview),
  adoption: nullable(AdoptionPlan),
  memberIds: nullable(MemberIds),
});
export type Inspection = Answer<typeof Inspection>;

/** What `probe` tried on the platform. */
export const ProbeReport = z.object({
  findings: z.array(Finding),
  kept: z.boolean().describe('Holds from now on; not so where the version of a PATCH stays unknown.'),
  stopped: nullable(text).describe('Why not all was tried.'),
  left: z.array(text).describe('Groups that could not be deleted: ids, or the name where none was told.'),
});
export type ProbeReport = Answer<typeof ProbeReport>;

const LineError = z.object({ line: count, message: text });
export type LineError = Answer<typeof LineError>;

/** What came of a file, line by line. */
export const EventsReport = z.object({
  events: count,
  messages: count,
  errors: z.array(LineError).describe('The first thousand.'),
  errorCount: count,
});
export type EventsReport = Answer<typeof EventsReport>;

/** The changes of an import, compared with the stored state of the directory. */
const ImportComparison = z.object({
  added: count,
  removed: count,
  unmatched: count.describe('Of those added: members that no match rule finds.'),
  pending: z
    .array(z.object({ cause: PendingCause, count }))
    .optional()
    .describe('Of those added: members who cannot be written yet, by cause.'),
  superseded: count.optional().describe('Differences without effect: the directory reported a later state.'),
  changedSince: z
    .array(text)
    .optional()
    .describe('Groups of the file that the directory has changed since the file was true.'),
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
      groupName: text.describe('As the file has it.'),
      member: text,
      email: nullable(text).describe(
        'As the file has it; also null for a member that the file does not name.',
      ),
    }),
  ),
  held: z.array(text).describe('Groups whose removals the guard would hold.'),
  renamed: z.array(z.object({ group: text, before: text, groupName: text.describe('As the file has it.') })),
  clashes: nullable(z.array(AdoptedPair)).describe(
    'Unmanaged groups on the platform that new groups of the file would duplicate; null: the platform could not be asked.',
  ),
});
export type ImportComparison = Answer<typeof ImportComparison>;

export const ImportReport = EventsReport.extend({
  comparison: ImportComparison.optional().describe('Where a deployment was there to ask.'),
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
  columns: text.optional().describe('What --columns could say of unusual headings, where that is certain.'),
  delimiter: text.optional().describe('The separator with which the first line certainly is a header.'),
  skipLines: count.optional().describe('Lines before what certainly is the header.'),
  /** False if nothing was sent: a dry run, errors, or a person who thought better of it. */
  sent: z.boolean(),
  unsent: count.optional().describe('Messages that Ctrl-C kept back; the same import again does no harm.'),
});
export type ImportReport = Answer<typeof ImportReport>;

const QueueName = z.enum(['events', 'apply']);
/** Dead letters of one cause; ages in milliseconds. */
const Cause = z.object({
  code: text,
  count,
  superseded: count,
  refused: count.describe('Of these ingest would refuse as many again now.'),
  oldestMs: ms,
  newestMs: ms,
});
export type Cause = Answer<typeof Cause>;

const DeadLetterSummary = z.object({
  id: text,
  queue: QueueName,
  code: text,
  message: text,
  connection: nullable(text).describe('Whose it is; null where that cannot be told.'),
  group: nullable(text),
  ageMs: ms.describe('Since it failed first, replays included.'),
  failures: count.describe('How often it failed: 1 where it was never replayed.'),
  superseded: z.boolean(),
  refusal: nullable(text).describe('Why ingest would refuse it again now; null where it would not.'),
});
export type DeadLetterSummary = Answer<typeof DeadLetterSummary>;

export const Survey = z.object({
  queue: z.enum(['events', 'apply', 'all']),
  total: count.describe('Found, or in flight with another consumer.'),
  inFlightElsewhere: count,
  /** False if not all messages could be read in time. */
  complete: z.boolean(),
  causes: z.array(Cause),
  /** The first of those that were selected, up to the limit; the causes count all of them. */
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
  /** How many are in the platform's group as last written or read. */
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
  problems: z.array(text).describe('Why ingest would refuse it now; empty where it would not.'),
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
  /** Refused by the queue or the table: still in the dead-letter queue. */
  failed: count,
  /** Of those selected: in flight elsewhere, refused, or dead-lettered again during the replay. */
  remaining: count,
  failedAgain: count.describe('Of those remaining: sent back, and dead-lettered again during the replay.'),
  because: nullable(text).describe('Why the first of them came back.'),
  cancelled: z.boolean(),
});
export type ReplayReport = Answer<typeof ReplayReport>;
