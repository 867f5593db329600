import type { EmployeeField } from '../contract/match-rule.ts';
import type { RoleId } from '../domain/ids.ts';
import { compareText } from '../plan/plan.ts';
import { atOnce } from './gather.ts';
import type { Connection } from './ports/connections.ts';
import { type Binding, GONE, type PeopleStore } from './ports/people.ts';
import type { EmployeeRecord, Platform } from './ports/platform.ts';
import { ASKED_BY_ID, ASKED_IN_FLIGHT } from './tuning.ts';

interface Asking {
  readonly platform: Platform;
  readonly people: PeopleStore;
  readonly bound: readonly Binding[];
  readonly fields: readonly EmployeeField[];
  /** Everybody whom the listing named, which came to its end. */
  readonly listed: ReadonlySet<RoleId>;
  readonly nowMs: number;
}

/**
 * What the platform says by id of people whom a complete listing did not name. Their absence alone says nothing: they may
 * have lost the application, or the credential a scope. Only a 404 by id says that somebody is gone (invariant 4).
 *
 * Only those are asked whose answer could take a member out of a group, a bounded number in each run; where there are
 * more, each hour has another stretch of them, so that nobody is passed over for good.
 * @throws PlatformFailure where one answer is anything but an employee or a 404
 */
export async function askUnlisted(
  { name, settings }: Connection,
  { platform, people, bound, fields, listed, nowMs }: Asking,
): Promise<readonly EmployeeRecord[]> {
  // A listing without anybody says more of the credential than of the people.
  if (listed.size === 0) return [];
  const unlisted = new Set(bound.map(({ role }) => role).filter((role) => !listed.has(role)));
  const states: ReadonlySet<string> = new Set(settings.includeStates);
  const known = await people.read(name, [...unlisted]);
  const inGroups = [...known.values()].filter(({ state, unheard }) => states.has(state) || unheard);
  const roles = inGroups.map(({ role }) => role).sort(compareText);
  return atOnce(
    ASKED_IN_FLIGHT,
    stretchOf(roles, nowMs),
    async (role) => (await platform.employee(role, fields)) ?? { role, state: GONE, fields: new Map() },
  );
}

const HOUR_MS = 3_600_000;

function stretchOf(roles: readonly RoleId[], nowMs: number): readonly RoleId[] {
  if (roles.length <= ASKED_BY_ID) return roles;
  const start = (Math.floor(nowMs / HOUR_MS) * ASKED_BY_ID) % roles.length;
  return [...roles.slice(start), ...roles.slice(0, start)].slice(0, ASKED_BY_ID);
}
