import * as z from 'zod';
import { MemberKindName, WorldGroup, WorldMember, WorldUser } from './world.ts';

/** The author of a change: an administrator in the console, or a group's owner in the groups application. */
const By = { via: z.enum(['console', 'groups']).default('console'), actor: z.string().optional() };

const key = z.string().min(1).describe('An id, a primary address or an alias.');
/** The change sets these fields. All other fields stay. */
const vendorFields = z.record(z.string(), z.unknown()).optional();
const ofUser = <const Kind extends string>(kind: Kind) =>
  z.strictObject({ kind: z.literal(kind), user: key, ...By });

/** The body of `POST /_simulator/changes`: one change of the directory, at the time of the request. */
export const Change = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('addUser'), user: WorldUser, ...By }),
  z.strictObject({
    kind: z.literal('changeUser'),
    user: key,
    primaryEmail: z.string().optional(),
    aliases: z.array(z.string()).optional(),
    givenName: z.string().optional(),
    familyName: z.string().optional(),
    orgUnitPath: z.string().optional(),
    isAdmin: z.boolean().optional(),
    vendorFields,
    ...By,
  }),
  ofUser('suspendUser'),
  ofUser('unsuspendUser'),
  ofUser('archiveUser'),
  ofUser('unarchiveUser'),
  ofUser('deleteUser'),
  /** The key is the id of a deleted user. */
  ofUser('undeleteUser'),
  /** The key is the id of a deleted user. After this change, the user cannot be restored. */
  ofUser('purgeUser'),
  z.strictObject({ kind: z.literal('addGroup'), group: WorldGroup, ...By }),
  z.strictObject({
    kind: z.literal('changeGroup'),
    group: key,
    name: z.string().optional(),
    email: z.string().optional(),
    aliases: z.array(z.string()).optional(),
    description: z.string().optional(),
    vendorFields,
    ...By,
  }),
  z.strictObject({ kind: z.literal('deleteGroup'), group: key, ...By }),
  /** The key is the id of a deleted group. */
  z.strictObject({ kind: z.literal('undeleteGroup'), group: key, ...By }),
  z.strictObject({
    kind: z.literal('addMember'),
    group: key,
    member: z.string().min(1),
    memberKind: MemberKindName.optional(),
    role: WorldMember.shape.role,
    ...By,
  }),
  z.strictObject({ kind: z.literal('removeMember'), group: key, member: z.string().min(1), ...By }),
  z.strictObject({
    kind: z.literal('changeRole'),
    group: key,
    member: z.string().min(1),
    role: WorldMember.shape.role,
    ...By,
  }),
]);
export type Change = z.infer<typeof Change>;
