/** The property exists only in the type. A unique symbol could not be named in the types of the package. */
type Branded<Base, Name extends string> = Base & { readonly $id: Name };

/** The name of a connection, in the form `[a-z0-9-]{1,32}`. */
export type ConnectionName = Branded<string, 'ConnectionName'>;
/** The directory's stable id of a group, byte-exact as the directory sends it. */
export type GroupId = Branded<string, 'GroupId'>;
/** The directory's stable id of a member, byte-exact as the directory sends it. */
export type MemberId = Branded<string, 'MemberId'>;
export type PlatformGroupId = Branded<string, 'PlatformGroupId'>;
/** The id of a role on the platform (`Employee.id`). A role is one employment of a user in one company. */
export type RoleId = Branded<string, 'RoleId'>;
/** An id in a platform group's `users`: a user id, or a role id if the setting `memberIdField` is `id`. */
export type PlatformUserId = Branded<string, 'PlatformUserId'>;
/**
 * The platform's version token of a group. The token is opaque and compared only for equality. A write sends the token
 * back with the same JSON type, string or number.
 */
export type VersionToken = Branded<string | number, 'VersionToken'>;
export type IntentId = Branded<string, 'IntentId'>;

/*
 * These functions give a text the type of an id without a check. A zod schema has checked the form where the text
 * entered the program.
 */
export const connectionName = (text: string) => text as ConnectionName;
export const groupId = (text: string) => text as GroupId;
export const memberId = (text: string) => text as MemberId;
export const platformGroupId = (text: string) => text as PlatformGroupId;
export const roleId = (text: string) => text as RoleId;
export const platformUserId = (text: string) => text as PlatformUserId;
export const versionToken = (version: string | number) => version as VersionToken;
export const intentId = (text: string) => text as IntentId;

export interface GroupRef {
  readonly connection: ConnectionName;
  readonly group: GroupId;
}

/** Returns the time with which an id of `newId` begins. An id of another form never counts as old. */
export function idTimeMs(id: string): number {
  const time = Number.parseInt(id.slice(0, 12), 16);
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}
