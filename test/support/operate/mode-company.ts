import { platformGroupId } from '../../../shared/domain/ids.ts';
import { changeSettings, planSettings, type SettingChange } from '../../../shared/operate/settings.ts';
import { refreshPeople } from '../../../shared/sync/people.ts';
import { suspectChanged } from '../engine/look-over.ts';
import { allOf, createTestEngine } from '../engine/test-engine.ts';
import { CONNECTION, HOUR_MS } from '../engine/world.ts';
import type { Mode } from './mode-table.ts';

/** Creates the group `g` with the users u-a and u-b, in sync, in this mode. */
export async function modeCompany(mode: Mode, settings: object = {}) {
  const engine = await createTestEngine({ settings: { guard: {}, ...settings } });
  const { world, deliver } = engine;
  const set = async (...changes: readonly SettingChange[]) => {
    const plan = await planSettings(CONNECTION, changes, world.toolPorts);
    await changeSettings(plan, { ...world.toolPorts, vault: {} as never });
    world.advance(HOUR_MS);
    await deliver();
  };
  await engine.hire('a', 'b', 'c', 'd');
  await deliver({ snapshot: 'other', of: ['d'] }, { snapshot: 'g', of: ['a', 'b'] });
  world.advance(HOUR_MS);
  await set({ key: 'mode', value: mode });
  const id = platformGroupId((await engine.state('g'))?.link?.id ?? '');
  return {
    ...engine,
    id,
    set,
    /** Changes the platform group as another client, and lets groupsync find the change. */
    async other(change: { readonly users?: readonly string[]; readonly name?: string } | 'delete') {
      if (change === 'delete') world.platform.deleteAsOther(id);
      else world.platform.changeAsOther(id, change);
      await suspectChanged(world);
      await deliver();
      await engine.pass(2 * HOUR_MS, 4);
    },
    people: async (...left: readonly string[]) => {
      world.advance(HOUR_MS);
      world.platform.employees = ['a', 'b', 'c', 'd'].map((role) => ({
        role,
        email: `${role}@acme.test`,
        userId: `u-${role}`,
        state: left.includes(role) ? 'TERMINATED' : 'ACTIVE',
      }));
      await refreshPeople(await world.connection(), world.toolPorts);
      await deliver();
    },
    users: () => world.platform.groups.get(id)?.users.toSorted(),
    name: () => world.platform.groups.get(id)?.name,
    isLinked: async () => (await engine.state('g'))?.link !== undefined,
    drift: async () =>
      (await allOf(world.toolPorts.drift.list(CONNECTION))).map(
        ({ kind, settledBy }) => `${kind} ${settledBy}`,
      ),
  };
}

export type ModeCompany = Awaited<ReturnType<typeof modeCompany>>;
