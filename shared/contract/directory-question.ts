import * as z from 'zod';
import { groupId, memberId } from '../domain/ids.ts';
import { DirectorySource } from './settings.ts';

/*
 * If no key of the directory is stored, only the role of the deployed function `directory` can read it. A command of an
 * operator then sends a question to this function.
 */

const group = z.string().min(1).transform(groupId);
const position = z.number().int().min(0);

export const DirectoryQuestion = z.union([
  /** Requests the list of groups, beginning at this position. */
  z.object({ groups: position }),
  z.object({ group }),
  /** Requests the members of these groups. In the first group, the list of members begins at `from`. */
  z.object({ membersOf: z.array(group).min(1), from: position }),
]);
export type DirectoryQuestion = z.infer<typeof DirectoryQuestion>;

export const AskedDirectory = z.object({
  question: DirectoryQuestion,
  /** The directory to read instead of the directory in the settings. */
  setting: DirectorySource.optional(),
});

const Group = z.object({
  id: group,
  name: z.string(),
  address: z.string(),
  userCount: z.number().optional(),
});

const Member = z.union([
  z.object({
    kind: z.literal('user'),
    user: z.object({
      id: z.string().transform(memberId),
      attributes: z.record(z.string(), z.string()).transform((record) => new Map(Object.entries(record))),
      isActive: z.boolean(),
      isExternal: z.boolean().exactOptional(),
    }),
  }),
  z.object({ kind: z.literal('group'), id: group }),
  z.object({ kind: z.literal('everyone') }),
]);

const Failure = z.object({
  kind: z.enum(['denied', 'busy', 'unavailable', 'missing', 'odd']),
  message: z.string(),
  reason: z.string().optional(),
});

const MembersOfGroup = z.object({
  group,
  members: z.array(Member),
  /** The position of the next member; absent if the list is complete. */
  next: position.optional(),
  /** The reason why the group could not be read. */
  failure: Failure.optional(),
});

/** The answer to a question. A list that is too long for one answer ends with the position of the next item. */
export const DirectoryReply = z.object({
  groups: z.array(Group).optional(),
  next: position.optional(),
  /** The members of one or more groups of the question, beginning with the first group. */
  members: z.array(MembersOfGroup).optional(),
  failure: Failure.optional(),
});
export type DirectoryReply = z.infer<typeof DirectoryReply>;

export const DirectoryReplies = z.object({ reports: z.tuple([DirectoryReply]) });
