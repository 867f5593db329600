import type { GroupId, MemberId } from '../../domain/ids.ts';
import {
  type Directory,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryUser,
} from '../ports/directory.ts';
import type { ListedGroup } from './context.ts';

/** A group and all groups below it, read to the end of every listing. */
export interface WholeGroup {
  readonly group: DirectoryGroup;
  readonly users: ReadonlyMap<MemberId, DirectoryUser>;
  /** Groups that were read as members of it. */
  readonly below: readonly GroupId[];
  /** Fewer users were listed than the directory counts, or not every group within it, here or below. */
  readonly isShort: boolean;
  /** When the oldest page was requested. */
  readonly asOfMs: number;
}

/** So many groups within each other are a mistake, or an attack on the number of calls. */
const MAX_BELOW = 500;

export interface Reading {
  /** Groups that this run has listed: they are not asked for again. */
  readonly listed: ReadonlyMap<GroupId, ListedGroup>;
  /** Whether groups within the group are read. */
  readonly nested: 'flatten' | 'ignore';
  /** The groups that were read within it the last time. */
  readonly known: readonly GroupId[];
}

/**
 * Reads a group whole, or fails: half a group is never an answer. The count comes before the pages.
 * @returns undefined if the directory has no such group
 * @throws DirectoryError
 */
export async function readWhole(
  directory: Directory,
  id: GroupId,
  { nested, known, listed }: Reading,
): Promise<WholeGroup | undefined> {
  const find = async (one: GroupId) => listed.get(one)?.group ?? (await directory.group(one));
  const group = await find(id);
  if (group === undefined) return undefined;
  const read: DirectMembers[] = [];
  const below: DirectoryGroup[] = [];
  const visited = new Set<GroupId>([group.id]);
  for (let next: DirectoryGroup | undefined = group; next !== undefined; next = below[read.length - 1]) {
    const direct = await readDirect(directory, next);
    read.push(direct);
    if (nested === 'ignore') break;
    const children = direct.groups.filter((child) => !visited.has(child));
    for (const child of children) visited.add(child);
    below.push(...(await readChildren(directory, children, { outer: group.id, known, find })));
    if (below.length > MAX_BELOW) {
      throw new DirectoryError('odd', `expected at most ${MAX_BELOW} groups within group ${id}`);
    }
  }
  const isListed = new Set(below.map((child) => child.id));
  const gone = nested === 'ignore' ? [] : known.filter((child) => !isListed.has(child));
  const isShort =
    read.some((direct) => direct.isShort) || (await isAnyMember(directory, gone, [group.id, ...isListed]));
  return {
    group,
    users: new Map(read.flatMap(({ users }) => [...users])),
    // After a short list, the groups that were not listed are expected again.
    below: isShort ? [...isListed, ...gone] : [...isListed],
    isShort,
    asOfMs: Math.min(listed.get(id)?.asOfMs ?? Number.POSITIVE_INFINITY, ...read.map(({ asOfMs }) => asOfMs)),
  };
}

/**
 * The directory counts users only. So a list that ends too early may lack a group within it and seem complete: each group
 * that was there before is asked for.
 */
async function isAnyMember(
  directory: Directory,
  gone: readonly GroupId[],
  groups: readonly GroupId[],
): Promise<boolean> {
  for (const group of groups) {
    for (const child of gone) {
      if (await directory.hasMember(group, child)) return true;
    }
  }
  return false;
}

interface DirectMembers {
  readonly users: ReadonlyMap<MemberId, DirectoryUser>;
  readonly groups: readonly GroupId[];
  readonly isShort: boolean;
  readonly asOfMs: number;
}

async function readDirect(directory: Directory, { id, userCount }: DirectoryGroup): Promise<DirectMembers> {
  const users = new Map<MemberId, DirectoryUser>();
  const groups = new Set<GroupId>();
  let asOfMs = Number.POSITIVE_INFINITY;
  for await (const page of directory.membersOf(id)) {
    asOfMs = Math.min(asOfMs, page.asOfMs);
    for (const member of page.items) {
      if (member.kind === 'everyone') {
        throw new DirectoryError(
          'odd',
          `group ${id} has every user of the company as a member: not supported`,
        );
      }
      if (member.kind === 'group') groups.add(member.id);
      else users.set(member.user.id, member.user);
    }
  }
  if (asOfMs === Number.POSITIVE_INFINITY) {
    throw new DirectoryError('odd', `members of group ${id}: expected at least one page, got none`);
  }
  // An absent count is unknown, and never 0.
  const isShort = userCount !== undefined && users.size < userCount;
  return { users, groups: [...groups], isShort, asOfMs };
}

interface Outer {
  readonly outer: GroupId;
  readonly known: readonly GroupId[];
  readonly find: (id: GroupId) => Promise<DirectoryGroup | undefined>;
}

async function readChildren(
  directory: Directory,
  children: readonly GroupId[],
  within: Outer,
): Promise<readonly DirectoryGroup[]> {
  const found: DirectoryGroup[] = [];
  for (const child of children) {
    const group = await readChild(directory, child, within);
    if (group !== undefined) found.push(group);
  }
  return found;
}

/**
 * A group of another company may be a member, and the directory does not show it. So a group that could never be read is
 * left out: no member of the outer group comes from it. One that could be read before is expected again.
 * @returns undefined for a group that is left out
 */
async function readChild(
  directory: Directory,
  child: GroupId,
  { outer, known, find }: Outer,
): Promise<DirectoryGroup | undefined> {
  const isKnown = known.includes(child);
  try {
    const found = await find(child);
    if (found !== undefined || !isKnown) return found;
  } catch (error) {
    const isDenied = error instanceof DirectoryError && error.kind === 'denied';
    // The outer group tells a lost right from a group of another company.
    if (isDenied && !isKnown && (await directory.group(outer)) !== undefined) return undefined;
    throw error;
  }
  throw new DirectoryError('odd', `group ${child} within group ${outer} is not found any more`);
}
