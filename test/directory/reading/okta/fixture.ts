import type { Settings } from '../../../../directory-simulator/engine/settings.ts';
import type { WorldInput } from '../../../../directory-simulator/engine/world.ts';
import { openOkta } from '../../vendors/okta/reader.ts';
import { drive } from '../fixture.ts';

/** Returns an organisation of people a, b, c and d, with the given groups: `{rowing: ['a', 'b']}`. */
export const organisation = (groups: Readonly<Record<string, readonly string[]>>): WorldInput => ({
  users: ['a', 'b', 'c', 'd'].map((id) => ({ id, primaryEmail: `${id}@acme.test` })),
  groups: Object.entries(groups).map(([id, members]) => ({
    id,
    email: `${id}@group.test`,
    name: `Group ${id}`,
    members: members.map((member) => ({ member })),
  })),
});

interface Options {
  readonly world: WorldInput;
  readonly directory?: Partial<Settings>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly seed?: string;
}

/** Creates a reader of a simulated Okta organisation, with the engine, the platform and one clock. */
export async function openOktaReader({ world, directory = {}, settings = {}, seed = '1' }: Options) {
  const okta = await openOkta({ world, settings: directory, seed });
  return { ...(await drive(okta, settings)), okta };
}

/** Creates an organisation whose groups are on the platform and in sync. */
export async function settledOkta(options: Options) {
  const reader = await openOktaReader(options);
  await reader.hire('a', 'b', 'c', 'd');
  await reader.passMinutes(40);
  reader.takeSent();
  return reader;
}
