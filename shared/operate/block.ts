import type { BlockedGroup } from '../contract/answers/block.ts';
import { policyFor } from '../contract/group-policy.ts';
import { type Block, type BlockedIds, blockedUsers, blockOf } from '../domain/block.ts';
import type { Gate } from '../domain/gate.ts';
import { groupName } from '../domain/group.ts';
import type { GroupState } from '../domain/group-state.ts';
import { type ConnectionName, memberId, type PlatformUserId, roleId } from '../domain/ids.ts';
import { personsOf } from '../plan/person.ts';
import { whyReleased } from '../plan/release.ts';
import { hasSameIds, idsOfPerson } from '../sync/people-wake.ts';
import type { ToolPorts, WakePorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { collectPages, mapConcurrently, READS_IN_FLIGHT } from '../sync/tuning.ts';
import { wakeAll } from '../sync/wake.ts';
import { findMember, groupsOfMember, rolesHolding } from './find-member.ts';
import { doRecorded, type JournalPorts, journalOf } from './journal.ts';
import { NotFound, Refused } from './names.ts';
import { requireConnection } from './settings.ts';
import { obstacleTo } from './who.ts';

type BlockPorts = JournalPorts &
  WakePorts &
  Pick<ToolPorts, 'connections' | 'desired' | 'gates' | 'groups' | 'index' | 'people' | 'scim' | 'users'>;

/** The maximum number of blocked people. The connection's item has at most 400 KB, and each pass of apply reads it. */
const MAX_BLOCKS = 200;
const MAX_REASON = 1_000;
const MAX_RACES = 20;

interface BlockOutcome {
  readonly outcome: 'blocked' | 'already_blocked';
  readonly block: Block;
}

/**
 * Blocks a person: no group of the connection may contain this person until `unblockPerson`. The block is stored on the
 * connection's item, which each pass of apply reads. So a worker that reads a woken group also reads the block.
 * `replanSinceMs` makes the requeue job mark all groups dirty later, for groups that the index does not show yet.
 *
 *     journal ──▶ block on the connection ──▶ person's groups marked dirty, woken ──▶ (all groups marked dirty)
 *
 * @param text a member's id, address or name, or an employee's id, user id or value that a match rule compares
 * @throws NotFound with similar names if no person or several people match
 */
export async function blockPerson(
  name: ConnectionName,
  { text, reason }: { readonly text: string; readonly reason: string },
  ports: BlockPorts,
): Promise<BlockOutcome> {
  if (reason.length > MAX_REASON)
    throw new Error(`the reason: expected at most ${MAX_REASON} characters, got ${reason.length}`);
  return changeBlocks<BlockOutcome>(name, ports, async (connection, blocks) => {
    const ids = await findPerson(text, connection, ports);
    const same = blocks.filter((one) => isOfSame(one, ids));
    const [known] = same;
    const isRequested = same.some(({ unblock }) => unblock !== undefined);
    // Members of a blocked employee are blocked anyway, and the next refresh of people adds their ids.
    const isWhole = known && hasSameIds({ ...merged(known, ids), members: known.members }, known);
    if (isWhole && !isRequested) return { result: { outcome: 'already_blocked', block: known } };
    if (known === undefined && blocks.length >= MAX_BLOCKS)
      throw new Refused(
        `nothing was changed: ${name} has ${MAX_BLOCKS} blocked people, the maximum; unblock a person who has left: groupsync status`,
      );
    const { id: by } = await ports.caller();
    // A new order also ends the requests to unblock this person.
    const { unblock: _, ...block }: Block = known ?? { ...ids, by, atMs: ports.clock(), reason };
    const after = { ...block, ...merged(...same, ids) };
    return {
      blocks: [...blocks.filter((one) => !same.includes(one)), after],
      action: { action: 'block', reason, changes: changesOf('block_person', after) },
      woken: after,
      result: { outcome: 'blocked', block: after },
    };
  });
}

interface UnblockOutcome {
  readonly outcome: 'unblocked' | 'requested' | 'not_blocked';
  readonly block: Block | undefined;
}

/**
 * Ends all blocks of a person. Under four eyes, it only stores a request, which another person must confirm (`decideRequests`).
 * @param text as for `blockPerson`, or any id of the block
 * @throws NotFound
 */
export async function unblockPerson(
  name: ConnectionName,
  { text, reason }: { readonly text: string; readonly reason?: string | undefined },
  ports: BlockPorts,
): Promise<UnblockOutcome> {
  return changeBlocks<UnblockOutcome>(name, ports, async (connection, blocks) => {
    const byId = blockOf(blocks, { member: memberId(text), role: roleId(text), userId: text });
    const ids = byId ? await idsOfPerson(byId, connection, ports) : await findPerson(text, connection, ports);
    // A member and an employee may have been blocked before the member matched the employee.
    const ended = blocks.filter((one) => one === byId || isOfSame(one, ids));
    const [first] = ended;
    const block = first && { ...first, ...merged(...ended) };
    if (block === undefined) return { result: { outcome: 'not_blocked', block } };
    if (!connection.settings.fourEyes)
      return {
        blocks: blocks.filter((one) => !ended.includes(one)),
        action: { action: 'unblock', reason, changes: changesOf('unblock_person', block) },
        woken: block,
        result: { outcome: 'unblocked', block },
      };
    if (ended.every((one) => one.unblock !== undefined)) return { result: { outcome: 'requested', block } };
    const { id: by } = await ports.caller();
    const unblock = { by, atMs: ports.clock() };
    return {
      blocks: blocks.map((one) => (ended.includes(one) ? { ...one, unblock } : one)),
      action: { action: 'unblock', reason, changes: changesOf('request_unblock', block) },
      result: { outcome: 'requested', block: { ...block, unblock } },
    };
  });
}

interface BlockChange<Result> {
  readonly blocks?: readonly Block[];
  readonly action?: Parameters<typeof doRecorded>[1];
  readonly woken?: BlockedIds;
  readonly result: Result;
}

/** Stores a change of the blocks, and wakes the groups of the person. If the connection has changed, it tries again. */
async function changeBlocks<Result>(
  name: ConnectionName,
  ports: BlockPorts,
  change: (connection: Connection, blocks: readonly Block[]) => Promise<BlockChange<Result>>,
): Promise<Result> {
  for (let race = 0; race < MAX_RACES; race += 1) {
    const before = (await ports.connections.current(name)) ?? (await requireConnection(name, ports));
    const { blocks, action, woken, result } = await change(before, before.blocks ?? []);
    if (blocks === undefined || action === undefined) return result;
    const replan = woken === undefined ? {} : { replanSinceMs: ports.clock() };
    const after = { ...before, blocks, ...replan };
    const store = () => ports.connections.replace(after, before);
    if (!(await doRecorded(journalOf(name), action, ports, store))) continue;
    if (woken !== undefined) await wakeGroupsOf(woken, after, ports);
    return result;
  }
  throw new Error(`the connection ${name} changed ${MAX_RACES} times during this change: try again`);
}

/** Wakes first the groups in which events named the person, and then the groups to which other clients added the user. */
async function wakeGroupsOf(ids: BlockedIds, connection: Connection, ports: BlockPorts): Promise<void> {
  const { name } = connection;
  const named = await groupsNaming(ids, name, ports);
  await wakeAll(name, named, ports, 'asked');
  const all = (await groupsOfBlocked(ids, connection, ports)).map(({ ref }) => ref.group);
  const others = all.filter((group) => !named.has(group));
  await wakeAll(name, others, ports, 'asked');
}

/** The journal has one change for each member, so that the person's page finds the action. */
function changesOf(kind: string, { members, roles, users }: BlockedIds) {
  const ids = [...roles, ...users].join(', ') || null;
  const isBlock = kind === 'block_person';
  const change = { kind, before: isBlock ? null : ids, after: isBlock ? ids : null, reason: 'all groups' };
  return members.length === 0 ? [change] : members.map((member) => ({ ...change, member }));
}

const isOfSame = (block: BlockedIds, ids: BlockedIds): boolean =>
  block.members.some((one) => ids.members.includes(one)) ||
  block.roles.some((one) => ids.roles.includes(one)) ||
  block.users.some((one) => ids.users.includes(one));

const merged = (...all: readonly BlockedIds[]): BlockedIds => ({
  members: [...new Set(all.flatMap(({ members }) => members))],
  roles: [...new Set(all.flatMap(({ roles }) => roles))],
  users: [...new Set(all.flatMap(({ users }) => users))],
});

async function findPerson(text: string, connection: Connection, ports: BlockPorts): Promise<BlockedIds> {
  return idsOfPerson(await idsMeant(text, connection, ports), connection, ports);
}

/** Several members with one address are bound to one employee, or are blocked when they are bound. */
function undefinedIfNotFound(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}

const NO_IDS: BlockedIds = { members: [], roles: [], users: [] };

/** Returns the ids that the text names. An id comes before an address, and an employee's value before a name. */
async function idsMeant(text: string, connection: Connection, ports: BlockPorts): Promise<BlockedIds> {
  const { name, settings } = connection;
  const { people, users } = ports;
  const [member, role] = [memberId(text), roleId(text)];
  if (text.trim() === '') throw new NotFound('expected a person, got nothing');
  if ((await users.read(name, [member])).has(member)) return { ...NO_IDS, members: [member] };
  if ((await people.read(name, [role])).has(role)) return { ...NO_IDS, roles: [role] };
  if ((await people.ofUser(name, text)).length > 0) return { ...NO_IDS, users: [text] };
  const holding = await rolesHolding(text, connection, people);
  const holders = new Map(holding.flat().map((one) => [one.role, one]));
  const [person, ...others] = personsOf([...holders.values()], { ...settings, memberIdField: 'userId' });
  if (others.length > 0) {
    const found = [...holders.values()].map(({ role, state }) => `${role} (${state})`);
    throw new NotFound(`"${text}" matches the employees ${found.join(', ')}; give the id`);
  }
  if (person === undefined) return { ...NO_IDS, members: [await findMember(name, text, ports)] };
  const roles = person.map(({ role }) => role);
  const named = await findMember(name, text, ports).catch(undefinedIfNotFound);
  const bound = named && (await users.read(name, [named])).get(named)?.role;
  if (bound === undefined || roles.includes(bound))
    return { ...NO_IDS, members: named === undefined ? [] : [named], roles };
  throw new NotFound(
    `"${text}" matches the employee ${roles.join(', ')}, and the member ${named} of the employee ${bound}; give the id`,
  );
}

async function groupsNaming({ members }: BlockedIds, name: ConnectionName, ports: BlockPorts) {
  const found = await mapConcurrently(READS_IN_FLIGHT, members, (member) =>
    groupsOfMember(name, member, ports),
  );
  return new Set(found.flat());
}

/**
 * Returns the groups in which events named the person, and all groups whose platform group contains the person, as last
 * written or read. It reads the views of all groups, because no index leads from a user to the groups of other clients.
 */
export async function groupsOfBlocked(ids: BlockedIds, connection: Connection, ports: BlockPorts) {
  const { name, settings } = connection;
  const nowMs = ports.clock();
  const named = await groupsNaming(ids, name, ports);
  const all = new Set(named);
  for (const { ref } of await collectPages(ports.index.all(name))) all.add(ref.group);
  const refs = [...all].sort().map((group) => ({ connection: name, group }));
  const [states, gate] = await Promise.all([ports.groups.readMany(refs, () => {}), ports.gates.read(name)]);
  const block = { ...ids, by: '', atMs: 0, reason: '' };
  const users = blockedUsers([block], settings.memberIdField) ?? new Set<PlatformUserId>();
  const found = await mapConcurrently(READS_IN_FLIGHT, states, async (state) => {
    const { ref, link } = state;
    const view = link && (await ports.groups.readView(ref, link.view));
    const isShown = [...users].some((user) => view?.users.has(user));
    if (!isShown && !named.has(ref.group)) return [];
    // The view does not show yet whether an open write has added the person.
    const isPresent = isShown || state.intent !== undefined;
    const because = isPresent ? (whyStays(state, connection, gate, nowMs) ?? null) : null;
    const name = groupName(state.registers) ?? null;
    return [{ ref, group: ref.group, name, outcome: outcomeOf(isPresent, because), because }];
  });
  return found.flat();
}

function outcomeOf(isPresent: boolean, whyStays: string | null): BlockedGroup['outcome'] {
  if (!isPresent) return 'out';
  return whyStays === null ? 'removing' : 'waiting';
}

function whyStays(state: GroupState, connection: Connection, gate: Gate, nowMs: number): string | undefined {
  const { ref, registers, released } = state;
  if (released) return whyReleased(state);
  if (policyFor(connection.settings, ref.group, registers.name?.value).excluded)
    return 'the settings groups.include and groups.exclude leave this group out';
  return obstacleTo(state, connection, gate, nowMs)?.detail;
}
