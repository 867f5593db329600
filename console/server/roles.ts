import * as z from 'zod';
import type { ConnectionName } from '../../shared/domain/ids.ts';

/** The roles of people who sign in. Each role may do everything that the roles before it may do. */
export const ROLES = ['viewer', 'approver', 'operator', 'administrator'] as const;
export type Role = (typeof ROLES)[number];

/**
 * Gives a role to every person whose claim has the value, or contains it if the claim is a list. Without `connections`,
 * the person has the role for all connections, also for later ones.
 */
export const RoleRule = z.lazy(() =>
  z.strictObject({
    claim: z.string().min(1).max(200),
    value: z.string().min(1).max(400),
    role: z.enum(ROLES),
    connections: z
      .array(z.string().regex(/^[a-z0-9-]{1,32}$/))
      .min(1)
      .optional(),
  }),
);
export type RoleRule = z.infer<typeof RoleRule>;

/** The key of a role for all connections. No connection has this name. */
export const EVERY_CONNECTION = '*';

/** The roles of a person, by connection. */
export type Roles = Readonly<Record<string, Role>>;

export interface Person {
  /** The same for each sign-in of the person, such as an e-mail address. */
  readonly id: string;
  readonly roles: Roles;
}

export type Claims = Readonly<Record<string, unknown>>;

/** Returns whether a claim has the value, or is a list that contains it. Values are compared exactly. */
export const hasClaim = (claims: Claims, claim: string, value: string): boolean => {
  const given = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  return (Array.isArray(given) ? given : [given]).some(
    (one) => one === value || (one === true && value === 'true'),
  );
};

const higher = (a: Role | undefined, b: Role): Role => (a !== undefined && isAtLeast(a, b) ? a : b);

export const isAtLeast = (role: Role, required: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(required);

/** Returns the highest role that the rules give for each connection. Empty: the person may not use the console. */
export function rolesOf(claims: Claims, rules: readonly RoleRule[]): Roles {
  const roles: Record<string, Role> = {};
  for (const { claim, value, role, connections = [EVERY_CONNECTION] } of rules) {
    if (!hasClaim(claims, claim, value)) continue;
    for (const connection of connections) roles[connection] = higher(roles[connection], role);
  }
  return roles;
}

/** Returns the role of a person for one connection; undefined: the person may not see the connection. */
export function roleFor({ roles }: Pick<Person, 'roles'>, connection: ConnectionName): Role | undefined {
  const [every, own] = [
    roles[EVERY_CONNECTION],
    Object.hasOwn(roles, connection) ? roles[connection] : undefined,
  ];
  return every === undefined || own === undefined ? (every ?? own) : higher(every, own);
}

export const seesEveryConnection = ({ roles }: Pick<Person, 'roles'>): boolean => EVERY_CONNECTION in roles;
