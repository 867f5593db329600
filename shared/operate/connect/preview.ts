import type { AdoptedPair, AdoptionPlan, MatchPreview } from '../../contract/answers/connect.ts';
import { mayCreate } from '../../contract/group-policy.ts';
import { fieldName, type MatchRule, matchForm, soughtValues } from '../../contract/match-rule.ts';
import { renderName } from '../../contract/name-template.ts';
import { type ConnectionSettings, matchRules } from '../../contract/settings.ts';
import { groupExists, groupFloor, groupName, memberCounts } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { grouped } from '../../domain/grouped.ts';
import { type ConnectionName, type MemberId, type PlatformGroupId, roleId } from '../../domain/ids.ts';
import { STAMP_ZERO } from '../../domain/stamp.ts';
import { clashFinder, type NamedGroup, withSpokeId } from '../../plan/names.ts';
import { choosePerson, mayBeMember, type PlatformRole } from '../../plan/person.ts';
import { whyUncounted } from '../../plan/removal-cause.ts';
import { findRemovedOwners } from '../../sync/claim-group.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { UserState } from '../../sync/ports/desired.ts';
import type { Applicant } from '../../sync/ports/platform.ts';
import { collectPages } from '../../sync/tuning.ts';
import { unmanagedOf } from '../../sync/unmanaged.ts';

export interface InspectInput {
  readonly name: ConnectionName;
  readonly settings: ConnectionSettings;
  readonly applicant: Applicant;
  readonly isNew: boolean;
}

/** The requested fields of one employee. A field that the credential may not read is absent. */
export type SampledEmployee = ReadonlyMap<string, string | null>;

const MEMBERS = 500;
/** The read of employees for the checks and the preview ends after the page with this number. */
export const SAMPLE = 1_000;

export async function previewMatch(
  input: InspectInput,
  employees: readonly SampledEmployee[],
  ports: ToolPorts,
): Promise<MatchPreview> {
  const { settings } = input;
  const roles = employees.map(roleOf);
  const rules = matchRules(settings).map((rule) => {
    const field = fieldName(rule.employeeField);
    return { ...rule, field, holders: holdersOf(field, employees, roles) };
  });
  const members = await someMembers(input, ports);
  const results = members.map((user) => matchOf(user, rules, roles, settings));
  const of = (outcome: MatchResult['outcome']) => results.filter((one) => one.outcome === outcome);
  const matched = of('matched');
  const joining = matched.filter(({ user, mayJoin }) => user.role === undefined && mayJoin);
  return {
    members: members.length,
    byRule: rules.map((rule) => ({
      rule: `${rule.memberAttribute}=${rule.field}`,
      matched: matched.filter((one) => one.rule === rule).length,
    })),
    matched: matched.length,
    ambiguous: of('ambiguous').length,
    unmatched: of('unmatched').length,
    // Employees outside the sample may make a match ambiguous.
    ...(employees.length < SAMPLE && { newlyMatched: joining.length }),
  };
}

interface MatchResult {
  readonly user: UserState;
  readonly outcome: 'matched' | 'ambiguous' | 'unmatched';
  /** The first rule that finds an employee; undefined if no rule does. */
  readonly rule: TriedRule | undefined;
  readonly mayJoin?: boolean;
}

function matchOf(
  user: UserState,
  rules: readonly TriedRule[],
  roles: readonly PlatformRole[],
  settings: ConnectionSettings,
): MatchResult {
  const rule = rules.find((one) => heldValue(user, one) !== undefined);
  const holders = rule?.holders.get(heldValue(user, rule) ?? '') ?? [];
  if (holders.length === 0) return { user, outcome: 'unmatched', rule };
  const users = new Set(holders.flatMap(({ userId }) => userId ?? []));
  const ofSameUsers = roles.filter(({ userId }) => userId !== undefined && users.has(userId));
  const others = ofSameUsers.filter((one) => !holders.includes(one));
  const person = choosePerson(holders, others, settings);
  if (person === undefined) return { user, outcome: 'ambiguous', rule };
  return { user, outcome: 'matched', rule, mayJoin: mayBeMember(person[0], settings) };
}

interface TriedRule extends MatchRule {
  readonly field: string;
  readonly holders: ReadonlyMap<string, readonly PlatformRole[]>;
}

const heldValue = (user: UserState, rule: TriedRule): string | undefined =>
  soughtValues(rule, user).find((value) => rule.holders.has(value));

const holdersOf = (field: string, employees: readonly SampledEmployee[], roles: readonly PlatformRole[]) =>
  grouped(roles, (_, at) => {
    const value = employees[at]?.get(field) ?? '';
    return value.trim() === '' ? undefined : matchForm(field, value);
  });

/** @param at identifies an employee without a readable id */
function roleOf(employee: SampledEmployee, at: number): PlatformRole {
  const userId = employee.get('userId');
  return {
    role: roleId(employee.get('id') ?? `employee ${at}`),
    state: employee.get('roleState') ?? '',
    ...(userId ? { userId } : {}),
  };
}

/** Returns the members of the groups that groupsync writes: the first `MEMBERS`, and others of the last group. */
async function someMembers({ name, settings }: InspectInput, ports: ToolPorts) {
  const members = new Map<MemberId, UserState>();
  for (const { ref } of await collectPages(ports.index.all(name))) {
    const state = await ports.groups.read(ref);
    if (state === undefined || !isWritten(state, settings)) continue;
    for (const user of await membersOf(state, settings, ports)) members.set(user.member, user);
    if (members.size >= MEMBERS) break;
  }
  return [...members.values()];
}

async function membersOf(
  { ref, registers }: GroupState,
  settings: ConnectionSettings,
  { groups, users }: ToolPorts,
) {
  const floor = groupFloor(registers);
  const stored = await groups.members(ref);
  const present = stored.filter((one) => memberCounts(one, floor, STAMP_ZERO)).slice(0, MEMBERS);
  const members = present.map(({ member }) => member);
  const known = await users.read(ref.connection, members);
  return present.flatMap((one) => {
    const user = known.get(one.member);
    if (user === undefined || !memberCounts(one, floor, user.floor)) return [];
    return whyUncounted(user.attributes, settings) === undefined ? user : [];
  });
}

function isWritten(state: GroupState, settings: ConnectionSettings): boolean {
  const name = nameInDirectory(state);
  return name !== undefined && !state.released && mayCreate(settings, state.ref.group, name);
}

type Listed = { readonly id: string; readonly name: string; readonly spokeId: string | null };

/**
 * Returns the groups that the connection would adopt, and the unmanaged platform groups that clash with groups that it
 * would create. A platform group that another existing connection of the company owns is not adopted.
 */
export async function planAdoption(
  { name: connection, settings, company }: InspectInput & { readonly company: string },
  listed: readonly Listed[],
  ports: ToolPorts,
): Promise<AdoptionPlan> {
  const { index, groups, claims } = ports;
  const ids = listed.map(({ id }) => id as PlatformGroupId);
  const owners = (await claims.owners(company, ids)).now;
  const isOfRemoved = await findRemovedOwners(owners, ports);
  const free = listed.filter(({ id }) => {
    const owner = owners.get(id as PlatformGroupId);
    return owner === undefined || owner.connection === connection || isOfRemoved(owner);
  });
  const clashesOf = clashFinder(listed);
  const clashing: (NamedGroup & { readonly group: string })[] = [];
  const bySpokeId: AdoptedPair[] = [];
  let directory = 0;
  for (const { ref } of await collectPages(index.all(connection))) {
    const state = await groups.read(ref);
    const named = state && nameInDirectory(state);
    if (state === undefined || named === undefined) continue;
    directory += 1;
    if (state.link !== undefined) continue;
    const name = renderName(settings.nameTemplate, { name: named, id: ref.group, connection });
    const [carrier] = withSpokeId(free, ref.group);
    if (carrier !== undefined)
      bySpokeId.push({ group: ref.group, name: carrier.name, platformId: carrier.id });
    if (!isWritten(state, settings)) continue;
    const same = clashesOf({ name, spokeId: ref.group });
    clashing.push(...same.map((one) => ({ ...one, group: ref.group })));
  }
  const unmanaged = await unmanagedOf(clashing, company, ports);
  const clashes = unmanaged.map(({ group, id, name }) => ({ group, name, platformId: id }));
  return { existing: listed.length, directory, bySpokeId, clashes };
}

const nameInDirectory = ({ registers }: GroupState): string | undefined =>
  groupExists(registers) ? groupName(registers) : undefined;
