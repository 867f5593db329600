import * as z from 'zod';
import { PendingCause } from '../../domain/group-state.ts';
import { GROUP_STATES } from '../names.ts';
import { type Answer, count, instant, ms, nullable, text, Version } from './forms.ts';

export const Change = z.object({
  kind: text,
  member: nullable(text).optional(),
  before: nullable(text),
  after: nullable(text),
  reason: text,
});

/**
 * The state of a group for users. With `dirty`, other fields may be out of date. `unknown` means that only member
 * events named the group.
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
  /** The reason why nothing would be done; null if the group is in sync. */
  note: nullable(text),
  waiting: nullable(Waiting).describe('Why the action is not done yet, and when the group is read again.'),
  clashes: z
    .array(NameClash)
    .describe(
      'Unmanaged groups on the platform with the name of this group. A creation would make a second group of that name.',
    ),
});
export type Plan = Answer<typeof Plan>;

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
