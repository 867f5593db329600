import {
  EVERY_CONNECTION,
  higherRole,
  ownRole,
  type Role,
  type RoleRule,
  type Roles,
} from '../../shared/contract/console.ts';

export { isAtLeast, type Roles, roleFor } from '../../shared/contract/console.ts';

export interface SignedInPerson {
  /** The same at every sign-in of the person, for example an e-mail address. */
  readonly id: string;
  readonly roles: Roles;
}

export type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns whether a claim has the value, or is a list that contains it. Values are compared exactly, but the boolean
 * `true` also equals the text `true`.
 */
export function hasClaim(claims: Claims, claim: string, value: string): boolean {
  const given = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  return (Array.isArray(given) ? given : [given]).some(
    (one) => one === value || (one === true && value === 'true'),
  );
}

/** Returns the highest role that the rules give for each connection. Empty: the person may not use the console. */
export function rolesOf(claims: Claims, rules: readonly RoleRule[]): Roles {
  const roles: Record<string, Role> = {};
  for (const { claim, value, role, connections = [EVERY_CONNECTION] } of rules) {
    if (!hasClaim(claims, claim, value)) continue;
    for (const connection of connections) roles[connection] = higherRole(ownRole(roles, connection), role);
  }
  return roles;
}

export const seesEveryConnection = ({ roles }: Pick<SignedInPerson, 'roles'>): boolean =>
  Object.hasOwn(roles, EVERY_CONNECTION);
