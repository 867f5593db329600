import { matchForm } from '../../contract/match-rule.ts';
import { ACTIVE_ATTRIBUTE } from '../../domain/active.ts';
import { groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { foldName } from '../../plan/names.ts';
import { collectPages } from '../../sync/async-collections.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { membersHolding } from '../find-member.ts';

/** Finds the known groups and members that a file identifies by a name or an address. */
export interface Directory {
  /**
   * Returns the group with this id. If there is none, returns the group with this name. If there is none either,
   * returns a new group with the text as id and name.
   */
  readonly groupOf: (text: string) => Promise<NamedGroup | Ambiguous>;
  /** Returns the member with this id or address; undefined if no known member has it. */
  readonly memberOf: (group: string, address: string) => Promise<MemberId | Ambiguous | undefined>;
}

export interface NamedGroup {
  readonly id: string;
  readonly name: string;
  /** Undefined if there is no deployment. */
  readonly isKnown?: boolean;
}

/** Several groups or members have the name or address. */
export interface Ambiguous {
  readonly ids: readonly string[];
}

/** Used without a deployment. Each name and address is treated as an id. */
export const NO_DIRECTORY: Directory = {
  groupOf: async (text) => ({ id: text, name: text }),
  memberOf: async () => undefined,
};

type DirectoryPorts = Pick<ToolPorts, 'groups' | 'users' | 'index' | 'people'>;

/** Creates the directory. It reads the groups once, each group's members once, and the holder of each address once. */
export function createDirectory(connection: Connection, ports: DirectoryPorts): Directory {
  const { name } = connection;
  const groups = once(async () => {
    const all = await collectPages(ports.index.all(name));
    return all.map(({ ref, name: own }) => ({
      id: ref.group as string,
      name: own ?? ref.group,
      isKnown: true,
    }));
  });
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
      const found = inGroup.length > 0 ? inGroup : await holders(address);
      return found.length > 1 ? { ids: found } : found[0];
    },
  };
}

const addressForm = (address: string): string => matchForm('workEmail', address);

async function addressesIn(group: string, { name }: Connection, { groups, users }: DirectoryPorts) {
  const found = new Map<string, MemberId[]>();
  const registers = await groups.members({ connection: name, group: groupId(group) });
  const known = await users.read(
    name,
    registers.map(({ member }) => member),
  );
  for (const { member } of registers) {
    const attributes = [...(known.get(member)?.attributes ?? [])].filter(([key]) => key !== ACTIVE_ATTRIBUTE);
    const own = new Set(attributes.map(([, { value }]) => addressForm(value)));
    for (const address of own) found.set(address, [...(found.get(address) ?? []), member]);
  }
  return found;
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}

function perKey<Value>(read: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const reading = new Map<string, Promise<Value>>();
  return (key) => {
    const begun = reading.get(key) ?? read(key);
    reading.set(key, begun);
    return begun;
  };
}
