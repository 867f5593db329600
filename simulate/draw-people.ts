import { actsOf } from './acts.ts';
import { between, type Random, some, weighted } from './random.ts';
import {
  type CompanyAction,
  type ConnectionSpec,
  type Happening,
  HOUR_MS,
  type PersonSpec,
} from './simulation-run.ts';

/**
 * A connection of a simulation run, with the ids of its groups and people. The ids of members are `p…`, `h…`, `n…` and
 * `q…`. The ids of their roles are `r-<name>-…`.
 */
export interface Town extends Pick<ConnectionSpec, 'name' | 'company' | 'people'> {
  readonly share: number;
  /** Ids of the groups of this directory. */
  readonly groups: readonly string[];
  readonly count: number;
  readonly hasScim: boolean;
  /** True if some members have an employee number instead of an address. A second match rule finds their employees. */
  readonly hasNumbers: boolean;
  readonly settings: Readonly<Record<string, unknown>> & { readonly memberIdField: 'userId' | 'id' };
  /** If undefined, the seed decides. */
  readonly credential?: ConnectionSpec['credential'];
}

export const SCIM_MEMBERS = 8;

/** Draws the employees. A few lack an address or a user id, or are inactive. For `h` and `q`, see messages.ts. */
export function drawPeople(
  random: Random,
  connection: string,
  { count, hasScim }: { readonly count: number; readonly hasScim: boolean },
): readonly PersonSpec[] {
  const handed = Math.max(2, Math.round(count / 20));
  const ids = [
    ...Array.from({ length: count - handed }, (_, index) => `p${index}`),
    ...Array.from({ length: handed }, (_, index) => `h${index}`),
    ...Array.from({ length: hasScim ? SCIM_MEMBERS : 0 }, (_, index) => `q${index}`),
  ];
  return ids.map((id) => {
    const state = weighted(random, { ACTIVE: 92, HIRED: 3, INIT: 2, TERMINATED: 3 });
    return {
      role: roleOf(connection, id),
      email: random.chance(0.02) ? null : `${id}@${connection}.test`,
      ...(state !== 'ACTIVE' && { state }),
      ...(random.chance(0.03) && { userId: null }),
    };
  });
}

/** The share of connections in which some people get a second role. */
const CONVERSIONS = 0.5;

/**
 * Draws people with two roles. Usually one role ends at most 12 hours before or after the other role begins, for
 * example when a contractor becomes an employee. These draws use a separate random stream, so they do not change other
 * draws.
 */
export function drawConversions(
  random: Random,
  { name: connection, people }: Town,
  endMs: number,
): readonly Happening[] {
  if (!random.chance(CONVERSIONS)) return [];
  const company = (atMs: number, action: CompanyAction) =>
    actsOf(connection).company(Math.max(0, Math.min(atMs, endMs - HOUR_MS)), action);
  const known = people.filter(({ email, userId }) => email !== null && userId === undefined);
  return some(random, known, between(random, 1, 4)).flatMap(({ role, email }) => {
    const atMs = between(random, HOUR_MS, endMs - HOUR_MS);
    const person = { role: `${role}-again`, email, userId: `u-${role}` };
    const gapMs = random.chance(0.4) ? 0 : between(random, -12 * HOUR_MS, 12 * HOUR_MS);
    const begins = company(atMs + gapMs, { kind: 'hire', person });
    return random.chance(0.15) ? [begins] : [begins, company(atMs, { kind: 'terminate', role })];
  });
}

/** The share of connections in which the user id of some roles changes. */
const MERGES = 0.4;

/**
 * Draws roles that move to another user. This happens after a correction or a merge of accounts in the HR system. A
 * role is skipped if another happening changes its user. The draws use a separate random stream.
 */
export function drawUserIdChanges(
  random: Random,
  { name: connection, people }: Town,
  { endMs, others }: { readonly endMs: number; readonly others: readonly Happening[] },
): readonly Happening[] {
  if (!random.chance(MERGES)) return [];
  const changing = new Set(
    others.flatMap(({ action }) => {
      if (action.kind === 'hire') return [action.person.role, action.person.userId?.replace(/^u-/, '')];
      return action.kind === 'lose_user_id' || action.kind === 'erase' ? [action.role] : [];
    }),
  );
  const plain = people.filter(
    ({ email, userId, role }) => email !== null && userId === undefined && !changing.has(role),
  );
  const [into, ...roles] = some(random, plain, between(random, 2, 4)).map(({ role }) => role);
  return roles.map((role): Happening => {
    const userId = random.chance(0.3) ? `u-${into}` : `u2-${role}`;
    const atMs = between(random, HOUR_MS, endMs - HOUR_MS);
    return actsOf(connection).company(atMs, { kind: 'change_user_id', role, userId });
  });
}

export const roleOf = (connection: string, member: string): string => `r-${connection}-${member}`;
