import * as z from 'zod';
import { SOURCES } from '../../domain/source.ts';
import { type Answer, count, instant, nullable, text } from './forms.ts';
import { SourceReport } from './status.ts';

/**
 * The steps of reading a directory, in the order in which they are tried. The reader signs in with a stored key
 * (`credential`). Without a key, it signs in by the next three steps. The step `administrator` tests the account in
 * whose name the reader reads. The last steps test one right each.
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

/** Groups that were sent by other sources, each with the same group in the directory. */
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
