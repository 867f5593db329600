import type { DirectoryComparison } from '../../contract/answers/directory.ts';
import { policyFor } from '../../contract/group-policy.ts';
import { grouped } from '../../domain/grouped.ts';
import type { MemberId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup } from '../../domain/view.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';
import type { DirectoryUser } from '../ports.ts';
import type { GroupAsOf as DirectoryListed } from '../reading/context.ts';
import { type OtherGroups, othersOf } from '../reading/context.ts';
import {
  type DirectoryListing,
  type DirectoryToolPorts,
  eligibilityIn,
  type GroupsOnPlatform,
  listDirectory,
  readPlatformGroups,
  readUsers,
} from './preview.ts';
import type { ShownDirectory } from './through-function.ts';

const LISTED = 100;

type Row = DirectoryComparison['groups'][number];
type Change = DirectoryComparison['changes'][number];

interface Comparing {
  readonly connection: Connection;
  readonly directory: ShownDirectory;
  readonly listing: DirectoryListing;
  readonly platform: GroupsOnPlatform;
  readonly others: OtherGroups;
  readonly ports: DirectoryToolPorts;
  /** The platform user of each member; undefined if the member would be pending. */
  readonly users: Map<MemberId, Promise<string | undefined>>;
  readonly changes: Change[];
}

/**
 * Returns the changes that a first run of the reader would cause on the platform. It reads each selected group that no
 * other source owns completely, and compares it with the platform's list. Changes nothing.
 * @throws DirectoryError, PlatformFailure
 */
export async function compareDirectory(
  connection: Connection,
  directory: ShownDirectory,
  ports: DirectoryToolPorts,
): Promise<DirectoryComparison> {
  const listing = await listDirectory(directory, connection);
  const platform = await readPlatformGroups(connection, ports);
  const others = await othersOf(connection.name, ports);
  const shared = { connection, directory, listing, platform, others, ports };
  const comparing: Comparing = { ...shared, users: new Map(), changes: [] };
  const groups: Row[] = [];
  // The groups are read one after the other, because the directory limits the calls per minute, and the deployed reader
  // needs a part of them.
  for (const one of listing.selected) groups.push(await compareGroup(one, comparing));
  const adopted = new Set(groups.flatMap(({ action, platformId }) => (action === 'adopt' ? platformId : [])));
  const left = platform.unmanaged.filter(({ id }) => !adopted.has(id));
  return {
    connection: connection.name,
    groups,
    totals: totalsOf(groups),
    changes: comparing.changes,
    unmanaged: left.slice(0, LISTED).map((group) => ({ platformId: group.id, name: nameOf(group) })),
    unmanagedCount: left.length,
  };
}

function totalsOf(groups: readonly Row[]): DirectoryComparison['totals'] {
  const countOf = (action: Row['action']) => groups.filter((one) => one.action === action).length;
  const sum = (field: 'added' | 'removed' | 'pending') => groups.reduce((all, one) => all + one[field], 0);
  return {
    adopt: countOf('adopt'),
    create: countOf('create'),
    change: countOf('change'),
    same: countOf('same'),
    nameClash: countOf('name_clash'),
    otherSource: countOf('other_source'),
    unreadable: countOf('unreadable'),
    added: sum('added'),
    removed: sum('removed'),
    pending: sum('pending'),
  };
}

async function compareGroup({ group }: DirectoryListed, comparing: Comparing): Promise<Row> {
  const { connection, directory, listing, others, platform, ports } = comparing;
  const other = others.sameAs(group.id, group.name);
  const row = { group: group.id, name: group.name, platformId: null, added: 0, removed: 0, pending: 0 };
  if (other !== undefined && other !== group.id)
    return { ...row, action: 'other_source', other, problem: null };
  const members = await readUsers(group.id, listing.listed, connection, directory);
  if (typeof members === 'string') return { ...row, action: 'unreadable', other: null, problem: members };
  const state = await ports.groups.read({ connection: connection.name, group: group.id });
  const linked = platform.byId.get(state?.link?.id ?? '');
  const adopted = linked === undefined ? platform.adoptedBy(group) : undefined;
  const wanted = await usersOf(members, comparing);
  const { mode } = policyFor(connection.settings, group.id, group.name);
  const { added, removed } = differenceOf(wanted, linked ?? adopted, mode === 'authoritative');
  note(comparing, { group, added, removed, members: wanted });
  const isSame = added.length + removed.length === 0 && linked !== undefined;
  return {
    ...row,
    added: added.length,
    removed: removed.length,
    pending: members.length - [...wanted.values()].flat().length,
    platformId: (linked ?? adopted)?.id ?? null,
    action: actionOf({
      isOther: other !== undefined,
      isSame,
      linked,
      adopted,
      hasClash: platform.hasClash(group),
      mayCreate: platform.mayCreate(group),
    }),
    other: other ?? null,
    problem: null,
  };
}

interface Found {
  readonly isOther: boolean;
  readonly isSame: boolean;
  readonly linked: ListedGroup | undefined;
  readonly adopted: ListedGroup | undefined;
  readonly hasClash: boolean;
  readonly mayCreate: boolean;
}

function actionOf({ isOther, isSame, linked, adopted, hasClash, mayCreate }: Found): Row['action'] {
  if (isOther) return 'other_source';
  if (adopted !== undefined) return 'adopt';
  if (linked === undefined) {
    if (!mayCreate) return 'same';
    return hasClash ? 'name_clash' : 'create';
  }
  return isSame ? 'same' : 'change';
}

/** Returns the platform users of these members. Each user is returned with all members that are bound to the user. */
async function usersOf(members: readonly DirectoryUser[], comparing: Comparing) {
  const found = await mapConcurrently(READS_IN_FLIGHT, members, (member) => {
    const known = comparing.users.get(member.id) ?? userOf(member, comparing);
    comparing.users.set(member.id, known);
    return known;
  });
  return grouped(members, (_, at) => found[at]);
}

async function userOf(member: DirectoryUser, { connection, ports }: Comparing): Promise<string | undefined> {
  const known = (await ports.users.read(connection.name, [member.id])).get(member.id);
  const { cause, person } = await eligibilityIn(member, connection, ports, known);
  if (cause !== 'solved' || person === undefined) return undefined;
  return connection.settings.memberIdField === 'userId' ? person.userId : person.role;
}

function differenceOf(
  wanted: ReadonlyMap<string, unknown>,
  current: ListedGroup | undefined,
  mayRemove: boolean,
) {
  const shown: ReadonlySet<string> = new Set(current !== undefined && isWhole(current) ? current.users : []);
  return {
    added: [...wanted.keys()].filter((user) => !shown.has(user)),
    removed: mayRemove ? [...shown].filter((user) => !wanted.has(user)) : [],
  };
}

interface Noted {
  readonly group: DirectoryListed['group'];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly members: ReadonlyMap<string, readonly DirectoryUser[]>;
}

/** Lists changes, up to a hundred of each kind. */
function note({ changes }: Comparing, { group, added, removed, members }: Noted): void {
  const about = { group: group.id as string, groupName: group.name };
  const add = (kind: Change['kind'], user: string, member: DirectoryUser | undefined) => {
    if (changes.filter((one) => one.kind === kind).length >= LISTED) return;
    const email = member?.attributes.get('email') ?? null;
    changes.push({ kind, ...about, user, member: member?.id ?? null, email });
  };
  for (const user of added) add('added', user, members.get(user)?.[0]);
  for (const user of removed) add('removed', user, undefined);
}

const nameOf = (group: ListedGroup): string | null => (isWhole(group) ? group.name : null);
