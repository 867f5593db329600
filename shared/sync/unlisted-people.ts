import type { EmployeeField } from '../contract/match-rule.ts';
import type { RoleId } from '../domain/ids.ts';
import { mayBeMember } from '../plan/person.ts';
import { compareText } from '../plan/plan.ts';
import { mapConcurrently } from './async-collections.ts';
import { otherRolesOf } from './match/bound-person.ts';
import type { PeopleStore } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { type Binding, GONE } from './ports/people.ts';
import { type EmployeeRecord, type Platform, PlatformFailure } from './ports/platform.ts';
import { ASKED_BY_ID, ASKED_IN_FLIGHT } from './tuning.ts';

interface Asking {
  readonly platform: Platform;
  readonly people: PeopleStore;
  readonly bound: readonly Binding[];
  readonly fields: readonly EmployeeField[];
  /** All roles in the listing, which must be complete. */
  readonly listed: ReadonlySet<RoleId>;
  readonly nowMs: number;
}

/** The platform's answers to reads of roles by id, and its errors. */
interface Answers {
  readonly answers: readonly EmployeeRecord[];
  readonly failures: readonly PlatformFailure[];
}

/**
 * Reads the roles that a list did not contain, each by its id. The credential may have lost a scope, or the platform
 * may have failed at that position. Only a 404 to a read by id proves that a role is gone (invariant 4).
 *
 * The function reads only roles whose end could remove a member from a group, and only a limited number in each run. If
 * there are more such roles, the runs of each hour read another part of them.
 * @throws PlatformFailure if a failure concerns more than the requested role
 */
export async function askUnlisted(
  connection: Connection,
  { platform, people, bound, fields, listed, nowMs }: Asking,
): Promise<Answers> {
  const { name, settings } = connection;
  // An empty list does not prove that all people have left. A fault of the credential is more likely.
  if (listed.size === 0) return { answers: [], failures: [] };
  const unlisted = new Set(bound.map(({ role }) => role).filter((role) => !listed.has(role)));
  const known = await people.read(name, [...unlisted]);
  // Other roles of the same user are read too. If another role has ended unnoticed, it would keep the user in the group
  // until a later run reads it.
  const others = await otherRolesOf([...known.values()], connection, people);
  const unlistedRoles = [...known.values(), ...others.filter(({ role }) => !listed.has(role))];
  const inGroups = unlistedRoles.filter((one) => mayBeMember(one, settings) || one.fanOutDue);
  const roles = inGroups.map(({ role }) => role).sort(compareText);
  const outcomes = await mapConcurrently(ASKED_IN_FLIGHT, stretchOf(roles, nowMs), (role) =>
    platform
      .employee(role, fields)
      .then((found): EmployeeRecord => found ?? { role, state: GONE, fields: new Map() }, ofThisRole),
  );
  return {
    answers: outcomes.flatMap((one) => (one instanceof PlatformFailure ? [] : [one])),
    failures: outcomes.flatMap((one) => (one instanceof PlatformFailure ? [one] : [])),
  };
}

/** @throws the failure if it concerns more than the requested role */
function ofThisRole(failure: unknown): PlatformFailure {
  if (failure instanceof PlatformFailure && failure.kind === 'unavailable') return failure;
  throw failure;
}

const HOUR_MS = 3_600_000;

function stretchOf(roles: readonly RoleId[], nowMs: number): readonly RoleId[] {
  if (roles.length <= ASKED_BY_ID) return roles;
  const start = (Math.floor(nowMs / HOUR_MS) * ASKED_BY_ID) % roles.length;
  return [...roles.slice(start), ...roles.slice(0, start)].slice(0, ASKED_BY_ID);
}
