import type { GroupId, MemberId } from '../../domain/ids.ts';
import {
  type Directory,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryUser,
  type MemberPage,
} from '../ports.ts';
import { isOlderThanReports } from '../rules/named.ts';
import type { NamedMembership } from '../rules/reader-group.ts';
import type { GroupAsOf } from './context.ts';
import { memberDigest } from './key-digest.ts';
import type { MemberQuestions } from './member-questions.ts';

interface ListedCounts {
  readonly users: number;
  readonly groups: number;
}

/**
 * Compares a list with the count in the facts of its group. Google does not document whether this count includes groups.
 *
 *   users ≥ count | users and groups ≥ count | result
 *   --------------|--------------------------|------------------------------------------------------------------
 *   yes           | yes                      | complete
 *   no            | yes                      | unproven: complete only if the count includes groups
 *   no            | no                       | short
 *   without a count                          | unproven
 */
function compareWithCount(count: number | undefined, { users, groups }: ListedCounts) {
  if (count === undefined) return 'unproven';
  if (users >= count) return 'complete';
  return users + groups >= count ? 'unproven' : 'short';
}

/** A group with all groups within it. Every list was read to its end. */
export type GroupWithNested = NonNullable<Awaited<ReturnType<typeof readWhole>>>;

type ReadDirectory = Pick<Directory, 'group' | 'membersOf'>;

/** The maximum number of nested groups. A higher number points to a mistake, or to an attempt to cause many calls. */
const MAX_BELOW = 500;

interface Reading {
  /** The groups that this run has listed. They are not requested again. */
  readonly listed: ReadonlyMap<GroupId, GroupAsOf>;
  readonly nested: 'flatten' | 'ignore';
  readonly known: readonly GroupId[];
  readonly questions: MemberQuestions;
  /** The memberships that the lists must show, because reports have named them. */
  readonly named?: readonly NamedMembership[];
  /** The facts of the last read. If given, only the members and unknown nested groups are requested. */
  readonly facts?: Pick<DirectoryGroup, 'name' | 'address'> | undefined;
}

/**
 * Reads a whole group. Each list is read to its end, and `isOld` and `isShort` mark lists that the directory returned
 * incomplete. If the facts of the last read are not given, the user count is read before the pages.
 * @returns undefined if the directory has no such group
 * @throws DirectoryError if any part could not be read, except new nested groups of other companies
 */
export async function readWhole(directory: ReadDirectory, id: GroupId, reading: Reading) {
  const { nested, known, listed, questions, named = [] } = reading;
  const unchecked = new Map<GroupId, ListedCounts>();
  const find = finderOf(directory, { ...reading, id, unchecked });
  const group = await find(id);
  if (group === undefined) return undefined;
  const { read, below } = await readNested(directory, group, { nested, known, find });
  for (const { group: one, users, groups, isCounted } of read) {
    if (isCounted) unchecked.delete(one);
    else if (unchecked.has(one)) unchecked.set(one, { users: users.size, groups: groups.size });
  }
  const isListed = new Set(below);
  const gone = nested === 'ignore' ? [] : known.filter((child) => !isListed.has(child));
  const isListShort = read.some((direct) => direct.isShort);
  const isOld = isOlder(read, { nested, named });
  const unproven = isListShort || isOld ? gone : await questions.unproven(gone, [group.id, ...isListed]);
  const users: ReadonlyMap<MemberId, DirectoryUser> = new Map(read.flatMap((one) => [...one.users]));
  return {
    /** The facts of the group, from a request or a list. Otherwise they are from the last read and have no count. */
    group,
    users,
    // The next read must still expect the nested groups that an incomplete list did not show.
    /** The groups within the group, on all levels: those that were read, and those that a list may lack by mistake. */
    below: [...isListed, ...unproven],
    /** The addresses of the groups in `below`, as far as the lists show them. */
    belowAddresses: read.flatMap(({ groups }) => [...groups.values()].flatMap((address) => address ?? [])),
    /** Whether a list is older than a report. Such a read must not be used. */
    isOld,
    /** Whether a list had fewer users or groups than the directory counts, or may lack a nested group. */
    isShort: isListShort || unproven.length > 0,
    /** Whether counts of the directory prove that every list is complete, except the groups in `unchecked`. */
    isCounted: read.every((direct) => direct.isCounted || unchecked.has(direct.group)),
    /** The groups whose count is not known, each with the numbers of its listed members. */
    unchecked,
    counted: group.userCount ?? read.find((direct) => direct.group === group.id)?.users.size,
    /** The time at which the oldest page was requested. */
    asOfMs: Math.min(listed.get(id)?.asOfMs ?? Number.POSITIVE_INFINITY, ...read.map(({ asOfMs }) => asOfMs)),
  };
}

/** Whether a list of the read is older than a report. Only lists of groups with named memberships are compared. */
function isOlder(
  read: readonly DirectMembers[],
  { nested, named }: { readonly nested: Reading['nested']; readonly named: readonly NamedMembership[] },
): boolean {
  const isNamed = new Set(named.map(({ group }) => group));
  return read
    .filter(({ group }) => isNamed.has(group))
    .some(({ group, users, groups }) => {
      const keys = [
        ...[...users.values()].flatMap(({ id, attributes }) => [id, attributes.get('email')]),
        ...[...groups].flat(),
      ];
      const members = new Set(keys.flatMap((key) => (key === undefined ? [] : memberDigest(key))));
      return isOlderThanReports({ group, members, showsGroups: nested === 'flatten' }, named);
    });
}

interface Walk extends Pick<Reading, 'nested' | 'known'> {
  readonly find: (id: GroupId) => Promise<DirectoryGroup | undefined>;
}

async function readNested(directory: ReadDirectory, group: DirectoryGroup, { nested, known, find }: Walk) {
  const read: DirectMembers[] = [];
  const below: DirectoryGroup[] = [];
  const visited = new Set<GroupId>([group.id]);
  for (let next: DirectoryGroup | undefined = group; next !== undefined; next = below[read.length - 1]) {
    const direct = await readDirect(directory, next, nested);
    read.push(direct);
    if (nested === 'ignore') break;
    const children = [...direct.groups.keys()].filter((child) => !visited.has(child));
    for (const child of children) visited.add(child);
    below.push(...(await readChildren(directory, children, { outer: group.id, known, find })));
    if (below.length > MAX_BELOW) {
      throw new DirectoryError('invalid', `expected at most ${MAX_BELOW} groups within group ${group.id}`);
    }
  }
  return { read, below: below.map((child) => child.id) };
}

interface Finding extends Reading {
  readonly id: GroupId;
  readonly unchecked: Map<GroupId, ListedCounts>;
}

/**
 * Returns a function that finds a group. It requests the group only if the run does not know its facts yet. For a known
 * nested group, the result can have the name and address of the outer group.
 */
function finderOf(directory: ReadDirectory, { id, known, listed, facts, unchecked }: Finding) {
  return async (one: GroupId): Promise<DirectoryGroup | undefined> => {
    const shown = listed.get(one)?.group;
    const isAsked = facts === undefined || (one !== id && !known.includes(one));
    if (shown !== undefined || isAsked) return shown ?? directory.group(one);
    unchecked.set(one, { users: 0, groups: 0 });
    return { ...facts, id: one, userCount: undefined };
  };
}

/**
 * Compares the lists of a read with the directory's counts, for the groups whose facts were not requested.
 * @returns undefined if the directory has no such group
 * @throws DirectoryError `invalid` if a nested group is not found
 */
export async function checkCounts(directory: ReadDirectory, whole: GroupWithNested) {
  let { group, counted, isShort, isCounted } = whole;
  for (const [id, listed] of whole.unchecked) {
    const found = await directory.group(id);
    if (found === undefined && id === group.id) return undefined;
    if (found === undefined) {
      throw new DirectoryError('invalid', `group ${id} within group ${group.id} is no longer found`);
    }
    const result = compareWithCount(found.userCount, listed);
    isCounted &&= result === 'complete';
    isShort ||= result === 'short';
    if (id === group.id) [group, counted] = [found, found.userCount];
  }
  return { ...whole, group, counted, isShort, isCounted, unchecked: new Map() };
}

type DirectMembers = Awaited<ReturnType<typeof readDirect>>;

async function readDirect(
  directory: ReadDirectory,
  { id, userCount }: DirectoryGroup,
  nested: Reading['nested'],
) {
  const users = new Map<MemberId, DirectoryUser>();
  const groups = new Map<GroupId, string | undefined>();
  // If the directory returns no count, every number of listed members is accepted.
  const counted = { users: 0, groups: 0, isCounted: false };
  let asOfMs = Number.POSITIVE_INFINITY;
  for await (const page of directory.membersOf(id, nested)) {
    asOfMs = Math.min(asOfMs, page.asOfMs);
    noteCounts(counted, page);
    for (const member of page.items) {
      if (member.kind === 'everyone') throw everyoneIn(id);
      if (member.kind === 'group') groups.set(member.id, member.address);
      else users.set(member.user.id, member.user);
    }
  }
  if (asOfMs === Number.POSITIVE_INFINITY) {
    throw new DirectoryError('invalid', `members of group ${id}: expected at least one page, got none`);
  }
  const proof = proofOf(userCount, counted, { users: users.size, groups: groups.size });
  return {
    group: id,
    users,
    /** The address of each group by its id; undefined if the list shows no address. */
    groups,
    ...proof,
    asOfMs,
  };
}

function proofOf(userCount: number | undefined, counted: Counted, listed: ListedCounts) {
  const result = compareWithCount(userCount, listed);
  const isBelowPages = listed.users < counted.users || listed.groups < counted.groups;
  return {
    isShort: result === 'short' || isBelowPages,
    isCounted: result === 'complete' || counted.isCounted,
  };
}

interface Counted {
  users: number;
  groups: number;
  isCounted: boolean;
}

function noteCounts(
  counted: Counted,
  { userCount, groupCount }: Pick<MemberPage, 'userCount' | 'groupCount'>,
): void {
  counted.isCounted ||= userCount !== undefined;
  counted.users = Math.max(counted.users, userCount ?? 0);
  counted.groups = Math.max(counted.groups, groupCount ?? 0);
}

const everyoneIn = (id: GroupId): DirectoryError =>
  new DirectoryError('invalid', `group ${id} has every user of the company as a member: not supported`);

interface Outer {
  readonly outer: GroupId;
  readonly known: readonly GroupId[];
  readonly find: (id: GroupId) => Promise<DirectoryGroup | undefined>;
}

async function readChildren(directory: ReadDirectory, children: readonly GroupId[], within: Outer) {
  const found: DirectoryGroup[] = [];
  for (const child of children) {
    const group = await readChild(directory, child, within);
    if (group !== undefined) found.push(group);
  }
  return found;
}

/**
 * Finds a nested group. A member can be a group of another company, which the directory does not show. Such a group is
 * omitted, except if the last read included it. In that case, this read fails.
 * @returns undefined for an omitted group
 */
async function readChild(directory: ReadDirectory, child: GroupId, { outer, known, find }: Outer) {
  const isKnown = known.includes(child);
  try {
    const found = await find(child);
    if (found !== undefined || !isKnown) return found;
  } catch (error) {
    const isDenied = error instanceof DirectoryError && error.kind === 'denied';
    // If the outer group is readable, the reader still has its right. So the nested group belongs to another company.
    if (isDenied && !isKnown && (await directory.group(outer)) !== undefined) return undefined;
    throw error;
  }
  throw new DirectoryError('invalid', `group ${child} within group ${outer} is no longer found`);
}
