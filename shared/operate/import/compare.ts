import type { ImportComparison, OtherSource } from '../../contract/answers/files.ts';
import { mayCreate } from '../../contract/group-policy.ts';
import { renderName } from '../../contract/name-template.ts';
import type { GroupState, PendingCause, StoredMember } from '../../domain/group-state.ts';
import { holdsOf } from '../../domain/hold.ts';
import { type GroupRef, groupId, type MemberId, memberId, platformGroupId } from '../../domain/ids.ts';
import { laterStamp, makeStamp, readStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../../domain/stamp.ts';
import type { ListedGroup } from '../../domain/view.ts';
import { EMPTIED_ALWAYS, isEmptied, judgeByLimits, NOTHING_REMOVED } from '../../plan/guard.ts';
import { clashFinder } from '../../plan/names.ts';
import { whyUncounted } from '../../plan/removal-cause.ts';
import { findRemovedOwners } from '../../sync/claim-group.ts';
import { currentEligibility } from '../../sync/match/resolve.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { type UserState, undescribed } from '../../sync/ports/desired.ts';
import type { Person } from '../../sync/ports/people.ts';
import { failureIn } from '../../sync/ports/platform.ts';
import { countSmallGroups } from '../../sync/small-groups.ts';
import { collectPages, mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { unmanagedOf } from '../../sync/unmanaged.ts';
import { readCounted } from '../counted-members.ts';
import { type OtherSourcePorts, ofOtherSources } from '../other-source.ts';
import type { FileKind } from './identify.ts';
import { byGroup } from './row-sort.ts';
import type { Row } from './rows.ts';

const LISTED = 100;

type ComparePorts = Pick<
  ToolPorts,
  'groups' | 'users' | 'people' | 'index' | 'platforms' | 'claims' | 'connections'
> &
  OtherSourcePorts;

export interface Comparing {
  readonly asOf: string;
  readonly kind: FileKind;
  /** An undo names the events since this time that it overrides. */
  readonly undoneSinceMs?: number | undefined;
  readonly onChange?: ((group: string, member: MemberId, isAdded: boolean) => void) | undefined;
}

type Found = ReturnType<typeof nothingFound>;

const nothingFound = () => ({
  added: 0,
  removed: 0,
  unmatched: 0,
  excluded: 0,
  superseded: 0,
  /** The number of small groups that the import would empty without a hold. */
  emptied: 0,
  smallGroups: undefined as number | undefined,
  pending: new Map<PendingCause, number>(),
  changes: [] as ImportComparison['changes'][number][],
  changedSince: [] as string[],
  otherSources: [] as OtherSource[],
  newGroups: [] as { readonly group: string; readonly groupName: string }[],
  otherIds: [] as OtherId[],
  held: [] as string[],
  ends: [] as EndedDecision[],
  renamed: [] as ImportComparison['renamed'][number][],
  created: [] as { readonly group: string; readonly name: string }[],
});

/**
 * Returns the changes that the import of a file would make. Each group is compared with the stored desired state. A
 * stored value that is later than the file is not changed by the import.
 */
export async function compareWithNow(
  rows: readonly Row[],
  comparing: Comparing,
  connection: Connection,
  ports: ComparePorts,
): Promise<ImportComparison> {
  const found = nothingFound();
  for (const some of byGroup(rows)) {
    const [{ group, name: groupName, kind }] = some;
    const listed = some.filter(({ member }) => member !== '');
    const members = new Map(listed.map((row) => [memberId(row.member), row]));
    await compareGroup({ group, groupName, kind, members }, found, { ...comparing, connection, ports });
  }
  const { created, pending, emptied, smallGroups, otherSources, excluded, ...counted } = found;
  return {
    ...counted,
    ...(excluded > 0 && { excluded }),
    ...(otherSources.length > 0 && { otherSources }),
    pending: [...pending].map(([cause, count]) => ({ cause, count })),
    clashes: await clashesOf(created, connection, ports),
  };
}

interface Context extends Comparing {
  readonly connection: Connection;
  readonly ports: ComparePorts;
}

async function compareGroup(file: FileGroup, found: Found, context: Context): Promise<void> {
  const { asOf, connection, ports, onChange } = context;
  const { group, members, kind = context.kind } = file;
  const stamp = makeStamp({ time: asOf, id: 'import', source: '' });
  const ref = { connection: connection.name, group: groupId(group) };
  const present = await readNow(ref, [...members.keys()], ports);
  const { now, own, latestOf } = present;
  if (present.latest > stamp) found.changedSince.push(group);
  found.otherSources.push(...(await ofOtherSources(connection, [ref.group], ports)));
  if (kind === 'snapshot') compareName(file, present, found, { stamp, connection });
  const leavingFrom = (some: ReadonlySet<MemberId>) =>
    kind === 'add' ? [] : [...some].filter((one) => members.has(one) === (kind === 'remove'));
  const joiningTo = (some: ReadonlySet<MemberId>) =>
    kind === 'remove' ? [] : [...members].filter(([member]) => !some.has(member));
  const isOpen = (member: MemberId) => latestOf(member) <= stamp;
  const [leaving, joining] = [leavingFrom(now), joiningTo(now)];
  const gone = leaving.filter(isOpen);
  const fresh = joining.filter(([member]) => isOpen(member));
  for (const member of leavingFrom(own)) if (isOpen(member)) onChange?.(group, member, false);
  for (const [member] of joiningTo(own)) if (isOpen(member)) onChange?.(group, member, true);
  found.superseded += leaving.length - gone.length + joining.length - fresh.length;
  const excluded = newlyExcluded(file, present, { stamp, connection });
  found.excluded += excluded.length;
  const removed = [...gone, ...excluded];
  const about = (member: MemberId) => overridden(member, present, context);
  for (const member of removed) note('removed', member, file, found, about(member));
  await countJoining(fresh, { file, found, present, stamp, context, about });
  if (await isHeld(removed.length, present.size, found, context)) found.held.push(group);
}

const newlyExcluded = (
  { members }: FileGroup,
  { now, known }: Present,
  { stamp, connection }: { readonly stamp: Stamp; readonly connection: Connection },
) =>
  [...members].flatMap(([member, row]) => {
    const user = known.get(member) ?? undescribed(member);
    const isChanged = !isExcluded(user, connection) && isExcluded(afterRow(user, row, stamp), connection);
    return now.has(member) && isChanged ? [member] : [];
  });

const isExcluded = ({ attributes }: UserState, { settings }: Connection): boolean =>
  whyUncounted(attributes, settings)?.cause === 'excluded';

/** Whether the guard would hold the removals from a group. The emptied small groups of the file are counted. */
async function isHeld(removals: number, size: number, found: Found, { connection, ports }: Context) {
  const limits = connection.settings.guard;
  if (limits === null) return false;
  if (found.emptied === EMPTIED_ALWAYS)
    found.smallGroups ??= await countSmallGroups(connection.name, limits.minSize, ports);
  const recent = {
    ...NOTHING_REMOVED,
    emptiedGroups: found.emptied,
    smallGroups: found.smallGroups ?? 0,
  };
  const { allowed } = judgeByLimits({ limits, size, removals, deletesGroup: false, recent });
  if (allowed && isEmptied({ removals, largestSize: size }, limits)) found.emptied += 1;
  return !allowed;
}

type About = Pick<ImportComparison['changes'][number], 'overrides' | 'pending'>;

function overridden(
  member: MemberId,
  { registers, state, known, latestOf }: Present,
  { undoneSinceMs = Infinity }: Context,
): About {
  const stamp = latestOf(member);
  const event = readStamp(stamp);
  if (event === undefined || stampTimeMs(stamp) <= undoneSinceMs) return {};
  const register = registers.find((one) => one.member === member);
  const authors = [register, state?.registers.author, known.get(member)?.author];
  const actor = authors.find((one) => one?.stamp === stamp)?.actor;
  const { id, source, time } = event;
  return { overrides: { id, source, time, by: actor?.name ?? actor?.id ?? null } };
}

/** Lists the first hundred members of each kind, and counts all members. */
function note(
  kind: 'added' | 'removed' | 'unmatched',
  member: MemberId,
  { group, groupName, members }: FileGroup,
  found: Found,
  about: About = {},
): void {
  found[kind] += 1;
  const email = members.get(member)?.email || null;
  if (found[kind] <= LISTED) found.changes.push({ kind, group, groupName, member, email, ...about });
}

type Present = Awaited<ReturnType<typeof readNow>>;

function compareName(
  { group, groupName }: FileGroup,
  { state, name }: Present,
  found: Found,
  { stamp, connection }: { readonly stamp: Stamp; readonly connection: Connection },
): void {
  if (state === undefined) found.newGroups.push({ group, groupName });
  const isNamedByFile = name === undefined || name.stamp < stamp;
  const willBeNamed = isNamedByFile ? groupName : name.value;
  const isOnPlatform = state?.link !== undefined || state?.released === true;
  if (!isOnPlatform && mayCreate(connection.settings, group, willBeNamed))
    found.created.push({ group, name: willBeNamed });
  if (name === undefined || name.value === groupName) return;
  if (isNamedByFile) found.renamed.push({ group, before: name.value, groupName });
  else found.superseded += 1;
}

interface Joining {
  readonly file: FileGroup;
  readonly found: Found;
  readonly present: Present;
  readonly stamp: Stamp;
  readonly context: Context;
  readonly about: (member: MemberId) => About;
}

async function countJoining(
  joining: readonly (readonly [MemberId, Row])[],
  { file, found, present: { state, known }, stamp, context: { connection, ports }, about }: Joining,
): Promise<void> {
  const described = joining.map(([member, row]) =>
    afterRow(known.get(member) ?? undescribed(member), row, stamp),
  );
  const fresh = described.filter((user) => !isExcluded(user, connection));
  found.excluded += joining.length - fresh.length;
  const eligibilities = await mapConcurrently(READS_IN_FLIGHT, fresh, (user) =>
    currentEligibility(user, undefined, { connection, people: ports.people }),
  );
  for (const [at, { member }] of fresh.entries()) {
    const cause = eligibilities[at]?.cause ?? 'solved';
    note('added', member, file, found, { ...about(member), ...(cause !== 'solved' && { pending: cause }) });
    if (cause === 'unknown') note('unmatched', member, file, found);
    if (cause !== 'solved') found.pending.set(cause, (found.pending.get(cause) ?? 0) + 1);
  }
  const solved = eligibilities.flatMap(({ cause, person }) => (cause === 'solved' && person ? person : []));
  if (state !== undefined) found.ends.push(...(await endedDecisions(state, solved, ports)));
  const newcomers = fresh.flatMap(({ member }, at) => {
    const person = eligibilities[at]?.person;
    return person === undefined || known.has(member) ? [] : [{ member, person }];
  });
  found.otherIds.push(...(await knownUnderOtherIds(newcomers, connection, ports)));
}

/** Returns a user with the attributes of a row. A known user keeps the address, and each later stored value. */
function afterRow(user: UserState, { email, attributes }: Row, stamp: Stamp): UserState {
  const values = { ...(user.attributes.size === 0 && email !== '' && { email }), ...attributes };
  const isNewer = ([name]: readonly [string, unknown]) =>
    (user.attributes.get(name)?.stamp ?? STAMP_ZERO) < stamp;
  const given = Object.entries(values).map(([name, value]) => [name, { value, stamp }] as const);
  return { ...user, attributes: new Map([...user.attributes, ...given.filter(isNewer)]) };
}

/**
 * Finds platform groups that have the names of new groups. A group that groupsync manages cannot be adopted.
 * @returns null if the platform cannot be read
 */
async function clashesOf(
  created: readonly { readonly group: string; readonly name: string }[],
  connection: Connection,
  ports: ComparePorts,
): Promise<ImportComparison['clashes']> {
  if (created.length === 0) return [];
  const { name: connectionName, company, settings } = connection;
  let listed: readonly ListedGroup[] = [];
  const failure = await failureIn(async () => {
    listed = await (await ports.platforms.open(connection)).groups.list(0);
  });
  if (failure !== undefined) return null;
  const clashesWith = clashFinder(listed);
  const find = (isLinkedById: boolean) =>
    created.flatMap(({ group, name }) => {
      const sent = renderName(settings.nameTemplate, { name, id: group, connection: connectionName });
      const spokeId = isLinkedById ? group : null;
      return clashesWith({ name: sent, spokeId }).map((one) => ({ ...one, group }));
    });
  const unmanaged = await unmanagedOf(find(true), company, ports);
  const same = find(false);
  const owners = (
    await ports.claims.owners(
      company,
      same.map(({ id }) => platformGroupId(id)),
    )
  ).now;
  const isOfRemoved = await findRemovedOwners(owners, ports);
  const managed = same.flatMap(({ id, group, name }) => {
    const owner = owners.get(platformGroupId(id));
    const isOwn = owner?.group === group && owner.connection === connectionName;
    if (owner === undefined || isOwn || isOfRemoved(owner)) return [];
    const isHere = owner.connection === connectionName;
    const managedBy = { group: owner.group, connection: isHere ? null : owner.connection };
    return [{ group, name, platformId: id, managedBy }];
  });
  return [...unmanaged.map(({ group, id, name }) => ({ group, name, platformId: id })), ...managed];
}

async function readNow(ref: GroupRef, members: readonly MemberId[], ports: ComparePorts) {
  const { state, registers, ids, known, floor, counts } = await readCounted(ref, ports, members);
  // A member of a group within the group may also be a member of the group itself.
  const own = state?.containsGroups ? await ports.groups.registers(ref, [...ids]) : registers;
  const membersOf = (some: readonly StoredMember[]) =>
    new Set(some.filter(counts).map(({ member }) => member));
  const now = membersOf(registers);
  const stampOf = new Map(own.map((one) => [one.member, one.stamp]));
  /** Returns the stamp of the latest event about the member, or about all members of the group. */
  const latestOf = (member: MemberId) =>
    [floor, stampOf.get(member), known.get(member)?.floor].reduce<Stamp>(
      (last, stamp = STAMP_ZERO) => laterStamp(last, stamp),
      STAMP_ZERO,
    );
  const size = Math.max(now.size, state?.link?.view.size ?? 0);
  const name = state?.registers.name;
  const stamps = [floor, name?.stamp ?? STAMP_ZERO, ...stampOf.values()];
  const latest = stamps.reduce(laterStamp);
  return { state, registers: own, now, own: membersOf(own), known, latestOf, size, name, latest };
}

interface FileGroup {
  readonly group: string;
  readonly groupName: string;
  readonly kind: Row['kind'];
  readonly members: Map<MemberId, Row>;
}

type EndedDecision = NonNullable<ImportComparison['ends']>[number];

/** Returns the decisions about removals of a group that end, because one of these people joins (`judgeRemovals`). */
async function endedDecisions(
  state: GroupState,
  people: readonly Person[],
  { groups }: Pick<ToolPorts, 'groups'>,
): Promise<readonly EndedDecision[]> {
  const joining = new Set<string>(people.flatMap(({ role, userId = role }) => [role, userId]));
  const ended: EndedDecision[] = [];
  for (const hold of holdsOf(state)) {
    const { decision } = hold;
    if (decision.kind === 'waiting') continue;
    const users = (await groups.readHeld(state.ref, hold)) ?? [];
    if ([...users].some((user) => joining.has(user)))
      ended.push({ group: state.ref.group, decision: decision.kind, by: decision.by });
  }
  return ended;
}

type OtherId = NonNullable<ImportComparison['otherIds']>[number];

/**
 * Returns the newcomers whose person is already a member under another id. This happens if the file comes from another
 * system than the directory. If the directory later removed the person under its own id, the person would stay in the
 * group under the id from the file.
 */
async function knownUnderOtherIds(
  newcomers: readonly { readonly member: MemberId; readonly person: Person }[],
  { name }: Connection,
  { people, users }: Pick<ToolPorts, 'people' | 'users'>,
): Promise<readonly OtherId[]> {
  const found = await mapConcurrently(READS_IN_FLIGHT, newcomers, async ({ member, person }) => {
    const bound = await collectPages(people.membersBoundTo(name, person.role));
    const others = bound.map((one) => one.member).filter((one) => one !== member);
    const known = others.length === 0 ? undefined : await users.read(name, others);
    const other = others.find((one) => known?.get(one)?.role === person.role);
    return other === undefined ? [] : [{ member, known: other }];
  });
  return found.flat();
}
