import { DIRECTORIES } from '../../directory-simulator/directories.ts';
import { createDirectorySimulator } from '../../directory-simulator/engine/simulator.ts';
import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import type { DirectoryKind } from '../../shared/contract/directory-settings.ts';
import { shellWord } from '../../shared/operate/names.ts';
import { entraDirectory } from './entra.ts';
import { googleDirectory } from './google.ts';
import { oktaDirectory } from './okta.ts';
import type { Access, LocalVendor } from './vendor.ts';

/** A running directory simulator, with the setting and the secret of a connection that reads it. */
export interface OpenDirectory extends Access {
  readonly url: string;
  /** A shell command that makes a change in this directory; undefined if no group has a member. */
  readonly tryCommand: string | undefined;
  readonly close: () => Promise<void>;
}

/** The vendors that `npm start -- --directory` can simulate. */
const VENDORS = {
  google: googleDirectory,
  entra: entraDirectory,
  okta: oktaDirectory,
} satisfies Record<DirectoryKind, LocalVendor>;

export type LocalKind = keyof typeof VENDORS;
export const LOCAL_KINDS = Object.keys(VENDORS) as readonly LocalKind[];

/** Returns a shell command that removes one member from the first group with members. */
function tryCommandOf({ groups = [] }: WorldInput, url: string): string | undefined {
  for (const { id, members: [first] = [] } of groups) {
    if (first === undefined) continue;
    const change = JSON.stringify({ kind: 'removeMember', group: id, member: first.member });
    return `curl -X POST ${url}/_simulator/changes -H 'content-type: application/json' -d ${shellWord(change)}`;
  }
  return undefined;
}

export async function openDirectory(kind: LocalKind, world: WorldInput): Promise<OpenDirectory> {
  const vendor: LocalVendor = VENDORS[kind];
  const simulator = createDirectorySimulator({
    dialect: DIRECTORIES[kind].open(undefined),
    world,
    seed: '1',
    clock: Date.now,
    onDefect: (error) => console.error(error),
  });
  try {
    const { url } = await simulator.listen();
    const access = await vendor.accessTo(simulator, url);
    return { url, ...access, tryCommand: tryCommandOf(world, url), close: () => simulator.close() };
  } catch (error) {
    await simulator.close();
    throw error;
  }
}
