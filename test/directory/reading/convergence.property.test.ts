import { expect, it } from 'vitest';
import { REALISTIC_SETTINGS } from '../../../directory-simulator/engine/settings.ts';
import { seededRandom } from '../../../simulate/random.ts';
import { company, READERS } from './fixture.ts';

const PEOPLE = ['a', 'b', 'c', 'd'];
const GROUPS = ['rowing', 'chess', 'sport'];

/** Returns the users of a group in the directory, including the users of nested groups. */
function truth(state: Readonly<Record<string, readonly string[]>>, group: string): readonly string[] {
  const direct = state[group] ?? [];
  return [...new Set(direct.flatMap((one) => (one in state ? truth(state, one) : [one])))].sort();
}

it.each([
  ['google', 1],
  ['google', 2],
  ['entra', 1],
  ['entra', 2],
] as const)(
  'the reader of %s removes no remaining member, and the platform finally equals the directory (seed %i)',
  async (vendor, seed) => {
    const state: Record<string, string[]> = { rowing: ['a', 'b'], chess: ['c'], sport: ['rowing', 'd'] };
    const reader = await READERS[vendor]({
      world: company(state),
      directory: { ...REALISTIC_SETTINGS, failures: 0.05, emptyPages: 0.2 },
      settings: { nested: 'flatten' },
      seed: String(seed),
    });
    await reader.hire(...PEOPLE);
    await reader.passMinutes(60);
    const random = seededRandom(seed);
    for (let step = 0; step < 8; step += 1) {
      // The test never removes the member `a` of `rowing`.
      const [group, member] = [random.pick(GROUPS), random.pick(PEOPLE.slice(1))];
      const members = state[group] ?? [];
      const isIn = members.includes(member);
      state[group] = isIn ? members.filter((one) => one !== member) : [...members, member];
      await reader.change({ kind: isIn ? 'removeMember' : 'addMember', group, member });
      await reader.passMinutes(10);
      expect(reader.shown('rowing').flat()).toContain('u-a');
      expect(reader.shown('sport').flat()).toContain('u-a');
    }
    // Changes that the directory does not report are found only by the daily read of each group.
    await reader.pass(24 * 60 * 60_000);
    await reader.passMinutes(120);
    for (const group of GROUPS) {
      const users = truth(state, group).map((id) => `u-${id}`);
      expect(reader.shown(group)).toEqual([users]);
    }
    reader.takeSent();
    await reader.passMinutes(30);
    expect(reader.takeSent()).toEqual([]);
  },
);
