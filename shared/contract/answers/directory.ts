import * as z from 'zod';
import { SOURCES } from '../../domain/source.ts';
import { type Answer, count, instant, nullable, text } from './forms.ts';
import { SourceReport, StatusReport } from './status.ts';

/**
 * The steps of reading a directory, in this order. The reader signs in with a stored key (`credential`). Without a key,
 * the reader signs in by the three steps after `credential`. The step `administrator` tests the account that the reader
 * acts for. Each of the last four steps tests one right.
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
      'new: not read yet. confirming: a second read must confirm the first. settled: two reads agree. other: another source owns the group. failing: the last read failed, or its result was not used. missing: the directory does not find the group.',
    ),
  readAt: nullable(instant).describe('The time of the last complete read of the group.'),
  nextAt: instant.describe('The time of the next read.'),
  problem: nullable(text),
  below: count.describe('The nested groups that were read together with this group.'),
  other: nullable(text).describe('The id of a group of another source with the same id or the same name.'),
  differs: nullable(z.object({ added: count, removed: count, isNamed: z.boolean() })).describe(
    'The difference between the group of the other source and the directory: members to add, members to remove, and the name.',
  ),
});
export type DirectoryGroupRow = Answer<typeof DirectoryGroupRow>;

export const DirectoryStatus = z.object({
  connection: text,
  kind: nullable(text).describe('Null if the connection reads no directory.'),
  listedAt: nullable(instant).describe('The time at which all groups were last listed.'),
  groups: count.describe('Selected groups.'),
  states: z.record(z.enum(DIRECTORY_GROUP_STATES), count),
  due: count.describe('Groups that the next run reads.'),
  otherSource: count.describe(
    'The number of groups that SCIM or events own. The reader compares these groups. With corrects, it also sends corrections for groups with the same id.',
  ),
  differing: count.describe('Groups of other sources that differ from the directory.'),
  oldestReadAt: nullable(instant).describe('The time of the last read of the group that has waited longest.'),
  openMoves: StatusReport.shape.openMoves,
  freshness: nullable(SourceReport).describe('The last read of the directory, and the expected interval.'),
});
export type DirectoryStatus = Answer<typeof DirectoryStatus>;

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
        problem: nullable(text).describe('The reason why the group cannot be read.'),
      }),
    )
    .describe('The first of the selected groups, with all members.'),
  others: z.array(text).describe('Ids of groups that SCIM or events own. See groupsync directory takeover.'),
  adoptable: nullable(count).describe(
    'Platform groups that the first run would adopt; null if they could not be read.',
  ),
});
export type DirectoryPreview = Answer<typeof DirectoryPreview>;

export const TakeoverPlan = z.object({
  to: z.enum(SOURCES).describe('The new owner of the groups.'),
  groups: z.array(
    z.object({
      group: text,
      name: nullable(text),
      target: text.describe('The id of the corresponding group in the new source.'),
      targetName: nullable(text),
      by: z
        .enum(['file', 'id', 'externalId', 'name', 'earlier'])
        .describe(
          'The key that mapped the groups. file: the file of the option --map. earlier: an earlier takeover, which is not finished.',
        ),
    }),
  ),
  unmapped: z.array(
    z.object({
      group: text,
      name: nullable(text),
      reason: z
        .enum(['not_found', 'not_unique', 'has_platform_group', 'move_open'])
        .describe(
          'not_found: the new source has no corresponding group. not_unique: several groups have the name. has_platform_group: the corresponding group already has another platform group. move_open: the move of the group to another source is not finished.',
        ),
      target: nullable(text).describe('The corresponding group, or the group to which the open move leads.'),
    }),
  ),
});
export type TakeoverPlan = Answer<typeof TakeoverPlan>;

export const TakeoverReport = TakeoverPlan.extend({
  connection: text,
  observing: z
    .boolean()
    .describe(
      'Whether the connection only observes: groupsync writes nothing until the command groupsync resume.',
    ),
  busy: z
    .array(text)
    .describe(
      'Groups that have not moved yet. If a write is in progress, the requeue job finishes the move later.',
    ),
});
export type TakeoverReport = Answer<typeof TakeoverReport>;

export const DirectoryDisconnection = z.object({
  connection: text,
  kind: nullable(text).describe('The kind of the directory that was read before; null if none.'),
});
export type DirectoryDisconnection = Answer<typeof DirectoryDisconnection>;

const COMPARED_ACTIONS = [
  'adopt',
  'name_clash',
  'create',
  'change',
  'same',
  'other_source',
  'unreadable',
] as const;

export const DirectoryComparison = z.object({
  connection: text,
  groups: z.array(
    z.object({
      group: text,
      name: text,
      action: z
        .enum(COMPARED_ACTIONS)
        .describe(
          'adopt: the run links an existing platform group. name_clash: the group waits, because the platform has an unmanaged group with its name. create: the platform has no such group. other_source: SCIM or events own the group, so the reader sends nothing. unreadable: see problem.',
        ),
      platformId: nullable(text),
      added: count,
      removed: count,
      pending: count.describe('The number of active members without an employee who may be a group member.'),
      other: nullable(text).describe('The id of the same group in another source.'),
      problem: nullable(text),
    }),
  ),
  totals: z.object({
    adopt: count,
    create: count,
    change: count,
    same: count,
    nameClash: count,
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
          'The id in the directory; null if it does not have the user in the group.',
        ),
        email: nullable(text),
      }),
    )
    .describe('The first hundred changes of each kind.'),
  unmanaged: z
    .array(z.object({ platformId: text, name: nullable(text) }))
    .describe('The first hundred platform groups without a directory group. These groups stay unchanged.'),
  unmanagedCount: count,
});
export type DirectoryComparison = Answer<typeof DirectoryComparison>;

export const DirectoryStepRow = z.object({
  step: z.enum(DIRECTORY_STEPS),
  problem: nullable(text).describe('Null: the step works.'),
  reason: nullable(text).describe("The vendor's code for the problem."),
  detail: nullable(text).describe('The result of a successful step.'),
  retries: z
    .boolean()
    .describe('Whether the problem may end without an action: the directory is busy or not available.'),
});
export type DirectoryStepRow = Answer<typeof DirectoryStepRow>;

/** The answer of the function `directory` after it tried each step for one connection. */
export const DirectoryExamination = z.object({
  reports: z.tuple([z.object({ steps: z.array(DirectoryStepRow) })]),
});

export const DirectoryReadReport = z.object({
  connection: text,
  groups: count,
  reported: count.describe('The number of changes that the directory reported.'),
  read: count.describe('The number of groups that were read completely.'),
  sent: count.describe('The number of groups that differed, so that the reader sent events.'),
  deleted: z.array(text).describe('Groups for which the reader sent a deletion, at most a thousand.'),
  failed: count,
  waiting: count.describe('Groups that the next run reads.'),
  unreadable: z.array(text).describe('Groups that need an operator.'),
});
