import type {
  ExportedGroup,
  ExportReport,
  GroupMember,
  GroupMembers,
  MissingPerson,
  PastMember,
} from '../contract/answers/groups.ts';
import { blockOf } from '../domain/block.ts';
import type { Gate } from '../domain/gate.ts';
import { groupExists, groupName } from '../domain/group.ts';
import { type GroupRef, type MemberId, memberId, type PlatformUserId } from '../domain/ids.ts';
import type { Decision } from '../plan/decision.ts';
import type { Facts } from '../plan/facts.ts';
import { removalText, whyUncounted } from '../plan/removal-cause.ts';
import { isPresent, isWanted, verdictOf } from '../plan/verdict.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { UserState } from '../sync/ports/desired.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../sync/tuning.ts';
import { readCounted } from './counted-members.ts';
import type { Explaining } from './explain.ts';
import { type NamesPorts, NotFound, usersOf } from './names.ts';
import { listPastMembers, NotKnown, type PastPorts } from './past.ts';
import { identify, previewWhole, verdictFacts } from './who.ts';

/**
 * Lists every member of a directory group and every user of its platform group. Each row says whether the user is in
 * the platform's group, and why. All rows use one preview of the group.
 * @throws NotFound
 */
export async function listMembers(ref: GroupRef, { connection, ports }: Explaining): Promise<GroupMembers> {
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new NotFound(`there is no group ${ref.group}`);
  const [gate, { decision, facts }] = await Promise.all([
    ports.gates.read(ref.connection),
    previewWhole(state, connection, ports),
  ]);
  const present = [...(facts.views?.base?.users.keys() ?? [])];
  const { boundTo, known } = await usersOf(ref, ports);
  const unwanted = present.filter((user) => facts.wanted?.membersByUser.has(user) !== true);
  const kept = unwanted.flatMap((user) => boundTo.get(user)?.member ?? []);
  const members = [...new Set([...wantedIn(facts), ...kept])].sort();
  const about = { decision, facts, gate, known };
  const rows = await mapConcurrently(READS_IN_FLIGHT, members, (member) =>
    rowOf(member, about, { connection, ports }),
  );
  const external = unwanted.filter((user) => !boundTo.has(user)).map(externalRow);
  return { group: ref.group, name: groupName(state.registers) ?? null, members: [...rows, ...external] };
}

const wantedIn = ({ wanted }: Facts): readonly MemberId[] => [
  ...[...(wanted?.membersByUser.values() ?? [])].flatMap((members) => members.map(({ member }) => member)),
  ...(wanted?.pending.keys() ?? []),
];

interface About {
  readonly decision: Decision;
  readonly facts: Facts;
  readonly gate: Gate;
  readonly known: ReadonlyMap<MemberId, UserState>;
}

async function rowOf(
  member: MemberId,
  { decision, facts, gate, known }: About,
  { connection, ports }: Explaining,
): Promise<GroupMember> {
  const who = await identify(member, facts.state, connection, ports);
  const asked = verdictFacts(who, { facts, decision, gate, connection });
  const { outcome, detail } = verdictOf(asked);
  const user = known.get(member) ?? who.user;
  return {
    member,
    name: attributeOf(user, 'name', 'displayName'),
    email: attributeOf(user, 'email', 'userName'),
    user: who.platformUser ?? null,
    wanted: isWanted(asked),
    present: isPresent(asked),
    outcome,
    because: detail,
  };
}

function attributeOf(user: UserState | undefined, ...names: readonly string[]): string | null {
  const values = names.map((name) => user?.attributes.get(name)?.value);
  return values.find((value) => value !== undefined && value !== '') ?? null;
}

const externalRow = (user: PlatformUserId): GroupMember => ({
  member: null,
  name: null,
  email: null,
  user,
  wanted: false,
  present: true,
  outcome: 'external',
  because: 'no member of the directory is this user: another client has added the user',
});

/**
 * Returns the members of each group, in a form that `import` can read.
 * @param atMs returns who was in the platform group at this time; undefined: the present members in the directory
 * @throws NotKnown if the members of the only group at this time are not known
 */
export async function exportGroups(
  refs: readonly GroupRef[],
  { connection, ports }: Exporting,
  atMs?: number,
): Promise<ExportReport> {
  const unknown: string[] = [];
  const exported = await mapConcurrently(READS_IN_FLIGHT, refs, (ref) =>
    atMs === undefined
      ? exportGroup(ref, ports)
      : exportPast(ref, atMs, { connection, ports }).catch((error: unknown) => {
          if (!(error instanceof NotKnown) || refs.length === 1) throw error;
          unknown.push(ref.group);
          return undefined;
        }),
  );
  return {
    groups: exported.filter((one) => one !== undefined),
    leftOut: refs.flatMap(({ group }, at) => (exported[at] === undefined ? [group] : [])),
    ...(unknown.length > 0 && { unknown }),
  };
}

interface Exporting {
  readonly connection: Connection;
  readonly ports: NamesPorts & PastPorts;
}

/**
 * Returns the members of an earlier time. A present member is left out only if the user is on the platform now and was
 * not then, so pending, blocked and excluded members stay. A present member of the same user replaces a former one.
 * @returns also undefined if there were no members, if the group belongs or moves to another source, or if the group contains
 * groups, which a snapshot of its people would remove
 * @throws NotKnown
 */
async function exportPast(ref: GroupRef, atMs: number, { connection, ports }: Exporting) {
  const { containsGroups = false, movedTo, openMove } = (await ports.groups.read(ref)) ?? {};
  if (containsGroups || (movedTo ?? openMove) !== undefined) return undefined;
  const now = await exportGroup(ref, ports);
  if (now === undefined) return undefined;
  const past = await listPastMembers(ref, [atMs, ports.clock()], ports);
  if (!past.known) throw new NotKnown(past);
  const before = past.members.filter(({ states: [then] }) => then !== 'out');
  const present = new Set(now.members.map(({ id }) => memberId(id)));
  const known = await ports.users.read(ref.connection, [...before.map(memberOf), ...present]);
  const isOf = ({ role, userId }: Partial<UserState> = {}, user: string) => role === user || userId === user;
  const otherOf = (user: string) => now.members.find(({ id }) => isOf(known.get(memberId(id)), user));
  const judged = before.map((row) => {
    const user = known.get(memberOf(row));
    return { row, user, because: whyLeftOut(row, user, connection) };
  });
  const returning = judged.flatMap(({ row, user, because }) => {
    const { member, states } = row;
    const isPresent = present.has(memberOf(row));
    if (states[0] !== 'in' || member === null || (because && !isPresent)) return [];
    const other = states[1] === 'in' && !isPresent ? otherOf(row.user) : undefined;
    return [other ?? { id: member, email: attributeOf(user, 'email') }];
  });
  if (returning.length === 0) return undefined;
  const joined = past.members.filter(({ states: [then, today] }) => then === 'out' && today !== 'out');
  const left = new Set([...returning.map(({ id }) => id), ...joined.map(({ member }) => member)]);
  const unresolved = judged.flatMap(({ row: { user, member, name }, because }) =>
    because === undefined ? [] : [{ user, member, name, because }],
  );
  return {
    ...now,
    members: [...returning, ...now.members.filter(({ id }) => !left.has(id))],
    unresolved,
  };
}

const memberOf = ({ member }: PastMember): MemberId => memberId(member ?? '');

function whyLeftOut(
  { states: [then, now], member }: PastMember,
  user: UserState | undefined,
  { settings, blocks }: Connection,
): MissingPerson['because'] | undefined {
  if (then === 'uncertain') return 'it is uncertain whether they were in the group';
  if (now === 'in') return undefined;
  if (member === null || user === undefined)
    return 'no member that the directory has had in the group is this user now';
  const uncounted = whyUncounted(user.attributes, settings);
  if (uncounted !== undefined) return removalText(uncounted.cause, uncounted.detail);
  return blockOf(blocks, user) && removalText('blocked');
}

/** @returns undefined for a group that the directory has deleted or not named, because `import` cannot represent it */
async function exportGroup(ref: GroupRef, ports: NamesPorts): Promise<ExportedGroup | undefined> {
  const { state, registers, known, counts } = await readCounted(ref, ports);
  const name = state && groupExists(state.registers) ? groupName(state.registers) : undefined;
  if (name === undefined) return undefined;
  const members = registers.filter(counts);
  return {
    group: ref.group,
    name,
    unresolved: [],
    members: members.map(({ member }) => ({ id: member, email: attributeOf(known.get(member), 'email') })),
  };
}
