import * as z from 'zod';
import { type Frozen, memberText, number, roleText, text, texts } from './forms.ts';
import { type MemberId, type PlatformUserId, platformUserId, type RoleId } from './ids.ts';

/**
 * A person that an operator has blocked: no group of the connection may contain this person. The block stores ids only,
 * so it stays after an erasure. The refresh of people adds ids that appear later (`sync/people-wake.ts`).
 */
export const Block = z.lazy(() =>
  z.object({
    members: z.array(memberText).readonly(),
    roles: z.array(roleText).readonly(),
    users: texts.readonly(),
    by: text,
    atMs: number,
    reason: text,
    /** Set while an `unblock` under four eyes waits for a second person. */
    unblock: z.object({ by: text, atMs: number }).exactOptional(),
  }),
);
export type Block = Frozen<z.infer<typeof Block>>;

export type BlockedIds = Pick<Block, 'members' | 'roles' | 'users'>;

/** Ids of one person. An absent id is not known. */
interface IdsOfOne {
  readonly member?: MemberId | undefined;
  readonly role?: RoleId | undefined;
  readonly userId?: string | undefined;
}

export const blockOf = (blocks: readonly Block[] | undefined, { member, role, userId }: IdsOfOne) =>
  blocks?.find(
    (one) =>
      (member !== undefined && one.members.includes(member)) ||
      (role !== undefined && one.roles.includes(role)) ||
      (userId !== undefined && one.users.includes(userId)),
  );

/** Returns the ids of all blocked people in platform groups; undefined if no person is blocked. */
export function blockedUsers(
  blocks: readonly Block[] | undefined,
  memberIdField: 'id' | 'userId',
): ReadonlySet<PlatformUserId> | undefined {
  if (blocks === undefined || blocks.length === 0) return undefined;
  const ids = blocks.flatMap(({ roles, users }): readonly string[] =>
    memberIdField === 'id' ? roles : users,
  );
  return new Set(ids.map(platformUserId));
}
