import type { AdoptedPair, AdoptionPlan, MatchPreview } from '../../contract/answers.ts';
import { mayCreate } from '../../contract/group-policy.ts';
import { fieldName, type MatchRule, matchForm, soughtValues } from '../../contract/match-rule.ts';
import { renderName } from '../../contract/name-template.ts';
import { type ConnectionSettings, matchRules } from '../../contract/settings.ts';
import { groupExists, groupName } from '../../domain/group.ts';
import { type ConnectionName, type MemberId, type PlatformGroupId, roleId } from '../../domain/ids.ts';
import { clashFinder, type NamedGroup } from '../../plan/name-clash.ts';
import { carrying, namedLike } from '../../plan/names.ts';
import { choosePerson, type Role } from '../../plan/person.ts';
import { leftBehind } from '../../sync/claim-group.ts';
import { gather } from '../../sync/gather.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { UserState } from '../../sync/ports/desired.ts';
import type { Applicant } from '../../sync/ports/platform.ts';
import { unmanagedOf } from '../../sync/unmanaged.ts';

export interface InspectInput {
  readonly name: ConnectionName;
  readonly settings: ConnectionSettings;
  readonly applicant: Applicant;
  /** No connection of this name is stored yet. */
  readonly isNew: boolean;
}

/** What one employee shows of the fields asked for; a field that the credential may not see is absent. */
export type SampledEmployee = ReadonlyMap<string, string | null>;

const MEMBERS = 500;

/** Tries the rules on members that are known already, against the employees that were looked at. */
export async function previewMatch(
  { name, settings }: InspectInput,
  employees: readonly SampledEmployee[],
  ports: ToolPorts,
): Promise<MatchPreview> {
  const roles = employees.map(roleOf);
  const rules = matchRules(settings).map(({ memberAttribute, employeeField }) => {
    const field = fieldName(employeeField);
    return { memberAttribute, employeeField, field, holders: holdersOf(field, employees, roles) };
  });
  const byRule = rules.map(({ memberAttribute, field }) => ({
    rule: `${memberAttribute}=${field}`,
    matched: 0,
  }));
  const counts = { matched: 0, ambiguous: 0, unmatched: 0, newlyMatched: 0 };
  const members = await someMembers(name, ports);
  for (const user of members) {
    const found = rules.findIndex((rule) => heldValue(user, rule) !== undefined);
    const rule = rules[found];
    const holders = rule === undefined ? [] : (rule.holders.get(heldValue(user, rule) ?? '') ?? []);
    const others = roles.filter(
      (one) =>
        one.userId !== undefined &&
        !holders.includes(one) &&
        holders.some(({ userId }) => userId === one.userId),
    );
    if (holders.length === 0) counts.unmatched += 1;
    else if (choosePerson(holders, others, settings) === undefined) counts.ambiguous += 1;
    else {
      counts.matched += 1;
      if (user.role === undefined) counts.newlyMatched += 1;
      const row = byRule[found];
      if (row !== undefined) row.matched += 1;
    }
  }
  return { members: members.length, byRule, ...counts };
}

interface TriedRule extends MatchRule {
  readonly field: string;
  readonly holders: ReadonlyMap<string, readonly Role[]>;
}

/** The member's value, if some employee has it. */
const heldValue = (user: UserState, rule: TriedRule): string | undefined =>
  soughtValues(rule, user).find((value) => rule.holders.has(value));

function holdersOf(
  field: string,
  employees: readonly SampledEmployee[],
  roles: readonly Role[],
): ReadonlyMap<string, readonly Role[]> {
  const holders = new Map<string, Role[]>();
  for (const [at, employee] of employees.entries()) {
    const value = employee.get(field);
    const role = roles[at];
    if (role === undefined || value == null || value.trim() === '') continue;
    const form = matchForm(field, value);
    holders.set(form, [...(holders.get(form) ?? []), role]);
  }
  return holders;
}

/** @param at replaces the id of an employee that shows none */
function roleOf(employee: SampledEmployee, at: number): Role {
  const userId = employee.get('userId');
  return {
    role: roleId(employee.get('id') ?? `employee ${at}`),
    state: employee.get('roleState') ?? '',
    ...(userId ? { userId } : {}),
  };
}

async function someMembers(connection: ConnectionName, { index, groups, users }: ToolPorts) {
  const members = new Set<MemberId>();
  for await (const page of index.all(connection)) {
    for (const { ref } of page) {
      for (const { member, value } of await groups.members(ref)) {
        if (value === 'present') members.add(member);
      }
      if (members.size >= MEMBERS) break;
    }
    if (members.size >= MEMBERS) break;
  }
  const known = await users.read(connection, [...members].slice(0, MEMBERS));
  return [...known.values()];
}

type Listed = { readonly id: string; readonly name: string; readonly spokeId: string | null };

/** The groups that the connection would adopt. A platform group of another live connection of the company is not adopted. */
export async function planAdoption(
  { name: connection, settings, company }: InspectInput & { readonly company: string },
  listed: readonly Listed[],
  ports: ToolPorts,
): Promise<AdoptionPlan> {
  const { index, groups, claims } = ports;
  const ids = listed.map(({ id }) => id as PlatformGroupId);
  const owners = (await claims.owners(company, ids)).now;
  const isLeft = await leftBehind(owners, ports);
  const free = listed.filter(({ id }) => {
    const owner = owners.get(id as PlatformGroupId);
    return owner === undefined || owner.connection === connection || isLeft(owner);
  });
  const clashesOf = clashFinder(listed, settings.adoptExisting);
  const clashing: (NamedGroup & { readonly group: string })[] = [];
  const pairs: Record<'bySpokeId' | 'byName', AdoptedPair[]> = { bySpokeId: [], byName: [] };
  let directory = 0;
  for (const { ref } of await gather(index.all(connection))) {
    const state = await groups.read(ref);
    const named = state && groupExists(state.registers) ? groupName(state.registers) : undefined;
    if (state === undefined || named === undefined) continue;
    directory += 1;
    if (state.platformId !== undefined) continue;
    const name = renderName(settings.nameTemplate, { name: named, id: ref.group, connection });
    const found = candidateFor(ref.group, name, free);
    if (found !== undefined) pairs[found.by].push(found.pair);
    if (state.released || !mayCreate(settings, ref.group, named)) continue;
    const same = clashesOf({ name, spokeId: ref.group });
    clashing.push(...same.map((one) => ({ ...one, group: ref.group })));
  }
  const unmanaged = await unmanagedOf(clashing, company, ports);
  const clashes = unmanaged.map(({ group, id, name }) => ({ group, name, platformId: id }));
  return { existing: listed.length, directory, ...pairs, clashes };
}

function candidateFor(group: string, name: string, listed: readonly Listed[]) {
  const pairWith = ({ id, name: shown }: Listed): AdoptedPair => ({ group, name: shown, platformId: id });
  const [carrier] = carrying(listed, group);
  if (carrier !== undefined) return { by: 'bySpokeId' as const, pair: pairWith(carrier) };
  const [only, ...others] = namedLike(listed, name);
  return only === undefined || others.length > 0
    ? undefined
    : { by: 'byName' as const, pair: pairWith(only) };
}
