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
 * The state of a group as commands show it. If a group is `dirty`, its other fields may be outdated. A group is
 * `unknown` if only member events named it.
 */
export const GroupStateName = z.enum(GROUP_STATES);
export type GroupStateName = z.infer<typeof GroupStateName>;

export const Waiting = z.object({
  until: instant.describe('The time at which apply reads the group again.'),
  code: text,
  reason: text,
});
export type Waiting = Answer<typeof Waiting>;

export const GroupReport = z.object({
  connection: text,
  id: text.describe('The id of the group in the directory.'),
  name: nullable(text),
  platformId: nullable(text),
  version: Version,
  state: GroupStateName,
  wanted: count.describe(
    'The number of members in the directory, with pending and without excluded members.',
  ),
  applied: count.describe('The number of members that the platform has confirmed.'),
  excluded: count.describe('The number of members that people.exclude leaves out.'),
  users: z.array(text).describe('The users in the platform group as last written or read, sorted.'),
  pending: z.array(z.object({ id: text, cause: PendingCause, sinceMs: ms })),
  waiting: nullable(Waiting).describe('Why the changes are not written yet; null if none waits.'),
});
export type GroupReport = Answer<typeof GroupReport>;

export const GroupStatus = GroupReport.extend({
  /** `openWrite` is the id of a write whose outcome is not known yet. */
  link: nullable(z.object({ platformId: text, version: Version, openWrite: nullable(text) })),
  lastError: nullable(z.object({ code: text, message: text, at: instant })),
  lastWriteAt: nullable(instant),
  dirtySince: nullable(instant),
  released: nullable(text),
  hold: nullable(z.object({ digest: text, removes: count, decision: text })),
  moving: nullable(text).describe('The unfinished move to another source for which the group waits.'),
});
export type GroupStatus = Answer<typeof GroupStatus>;

const NameClash = z.object({ platformId: text, name: text });
export type NameClash = Answer<typeof NameClash>;

export const Plan = z.object({
  group: text,
  /** `hold`: only held removals are left to write. `report`: the mode is report. In both cases, nothing is written. */
  action: z.enum(['create', 'patch', 'put', 'delete', 'release', 'none', 'hold', 'report']),
  /** The changes of the write. With `hold`, the held removals. With `report`, the changes that are only shown. */
  changes: z.array(Change),
  held: z.array(text).describe('Users whose removal waits for a decision or was rejected.'),
  /** With `hold`, the digest that an approval names. Otherwise a digest of the action and its changes. */
  digest: text,
  /** The reason why groupsync does not write the plan now, or a remark about the plan; null if there is none. */
  note: nullable(text),
  waiting: nullable(Waiting).describe(
    'Why the action is not done yet, and when apply reads the group again.',
  ),
  clashes: z
    .array(NameClash)
    .describe(
      'Unmanaged platform groups with the name or the external id of this group, which a creation would duplicate.',
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
  stopped: nullable(text).describe('The reason why the command stopped waiting for the remaining groups.'),
});
export type SyncReport = Answer<typeof SyncReport>;

const GroupMember = z.object({
  member: nullable(text).describe('The id in the directory; null if no member matches this user.'),
  name: nullable(text),
  email: nullable(text),
  user: nullable(text).describe('The id on the platform; null if the id is unknown.'),
  wanted: z.boolean().describe('Whether the directory has the member in the group.'),
  present: z.boolean().describe('Whether the platform group, as last written or read, contains the user.'),
  outcome: text.describe('The outcome as in explain; external: another client added the user.'),
  because: text,
});
export type GroupMember = Answer<typeof GroupMember>;

export const GroupMembers = z.object({ group: text, name: nullable(text), members: z.array(GroupMember) });
export type GroupMembers = Answer<typeof GroupMembers>;

const PastMember = z.object({
  user: text.describe('The id on the platform.'),
  member: nullable(text).describe('The id in the directory; null if no member matches this user.'),
  name: nullable(text),
  states: z.array(z.enum(['in', 'out', 'uncertain'])).describe('The state of the user at each time.'),
  changedBetween: nullable(z.array(instant)).describe(
    'For an uncertain user: the times between which the user joined or left.',
  ),
});
export type PastMember = Answer<typeof PastMember>;

export const PastMembers = z.object({
  group: text,
  name: nullable(text),
  times: z.array(instant),
  known: z.boolean().describe('Whether the members at all these times are known.'),
  knownSince: nullable(instant).describe('If they are not known: the time since which members are known.'),
  knownUntil: nullable(instant).describe('If a time is in the future: the present time.'),
  members: z.array(PastMember),
});
export type PastMembers = Answer<typeof PastMembers>;

export const PersonAt = z.object({
  member: text,
  members: z.array(text).describe('The member, and all other members that are bound to the same employee.'),
  name: nullable(text),
  time: instant,
  knownUntil: PastMembers.shape.knownUntil,
  groups: z.array(
    z.object({
      group: text,
      name: nullable(text),
      user: nullable(text).describe(
        'The id on the platform; null if the members at this time are not known.',
      ),
      state: z.enum(['in', 'uncertain', 'unknown']),
      changedBetween: PastMember.shape.changedBetween,
      knownSince: PastMembers.shape.knownSince,
    }),
  ),
});
export type PersonAt = Answer<typeof PersonAt>;

export const MissingPerson = PastMember.pick({ user: true, member: true, name: true }).extend({
  because: text,
});
export type MissingPerson = Answer<typeof MissingPerson>;

const ExportedGroup = z.object({
  group: text,
  name: text,
  members: z.array(z.object({ id: text, email: nullable(text) })),
  unresolved: z
    .array(MissingPerson)
    .describe('With --at: the people who are left out, each with the reason.'),
});
export type ExportedGroup = Answer<typeof ExportedGroup>;

export const ExportReport = z.object({
  groups: z.array(ExportedGroup),
  leftOut: z
    .array(text)
    .describe(
      'Groups that the directory has deleted or not named yet. With --at, also groups that moved to another source, contain groups, or had no known members at this time.',
    ),
  unknown: z
    .array(text)
    .optional()
    .describe('The groups among them whose members at this time are not known.'),
});
export type ExportReport = Answer<typeof ExportReport>;

export const PendingRow = z.object({
  group: text,
  member: text,
  cause: PendingCause,
  sinceMs: ms,
  rehire: nullable(text).describe(
    'The ACTIVE employee that the member matches, if the member is bound to another person, who has left: groupsync rebind MEMBER EMPLOYEE. Otherwise null.',
  ),
});
export type PendingRow = Answer<typeof PendingRow>;
