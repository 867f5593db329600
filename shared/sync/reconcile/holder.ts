import type { ConnectionName } from '../../domain/ids.ts';
import type { Holder } from '../../plan/holder.ts';
import type { Ports } from '../ports/bundles.ts';
import type { EmployeeRecord, Platform } from '../ports/platform.ts';

/** The maximum number of roles that are read. A person usually has one role in a company, and rarely two. */
const MAX_ROLES = 5;

/**
 * Returns the platform's user to which the credential belongs, with the last day of the employment if it is known. If
 * the user has several roles, this is the end of the last role.
 * @returns undefined if the platform has not named the user
 */
export async function holderOf(
  platform: Platform,
  connection: ConnectionName,
  { people, clock }: Pick<Ports, 'people' | 'clock'>,
): Promise<Holder | undefined> {
  const { holder: user } = platform;
  if (user === undefined) return undefined;
  const roles = (await people.ofUser(connection, user)).slice(0, MAX_ROLES);
  const records = await Promise.all(roles.map(({ role }) => platform.employee(role, [])));
  const today = new Date(clock()).toISOString().slice(0, 10);
  const lastDays = records.map((record) => lastDayOf(record, today));
  // If there is no role, the user is not a known employee, so no end is known.
  const stays = lastDays.length === 0 || lastDays.includes(undefined);
  const lastDay = lastDays
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);
  return { user, ...(stays || lastDay === undefined ? {} : { lastDay }) };
}

/** Returns the last day of a role; today if the role has already ended; undefined if no end is known. */
function lastDayOf(record: EmployeeRecord | undefined, today: string): string | undefined {
  if (record === undefined || record.state === 'TERMINATED') return record?.endDate ?? today;
  return record.endDate;
}
