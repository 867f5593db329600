import { matchForm } from '../../contract/match-rule.ts';
import { ACTIVE_ATTRIBUTE } from '../../domain/active.ts';
import { groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { once } from '../../domain/once.ts';
import { type Source, sourceOf } from '../../domain/source.ts';
import { STAMP_ZERO } from '../../domain/stamp.ts';
import { readCounted } from '../../operate/counted-members.ts';
import { membersHolding } from '../../operate/find-member.ts';
import { foldName } from '../../plan/names.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { type UserState, undescribed } from '../../sync/ports/desired.ts';
import { collectPages } from '../../sync/tuning.ts';
import { groupsWithSource } from './source-groups.ts';

/** Finds the known groups and members that a file identifies by a name or an address. */
export interface KnownNames {
  /**
   * Returns the group with this id. If there is none, returns the group with this name. If there is none either,
   * returns a new group with the text as id and name.
   */
  readonly groupOf: (text: string) => Promise<KnownGroup | Ambiguous>;
  /** Returns the member with this id or address; undefined if no known member has it. */
  readonly memberOf: (group: string, address: string) => Promise<MemberId | AmbiguousMember | undefined>;
}

export interface KnownGroup {
  readonly id: string;
  readonly name: string;
  /** Whether the group exists already. */
  readonly isKnown?: boolean;
}

/** Several groups have the name. */
interface Ambiguous {
  readonly ids: readonly string[];
}

interface AmbiguousMember {
  readonly ids: readonly MemberId[];
  /** Those that are in the group now. */
  readonly present: readonly MemberId[];
}

/**
 * Returns a directory that treats different spellings of the name of a new group as one group, with the first spelling
 * as its id and name.
 */
export function withOneSpelling(directory: KnownNames, given: KnownGroup | undefined): KnownNames {
  const first = new Map(given === undefined ? [] : [[foldName(given.id), given.id]]);
  return {
    ...directory,
    async groupOf(text) {
      const spelling = first.get(foldName(text)) ?? text;
      first.set(foldName(text), spelling);
      const found = await directory.groupOf(text);
      return 'ids' in found || found.isKnown === true ? found : { ...found, id: spelling, name: spelling };
    },
  };
}

type DirectoryPorts = Pick<ToolPorts, 'groups' | 'users' | 'index' | 'people' | 'reader' | 'scim'>;

/** Creates the directory. It reads the groups once, each group's members once, and the holder of each address once. */
export function createDirectory(connection: Connection, ports: DirectoryPorts): KnownNames {
  const { name } = connection;
  const groups = once(async () => {
    const all = await collectPages(ports.index.all(name));
    return all.map(({ ref, name: own }) => ({
      id: ref.group as string,
      name: own ?? ref.group,
      isKnown: true,
    }));
  });
  const sources = once(async () => {
    const all = await groupsWithSource(connection, ports);
    return new Map(all.map(({ group, source }) => [group as string, source]));
  });
  /**
   * Several sources may know the same employee under different ids. In a group of one of these sources, an address means
   * the member of this source. Returns undefined if the users are different employees, or if the source does not have
   * exactly one of them.
   */
  const ofSource = async (found: readonly UserState[], source: Source | undefined) => {
    const employees = new Set(found.map(({ role, userId }) => userId ?? role));
    if (employees.size !== 1 || employees.has(undefined)) return undefined;
    const ids = found.map(({ member }) => member);
    const clients = new Set((await ports.scim.read(name, 'User', ids)).map(({ id }) => id));
    const own = found.filter((user) => sourceOfUser(user, clients) === source);
    return own.length === 1 ? own[0] : undefined;
  };
  const addresses = perKey((group) => addressesIn(group, connection, ports));
  const holders = perKey((address) => membersHolding(address, connection, ports));
  const known = perKey(async (id) => (await ports.users.read(name, [memberId(id)])).has(memberId(id)));
  return {
    async groupOf(text) {
      const all = await groups();
      const byId = all.find(({ id }) => id === text);
      if (byId !== undefined) return byId;
      const named = all.filter((one) => foldName(one.name) === foldName(text));
      if (named.length > 1) return { ids: named.map(({ id }) => id) };
      return named[0] ?? { id: text, name: text, isKnown: false };
    },
    async memberOf(group, address) {
      if (await known(address)) return memberId(address);
      const inGroup = (await addresses(group)).get(addressForm(address)) ?? [];
      const present = inGroup.filter(({ isPresent }) => isPresent).map(({ user }) => user);
      if (present.length === 1) return present[0]?.member;
      const ids = await holders(address);
      const holding = [...(await ports.users.read(name, ids)).values()];
      const all = new Map(
        [...inGroup.map(({ user }) => user), ...holding].map((user) => [user.member, user]),
      );
      const live = [...all.values()].filter(isLive);
      const found = live.length > 0 ? live : [...all.values()];
      const chosen = found.length > 1 ? await ofSource(found, (await sources()).get(group)) : found[0];
      if (chosen !== undefined || found.length === 0) return chosen?.member;
      return { ids: found.map(({ member }) => member), present: present.map(({ member }) => member) };
    },
  };
}

/**
 * Whether the directory has described the user after the last deletion of the user, or has never deleted the user. After
 * the deletion of a SCIM user, an event with empty attributes follows. It does not describe the user.
 */
const isLive = ({ floor, attributes }: UserState): boolean =>
  floor === STAMP_ZERO ||
  [...attributes].some(
    ([key, { value, stamp }]) => key !== ACTIVE_ATTRIBUTE && value !== '' && stamp > floor,
  );

function sourceOfUser({ member, attributes }: UserState, clients: ReadonlySet<string>): Source {
  if (clients.has(member)) return 'scim';
  const isRead = [...attributes.values()].some(({ stamp }) => sourceOf(stamp) === 'directory');
  return isRead ? 'directory' : 'events';
}

const addressForm = (address: string): string => matchForm('workEmail', address);

/** Returns the users by each address that they have. `isPresent` says whether the user is in the group now. */
async function addressesIn(group: string, { name }: Connection, ports: DirectoryPorts) {
  const found = new Map<string, { readonly user: UserState; readonly isPresent: boolean }[]>();
  const ref = { connection: name, group: groupId(group) };
  const { registers, known, counts } = await readCounted(ref, ports);
  for (const register of registers) {
    const user = known.get(register.member) ?? undescribed(register.member);
    const one = { user, isPresent: counts(register) };
    const attributes = [...user.attributes].filter(([key]) => key !== ACTIVE_ATTRIBUTE);
    const own = new Set(attributes.map(([, { value }]) => addressForm(value)));
    for (const address of own) found.set(address, [...(found.get(address) ?? []), one]);
  }
  return found;
}

function perKey<Value>(read: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const reading = new Map<string, Promise<Value>>();
  return (key) => {
    const begun = reading.get(key) ?? read(key);
    reading.set(key, begun);
    return begun;
  };
}
