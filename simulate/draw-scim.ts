import { actsOf } from './acts.ts';
import { SCIM_MEMBERS } from './draw-people.ts';
import { between, type Random, some, weighted } from './random.ts';
import { type DirectoryAction, type Happening, HOUR_MS, MINUTE_MS, type Way } from './simulation-run.ts';

export const BY_REQUEST: Way = { form: 'scim_request', time: 'none', lateMs: 0, copies: 1 };
const SCIM_GROUPS = 4;
const SCIM_ACTIONS = 25;
const SCIM_CYCLES = 10;
const SCIM_KINDS = { join: 8, leave: 6, name: 3, snapshot: 5, delete: 1, forget: 1, profile: 2 };

/** Draws groups and members that exist only through SCIM requests. */
export function drawScimGroups(random: Random, connection: string, endMs: number): readonly Happening[] {
  const everybody = Array.from({ length: SCIM_MEMBERS }, (_, index) => `q${index}`);
  const cycles = Array.from({ length: SCIM_CYCLES }, () => between(random, 10 * MINUTE_MS, endMs - HOUR_MS));
  return Array.from({ length: SCIM_ACTIONS }, (_, index): Happening => {
    const group = `s${random.below(SCIM_GROUPS)}`;
    const members = some(random, everybody, between(random, 1, 4));
    const member = random.pick(everybody);
    const name = `Scim ${group} ${index} ${connection}`;
    const actions: Readonly<Record<string, DirectoryAction>> = {
      join: { kind: 'join', group, members },
      leave: { kind: 'leave', group, members },
      name: { kind: 'name', group, name },
      snapshot: { kind: 'snapshot', group, name: random.chance(0.6) ? name : null, members, parts: 1 },
      delete: { kind: 'delete', group },
      forget: { kind: 'forget', member },
      profile: { kind: 'profile', member, email: `${member}@${connection}.test` },
    };
    const kind = weighted(random, SCIM_KINDS);
    const atMs = random.pick(cycles) + random.below(2_000);
    return actsOf(connection).event(atMs, actions[kind] as DirectoryAction, BY_REQUEST);
  });
}
