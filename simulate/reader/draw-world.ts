import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { between, type Random, some } from '../random.ts';
import { CONNECTION, GROUPS, type Scene } from './scene.ts';
import type { GroupInput, UserInput } from './vendor.ts';

/** The account with whose rights groupsync reads a Google directory. */
export const ADMINISTRATOR = 'admin@d.test';
export const EXTERNAL = 'guest@elsewhere.test';

/** Draws the state of a directory at the beginning of the run. */
export function drawWorld(random: Random, { vendor: { ownObjects, nests }, members }: Scene): WorldInput {
  const admin: UserInput = { id: 'admin', primaryEmail: ADMINISTRATOR, isAdmin: true };
  const people = members.map((id): UserInput => ({ id, primaryEmail: `${id}@${CONNECTION}.test` }));
  const { users = [], userFields = [], groupFields = {}, members: added = {} } = ownObjects;
  const groups = Array.from({ length: GROUPS }, (_, index): GroupInput => {
    const id = `k${index}`;
    const direct = some(random, members, between(random, 1, 5)).map((member) => ({ member }));
    // Each of the last two groups contains another group.
    const inner = nests && index >= GROUPS - 2 ? [{ member: `k${index - 3}` }] : [];
    const all = [...direct, ...inner, ...(added[id] ?? [])];
    return { id, email: `${id}@d.test`, name: `Group ${id}`, members: all, ...groupFields[id] };
  });
  const shown = [admin, ...people].map((user, index) => ({ ...user, vendorFields: userFields[index] ?? {} }));
  return { domain: 'd.test', users: [...shown, ...users], groups };
}
