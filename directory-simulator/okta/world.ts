import type { SeededRandom } from '../../local/platform/seeded-random.ts';
import type { WorldInput } from '../engine/world.ts';
import { USER_STATUSES } from './org.ts';

type UserInput = NonNullable<WorldInput['users']>[number];
type GroupInput = NonNullable<WorldInput['groups']>[number];

const BASE62 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const CREATED_MS = Date.UTC(2022, 0, 1);
const DAY_MS = 86_400_000;
const idOf = (prefix: string, random: SeededRandom) =>
  `${prefix}${Array.from({ length: 17 }, () => BASE62[random.below(62)]).join('')}`;

/**
 * Returns a generated directory as an Okta org. It has ids in Okta's form, users with each status, groups of an app,
 * and the built-in group Everyone. A few logins differ from the address. Nested groups and members of other domains are
 * left out, because Okta has none.
 */
export function oktaWorld(
  { users = [], groups = [], ...rest }: WorldInput,
  random: SeededRandom,
): WorldInput {
  const userIds = new Map(users.map(({ id }) => [id, idOf('00u', random)]));
  const shownGroups = groups.map((group, index) => groupOf(group, index, { userIds, random }));
  return {
    ...rest,
    users: users.map((user, index) =>
      userOf({ ...user, id: userIds.get(user.id) ?? user.id }, index, random),
    ),
    groups: [everyone(random), ...shownGroups],
  };
}

/** Returns a user. Every sixth user gets the next status of `USER_STATUSES`. All other users are active. */
function userOf(user: UserInput, index: number, random: SeededRandom): UserInput {
  const status = index % 6 === 5 ? USER_STATUSES[Math.floor(index / 6) % USER_STATUSES.length] : 'ACTIVE';
  const mailbox = user.primaryEmail.split('@', 1)[0] ?? '';
  return {
    ...user,
    vendorFields: {
      status,
      ...(random.chance(0.1) ? { login: `${mailbox}@login.example` } : {}),
      ...(random.chance(0.3)
        ? { profile: { costCenter: `CC-${random.below(90) + 10}`, isContractor: false } }
        : {}),
    },
  };
}

interface Ids {
  readonly userIds: ReadonlyMap<string, string>;
  readonly random: SeededRandom;
}

function groupOf(
  { members = [], ...group }: GroupInput,
  index: number,
  { userIds, random }: Ids,
): GroupInput {
  const people = members.flatMap(({ member, kind }) => {
    const id = userIds.get(member);
    return kind === 'user' && id !== undefined ? [{ member: id, kind }] : [];
  });
  return {
    ...group,
    id: idOf('00g', random),
    vendorFields: { type: index % 8 === 7 ? 'APP_GROUP' : 'OKTA_GROUP' },
    createdAtMs: CREATED_MS + random.below(1_000) * DAY_MS,
    members: people,
  };
}

/** Returns the built-in group. All users are its members, including users who are created later. */
const everyone = (random: SeededRandom): GroupInput => ({
  id: idOf('00g', random),
  email: 'everyone@built-in.okta.example',
  name: 'Everyone',
  description: 'All users in your organization',
  vendorFields: { type: 'BUILT_IN' },
  createdAtMs: CREATED_MS,
  members: [{ member: 'everyone', kind: 'everyone' }],
});
