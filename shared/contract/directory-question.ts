import * as z from 'zod';
import { groupId, memberId } from '../domain/ids.ts';
import { DirectorySource } from './settings.ts';

/*
 * Without a stored key, only the role of the deployed function can read a directory. A command of an operator then asks
 * the function.
 */

const group = z.string().min(1).transform(groupId);
const position = z.number().int().min(0);

export const DirectoryQuestion = z.union([
  /** Asks for the list of groups from this position on. */
  z.object({ groups: position }),
  z.object({ group }),
  /** Asks for the members of these groups. Of the first group, only members from this position on are returned. */
  z.object({ membersOf: z.array(group).min(1), from: position }),
]);
export type DirectoryQuestion = z.infer<typeof DirectoryQuestion>;

export const AskedDirectory = z.object({
  question: DirectoryQuestion,
  /** The directory to ask instead of the one in the settings. */
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
  /** The members of at least the first group that the question named. */
  members: z.array(MembersOfGroup).optional(),
  failure: Failure.optional(),
});
export type DirectoryReply = z.infer<typeof DirectoryReply>;

export const DirectoryReplies = z.object({ reports: z.tuple([DirectoryReply]) });
