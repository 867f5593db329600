import * as z from 'zod';
import { type Answer, instant, nullable, text } from './forms.ts';

export const BlockRow = z.object({
  members: z.array(text).describe('The ids of the person in the directory.'),
  roles: z.array(text).describe('The ids of the employee on the platform.'),
  users: z.array(text).describe('The user ids of the employee.'),
  by: text,
  at: instant,
  reason: text,
  unblockRequestedBy: nullable(text).describe(
    'With four eyes: the person who asked for the end of the block, which another person must confirm.',
  ),
});
export type BlockRow = Answer<typeof BlockRow>;

const BlockedGroup = z.object({
  group: text,
  name: nullable(text),
  outcome: z
    .enum(['out', 'removing', 'waiting'])
    .describe('waiting: the person is in the group, and groupsync may not write the group now.'),
  because: nullable(text).describe('The reason of the outcome waiting.'),
});
export type BlockedGroup = Answer<typeof BlockedGroup>;

export const BlockReport = z.object({
  outcome: z.enum(['blocked', 'already_blocked']),
  block: BlockRow,
  groups: z
    .array(BlockedGroup)
    .describe('The groups in which events named the person, and other groups that contain the person.'),
});

export type BlockReport = Answer<typeof BlockReport>;

export const UnblockReport = z.object({
  outcome: z.enum(['unblocked', 'requested', 'not_blocked']),
  block: nullable(BlockRow),
});
