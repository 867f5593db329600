import type { GroupId, MemberId } from '../../domain/ids.ts';
import {
  type Directory,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryUser,
  type MemberPage,
} from '../ports/directory.ts';
import type { ListedGroup } from './context.ts';
import type { MemberQuestions } from './member-questions.ts';

/** A group and all groups within it. Every listing was read to its end. */
export interface WholeGroup {
  readonly group: DirectoryGroup;
  readonly users: ReadonlyMap<MemberId, DirectoryUser>;
  /** Groups that were read as members of the group, directly or within other groups. */
  readonly below: readonly GroupId[];
  /** Whether a list had fewer users or groups than the directory counts, or lacked a nested group. */
  readonly isShort: boolean;
  /** The time at which the oldest page was requested. */
  readonly asOfMs: number;
}

type ReadDirectory = Pick<Directory, 'group' | 'membersOf'>;

/** The largest number of nested groups. More groups are a mistake, or an attempt to cause many calls. */
const MAX_BELOW = 500;

export interface Reading {
  /** Groups that this run has listed. They are not requested again. */
  readonly listed: ReadonlyMap<GroupId, ListedGroup>;
  /** Whether groups within the group are read. */
  readonly nested: 'flatten' | 'ignore';
  /** The nested groups that the last read found. */
  readonly known: readonly GroupId[];
  readonly questions: MemberQuestions;
}

/**
 * Reads a whole group, or throws: a part of a group is never returned. The user count is read before the pages.
 * @returns undefined if the directory has no such group
 * @throws DirectoryError
 */
export async function readWhole(
  directory: ReadDirectory,
  id: GroupId,
  { nested, known, listed, questions }: Reading,
): Promise<WholeGroup | undefined> {
  const find = async (one: GroupId) => listed.get(one)?.group ?? (await directory.group(one));
  const group = await find(id);
  if (group === undefined) return undefined;
  const read: DirectMembers[] = [];
  const below: DirectoryGroup[] = [];
  const visited = new Set<GroupId>([group.id]);
  for (let next: DirectoryGroup | undefined = group; next !== undefined; next = below[read.length - 1]) {
    const direct = await readDirect(directory, next, nested);
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
  const isListShort = read.some((direct) => direct.isShort);
  const unproven = isListShort ? gone : await questions.unproven(gone, [group.id, ...isListed]);
  return {
    group,
    users: new Map(read.flatMap(({ users }) => [...users])),
    // After a short list, the next read expects the groups that were not listed.
    below: [...isListed, ...unproven],
    isShort: isListShort || unproven.length > 0,
    asOfMs: Math.min(listed.get(id)?.asOfMs ?? Number.POSITIVE_INFINITY, ...read.map(({ asOfMs }) => asOfMs)),
  };
}

interface DirectMembers {
  readonly users: ReadonlyMap<MemberId, DirectoryUser>;
  readonly groups: readonly GroupId[];
  readonly isShort: boolean;
  readonly asOfMs: number;
}

async function readDirect(
  directory: ReadDirectory,
  { id, userCount = 0 }: DirectoryGroup,
  nested: Reading['nested'],
): Promise<DirectMembers> {
  const users = new Map<MemberId, DirectoryUser>();
  const groups = new Set<GroupId>();
  // If a count is absent, the number is unknown. Every number of members is then enough.
  const counted = { users: userCount, groups: 0 };
  let asOfMs = Number.POSITIVE_INFINITY;
  for await (const page of directory.membersOf(id, nested)) {
    asOfMs = Math.min(asOfMs, page.asOfMs);
    noteCounts(counted, page);
    for (const member of page.items) {
      if (member.kind === 'everyone') throw everyoneIn(id);
      if (member.kind === 'group') groups.add(member.id);
      else users.set(member.user.id, member.user);
    }
  }
  if (asOfMs === Number.POSITIVE_INFINITY) {
    throw new DirectoryError('odd', `members of group ${id}: expected at least one page, got none`);
  }
  const isShort = users.size < counted.users || groups.size < counted.groups;
  return { users, groups: [...groups], isShort, asOfMs };
}

function noteCounts(counted: { users: number; groups: number }, { userCount, groupCount }: MemberPage): void {
  counted.users = Math.max(counted.users, userCount ?? 0);
  counted.groups = Math.max(counted.groups, groupCount ?? 0);
}

const everyoneIn = (id: GroupId): DirectoryError =>
  new DirectoryError('odd', `group ${id} has every user of the company as a member: not supported`);

interface Outer {
  readonly outer: GroupId;
  readonly known: readonly GroupId[];
  readonly find: (id: GroupId) => Promise<DirectoryGroup | undefined>;
}

async function readChildren(
  directory: ReadDirectory,
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
 * Finds a nested group. A member can be a group of another company, which the directory does not show. Such a group is
 * left out if the last read did not include the group either. If the last read included the group, the read fails.
 * @returns undefined for a group that is left out
 */
async function readChild(
  directory: ReadDirectory,
  child: GroupId,
  { outer, known, find }: Outer,
): Promise<DirectoryGroup | undefined> {
  const isKnown = known.includes(child);
  try {
    const found = await find(child);
    if (found !== undefined || !isKnown) return found;
  } catch (error) {
    const isDenied = error instanceof DirectoryError && error.kind === 'denied';
    // If the outer group is readable, the right to read is not lost: the child is a group of another company.
    if (isDenied && !isKnown && (await directory.group(outer)) !== undefined) return undefined;
    throw error;
  }
  throw new DirectoryError('odd', `group ${child} within group ${outer} is not found any more`);
}
