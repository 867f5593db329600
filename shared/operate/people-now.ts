import { SkippedReply } from '../contract/answers/reconcile.ts';
import { fieldName } from '../contract/match-rule.ts';
import { type ConnectionSettings, matchRules } from '../contract/settings.ts';
import { grouped } from '../domain/grouped.ts';
import type { ConnectionName, RoleId } from '../domain/ids.ts';
import type { PreviewPorts } from '../sync/apply/preview.ts';
import { askMissing } from '../sync/people.ts';
import { personAfter } from '../sync/people-listing.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { Person } from '../sync/ports/people.ts';
import { type EmployeeRecord, PlatformFailure } from '../sync/ports/platform.ts';
import { collectPages } from '../sync/tuning.ts';
import type { SettingsPlan } from './settings.ts';

/**
 * Refreshes the people index now, with the stored settings.
 * @throws Error if another refresh has not ended within 30 s. That refresh may have begun with earlier settings
 */
export async function refreshPeopleNow(
  connection: ConnectionName,
  { functions }: Pick<ToolPorts, 'functions'>,
): Promise<void> {
  const { data } = SkippedReply.safeParse(await functions.run('people', { connection }));
  if (data === undefined) return;
  throw new Error(`employees were not read, because ${data.reports[0].skipped}; groupsync people refresh`);
}

type PeoplePorts = Pick<ToolPorts, 'people' | 'platforms' | 'clock'>;

export interface Planning<Ports> {
  readonly settings: ConnectionSettings;
  readonly ports: Ports;
}

/**
 * Returns the ports for planning with other settings. If the settings change the matches, all employees are read from
 * the platform, because the people index does not contain values that only the new match rules compare.
 * @throws PlatformFailure
 */
export async function planningWith<Ports extends PeoplePorts>(
  { connection, needsPeople }: SettingsPlan,
  settings: ConnectionSettings,
  ports: Ports,
): Promise<Planning<Ports>> {
  if (!needsPeople) return { settings, ports };
  const people = await peopleNow({ ...connection, settings }, ports);
  return { settings, ports: { ...ports, people: { ...ports.people, ...people } } };
}

/**
 * Returns, in memory, the people index that a refresh would produce. Nothing is written.
 * @throws PlatformFailure if an employee cannot be read
 */
async function peopleNow(connection: Connection, { people, platforms, clock }: PeoplePorts) {
  const { name, settings } = connection;
  const fields = matchRules(settings).map(({ employeeField }) => employeeField);
  const platform = await platforms.open(connection);
  const now = new Map<RoleId, Person>();
  const take = async (records: readonly EmployeeRecord[]) => {
    const roles = records.map(({ role }) => role);
    const seen = await people.read(name, roles);
    for (const record of records) now.set(record.role, personAfter(record, seen.get(record.role)));
  };
  for await (const page of platform.employees({ fields, states: settings.includeStates })) {
    if (page instanceof PlatformFailure) throw page;
    await take(page);
  }
  const bound = await collectPages(people.bound(name));
  const listed = new Set(now.keys());
  const asking = { platform, people, bound, fields, listed, nowMs: clock() };
  const { answers, failures } = await askMissing(connection, asking);
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  await take(answers);
  return readingOf(now, settings, people);
}

/** Reads people from the list `now`. People who are not in the list are read from the table. */
function readingOf(
  now: ReadonlyMap<RoleId, Person>,
  settings: ConnectionSettings,
  stored: PeoplePorts['people'],
): PreviewPorts['people'] {
  const all = [...now.values()];
  const ofUser = grouped(all, ({ userId }) => userId);
  const holding = new Map(
    matchRules(settings).map(({ employeeField }) => {
      const field = fieldName(employeeField);
      return [field, grouped(all, ({ values }) => values.get(field))];
    }),
  );
  const others = (found: readonly Person[]) => found.filter(({ role }) => !now.has(role));
  return {
    async read(name, roles) {
      const known = await stored.read(name, roles);
      const listed = roles.flatMap((role) => now.get(role) ?? []);
      return new Map([...known, ...listed.map((one) => [one.role, one] as const)]);
    },
    async holding(name, field, value) {
      const found = holding.get(field)?.get(value) ?? [];
      return [...found, ...others(await stored.holding(name, field, value))];
    },
    async ofUser(name, userId) {
      return [...(ofUser.get(userId) ?? []), ...others(await stored.ofUser(name, userId))];
    },
  };
}
