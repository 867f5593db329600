import type { EmployeeField } from '../contract/match-rule.ts';
import type { RoleId } from '../domain/ids.ts';
import { mayBeMember } from '../plan/person.ts';
import { compareText } from '../plan/plan.ts';
import { atOnce } from './gather.ts';
import type { Connection } from './ports/connections.ts';
import { type Binding, GONE, type PeopleStore } from './ports/people.ts';
import { type EmployeeRecord, type Platform, PlatformFailure } from './ports/platform.ts';
import { ASKED_BY_ID, ASKED_IN_FLIGHT } from './tuning.ts';

interface Asking {
  readonly platform: Platform;
  readonly people: PeopleStore;
  readonly bound: readonly Binding[];
  readonly fields: readonly EmployeeField[];
  /** Every role that the listing named, which came to its end. */
  readonly listed: ReadonlySet<RoleId>;
  readonly nowMs: number;
}

/** What the platform says of roles by id, and of which it failed to answer. */
interface Answers {
  readonly answers: readonly EmployeeRecord[];
  readonly failures: readonly PlatformFailure[];
}

/**
 * What the platform says by id of roles that a listing did not name. Their absence alone says nothing: they may have lost
 * the application, or the credential a scope, or the platform fails on their position. Only a 404 by id says that a role is
 * gone (invariant 4).
 *
 * Only those are asked for whose answer could take a member out of a group, a bounded number in each run; where there are
 * more, each hour has another stretch of them, so that nobody is passed over for good.
 * @throws PlatformFailure where the failure is not of the one role that was asked for
 */
export async function askUnlisted(
  { name, settings }: Connection,
  { platform, people, bound, fields, listed, nowMs }: Asking,
): Promise<Answers> {
  // A listing without anybody says more of the credential than of the people.
  if (listed.size === 0) return { answers: [], failures: [] };
  const unlisted = new Set(bound.map(({ role }) => role).filter((role) => !listed.has(role)));
  const known = await people.read(name, [...unlisted]);
  const inGroups = [...known.values()].filter((one) => mayBeMember(one, settings) || one.unheard);
  const roles = inGroups.map(({ role }) => role).sort(compareText);
  const outcomes = await atOnce(ASKED_IN_FLIGHT, stretchOf(roles, nowMs), (role) =>
    platform
      .employee(role, fields)
      .then((found): EmployeeRecord => found ?? { role, state: GONE, fields: new Map() }, ofThisRole),
  );
  return {
    answers: outcomes.flatMap((one) => (one instanceof PlatformFailure ? [] : [one])),
    failures: outcomes.flatMap((one) => (one instanceof PlatformFailure ? [one] : [])),
  };
}

/** @throws the failure where others would meet it as well */
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
