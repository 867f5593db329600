import * as z from 'zod';
import type { ConnectionName } from '../domain/ids.ts';
import { parsedUrl } from './url.ts';

/* The setting `console` of a stage. People sign in to the deployed console with the OIDC provider of their company. */

/** The roles of people who sign in. Each role includes the rights of the roles before it in this list. */
export const ROLES = ['viewer', 'approver', 'operator', 'administrator'] as const;
export type Role = (typeof ROLES)[number];

/** The key under which `Roles` has the role for all connections. No connection has this name. */
export const EVERY_CONNECTION = '*';

export type Roles = Readonly<Record<string, Role>>;

export const isAtLeast = (role: Role, required: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(required);

export const higherRole = (a: Role | undefined, b: Role): Role =>
  a !== undefined && isAtLeast(a, b) ? a : b;

export const ownRole = (roles: Roles, connection: string): Role | undefined =>
  Object.hasOwn(roles, connection) ? roles[connection] : undefined;

/** Returns the role of a person for one connection; undefined if the person may not see the connection. */
export function roleFor({ roles }: { readonly roles: Roles }, connection: ConnectionName): Role | undefined {
  const own = ownRole(roles, connection);
  const every = ownRole(roles, EVERY_CONNECTION);
  return own === undefined ? every : higherRole(every, own);
}

const shortText = (most: number) => z.string().min(1).max(most);

/**
 * Gives a role to every person whose claim equals the value, or is a list that contains the value. Without
 * `connections`, the person has the role for all connections, including connections that are added later.
 */
const RoleRule = z.strictObject({
  claim: shortText(200),
  value: shortText(400),
  role: z.enum(ROLES),
  connections: z
    .array(z.string().regex(/^[a-z0-9-]{1,32}$/, 'expected the name of a connection'))
    .min(1)
    .optional(),
});
export type RoleRule = z.infer<typeof RoleRule>;

const LOOPBACK = /^(?:localhost|127\.0\.0\.1)$/;

function isIssuer(text: string): boolean {
  const { protocol, hostname = '', username, password, search, hash } = parsedUrl(text) ?? {};
  if (`${username}${password}${search}${hash}` !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

export const ConsoleSignIn = z.strictObject({
  /** The issuer URL of the provider. The provider's configuration is at `<issuer>/.well-known/openid-configuration`. */
  issuer: z.string().max(500).refine(isIssuer, 'expected the https URL of an OIDC provider'),
  clientId: shortText(200),
  /** Whether Secrets Manager has a client secret. Without it, PKCE alone protects the authorization code. */
  hasSecret: z.boolean().default(false),
  scopes: z
    .array(z.string().regex(/^[\w.:/-]{1,100}$/))
    .max(20)
    .default(['openid', 'email', 'profile']),
  /** The claim that identifies a person: unique, and a person must not be able to change it. */
  personClaim: shortText(200).default('email'),
  /** Claims, with their values, that each person must have, such as the domain of the company. */
  require: z.record(shortText(200), shortText(400)).default({}),
  roles: z.array(RoleRule).min(1).max(50),
  /** After this time, a person must sign in again. The roles are then read from the new claims. */
  sessionMinutes: z.int().min(5).max(720).default(60),
});
export type ConsoleSignIn = z.infer<typeof ConsoleSignIn>;
/** The setting as an administrator writes it, without defaults. */
export type ConsoleSignInProps = z.input<typeof ConsoleSignIn>;
