import pMap from 'p-map';
import { groupFloor, memberCounts } from '../../shared/domain/group.ts';
import type { GroupState, StoredMember } from '../../shared/domain/group-state.ts';
import { type ConnectionName, type MemberId, memberId } from '../../shared/domain/ids.ts';
import { laterStamp, STAMP_ZERO, stampTimeMs } from '../../shared/domain/stamp.ts';
import { registersIn } from '../../shared/operate/find-member.ts';
import { instant } from '../../shared/operate/status.ts';
import { personsBoundTo } from '../../shared/sync/match/resolve.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { UserState } from '../../shared/sync/ports/desired.ts';
import type { BoundTo } from '../../shared/sync/ports/people.ts';
import { matchesText } from '../search.ts';

export interface PersonName {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
}

/** A member in a group's events, with the data of the directory and the matching platform user. */
export interface KnownMember {
  readonly register: StoredMember;
  readonly state: UserState | undefined;
  readonly user: string | undefined;
  readonly isWanted: boolean;
}

export const nameOf = (id: string, state: UserState | undefined): PersonName => {
  const value = (key: string) => state?.attributes.get(key)?.value || null;
  return { id, name: value('name') ?? value('displayName'), email: value('email') ?? value('userName') };
};

export const departmentOf = (state: UserState | undefined): string | null =>
  state?.attributes.get('department')?.value || null;

/** Returns the time of the latest event about a membership, such as a list of the group without the member. */
export function sinceOf(
  { register, isWanted }: Pick<KnownMember, 'register' | 'isWanted'>,
  { registers }: Pick<GroupState, 'registers'>,
): string | null {
  const { value, stamp } = register;
  const isEnded = value === 'present' && !isWanted;
  return instant(stampTimeMs(isEnded ? laterStamp(stamp, groupFloor(registers)) : stamp));
}

export async function namesOf(
  connection: ConnectionName,
  ids: Iterable<string>,
  ports: Pick<ToolPorts, 'users'>,
): Promise<ReadonlyMap<string, PersonName>> {
  const unique = [...new Set(ids)];
  const users = await ports.users.read(connection, unique.map(memberId));
  return new Map(unique.map((id) => [id, nameOf(id, users.get(memberId(id)))]));
}

/** Returns the members of a group's events. @param only restricts the result to these members */
export async function knownMembers(
  state: GroupState,
  ports: ToolPorts,
  only?: readonly MemberId[],
): Promise<readonly KnownMember[]> {
  const { ref, registers } = state;
  const { connection } = ref;
  const members = await (only === undefined ? ports.groups.members(ref) : registersIn(state, only, ports));
  const users = await ports.users.read(
    connection,
    members.map(({ member }) => member),
  );
  const current = await ports.connections.find(connection);
  const bindings = members.map(({ member, user }): Partial<BoundTo> => users.get(member) ?? user ?? {});
  const persons = current === undefined ? [] : await personsBoundTo(bindings, current, ports.people);
  const userOf = (at: number) =>
    current?.settings.memberIdField === 'id'
      ? bindings[at]?.role
      : (persons[at]?.userId ?? bindings[at]?.userId);
  return members.map((register, at) => {
    const state = users.get(register.member);
    const floor = state?.floor ?? register.user?.floor ?? STAMP_ZERO;
    const isWanted = memberCounts(register, groupFloor(registers), floor);
    return { register, state, user: userOf(at), isWanted };
  });
}

const MAX_FOUND = 50;

/** Searches members by part of an id, name or address, without case and accents. An exact id comes first. */
export async function findPeople(
  connection: ConnectionName,
  text: string,
  allMembers: () => Promise<readonly PersonName[]>,
  ports: ToolPorts,
): Promise<readonly PersonName[]> {
  const id = memberId(text.trim());
  const known = (await ports.users.read(connection, [id])).get(id);
  const exact = known === undefined ? [] : [nameOf(id, known)];
  const others = (await allMembers()).filter(
    (one) => one.id !== exact[0]?.id && matchesText([one.id, one.name, one.email], text),
  );
  return [...exact, ...others].slice(0, MAX_FOUND);
}

const GROUPS_AT_ONCE = 16;

/** Reads the members of all groups and sorts them by name, because the table has no list of users. */
export async function readAllMembers(
  connection: ConnectionName,
  ports: ToolPorts,
): Promise<readonly PersonName[]> {
  const ids = new Set<MemberId>();
  for await (const page of ports.index.all(connection)) {
    const members = await pMap(page, ({ ref }) => ports.groups.members(ref), { concurrency: GROUPS_AT_ONCE });
    for (const { member } of members.flat()) ids.add(member);
  }
  const names = [...(await namesOf(connection, ids, ports)).values()];
  return names.sort((a, b) => (a.name ?? a.id).localeCompare(b.name ?? b.id));
}
