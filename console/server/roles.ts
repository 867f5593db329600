import { ROLES, type Role, type RoleRule } from '../../shared/contract/console.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';

/** The key of a role for all connections. No connection has this name. */
const EVERY_CONNECTION = '*';

/** The roles of a person, by connection. */
export type Roles = Readonly<Record<string, Role>>;

export interface Person {
  /** Identifies the person at every sign-in, such as an e-mail address. */
  readonly id: string;
  readonly roles: Roles;
}

export type Claims = Readonly<Record<string, unknown>>;

/** Returns whether a claim has the value, or is a list that contains it. Values are compared exactly. */
export function hasClaim(claims: Claims, claim: string, value: string): boolean {
  const given = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  return (Array.isArray(given) ? given : [given]).some(
    (one) => one === value || (one === true && value === 'true'),
  );
}

const higher = (a: Role | undefined, b: Role): Role => (a !== undefined && isAtLeast(a, b) ? a : b);

export const isAtLeast = (role: Role, required: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(required);

/** Returns the highest role that the rules give for each connection. Empty: the person may not use the console. */
export function rolesOf(claims: Claims, rules: readonly RoleRule[]): Roles {
  const roles: Record<string, Role> = {};
  for (const { claim, value, role, connections = [EVERY_CONNECTION] } of rules) {
    if (!hasClaim(claims, claim, value)) continue;
    for (const connection of connections) roles[connection] = higher(ownRole(roles, connection), role);
  }
  return roles;
}

const ownRole = (roles: Roles, connection: string): Role | undefined =>
  Object.hasOwn(roles, connection) ? roles[connection] : undefined;

/** Returns the role of a person for one connection; undefined: the person may not see the connection. */
export function roleFor({ roles }: Pick<Person, 'roles'>, connection: ConnectionName): Role | undefined {
  const own = ownRole(roles, connection);
  const every = ownRole(roles, EVERY_CONNECTION);
  return own === undefined ? every : higher(every, own);
}

export const seesEveryConnection = ({ roles }: Pick<Person, 'roles'>): boolean =>
  Object.hasOwn(roles, EVERY_CONNECTION);
