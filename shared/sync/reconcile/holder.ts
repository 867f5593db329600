import type { ConnectionName } from '../../domain/ids.ts';
import type { Holder } from '../../plan/holder.ts';
import type { Ports } from '../ports/bundles.ts';
import type { EmployeeRecord, Platform } from '../ports/platform.ts';

/** The maximum number of roles that are read. A person usually has one role in a company, and rarely a second one. */
const MAX_ROLES = 5;

/**
 * Returns the platform's user behind the credential, with the last day of the employment if an end is known. A person
 * with several roles stays until the last one ends.
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
  // If the list is empty, the user is not a known employee, so no end is known.
  const stays = lastDays.length === 0 || lastDays.includes(undefined);
  const lastDay = lastDays
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);
  return { user, ...(stays || lastDay === undefined ? {} : { lastDay }) };
}

/** The last day of a role; today if the role has ended already, undefined if no end is known. */
function lastDayOf(record: EmployeeRecord | undefined, today: string): string | undefined {
  if (record === undefined || record.state === 'TERMINATED') return record?.endDate ?? today;
  return record.endDate;
}
