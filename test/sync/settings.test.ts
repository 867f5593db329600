import { describe, expect, it } from 'vitest';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import type { GateStore } from '../../shared/sync/ports/gate.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { changeSettings, planSettings } from '../../shared/sync/tool/settings.ts';
import { story } from '../support/engine/story.ts';
import { CONNECTION } from '../support/engine/world.ts';

/** A group in step, a worker that remembers connections, and a person who changes a setting. */
async function company() {
  const told = await story();
  const { world } = told;
  await told.hire('a');
  await told.tell({ snapshot: 'g', of: ['a'] });
  const { onlooker } = world;
  const remembering = {
    ...onlooker,
    connections: createConnectionStore(onlooker.table, { clock: world.nowMs, rememberMs: 30_000 }),
  };
  await remembering.connections.find(CONNECTION);
  const change = async () => {
    const plan = await planSettings(CONNECTION, [{ key: 'nameTemplate', value: 'new {id}' }], onlooker);
    return changeSettings(plan, 'somebody', { ...onlooker, vault: { remove: async () => false } });
  };
  const names = () => [...world.platform.groups.values()].map(({ name }) => name);
  return { ...told, remembering, change, names };
}

describe('a changed setting', () => {
  it('is known to the very next apply, however long workers remember connections', async () => {
    const { ref, remembering, change, names, state } = await company();
    expect(await change()).toBe(1);
    expect(await applyGroup(ref('g'), remembering)).toMatchObject({ outcome: 'written' });
    expect(names()).toEqual(['new g']);
    expect((await state('g'))?.dirtySinceMs).toBeUndefined();
  });

  it('made while a group is looked at leaves the group dirty, or is what the look goes by', async () => {
    const { ref, remembering, change, names, state, world } = await company();
    await change();
    const [before] = names();
    let changed = false;
    const gates: GateStore = {
      ...world.onlooker.gates,
      read: async (name) => {
        const gate = await world.onlooker.gates.read(name);
        // After settings and gate were read, and before anything is written.
        if (!changed) {
          changed = true;
          const plan = await planSettings(
            CONNECTION,
            [{ key: 'nameTemplate', value: 'newest {id}' }],
            world.onlooker,
          );
          await changeSettings(plan, 'somebody', { ...world.onlooker, vault: { remove: async () => false } });
        }
        return gate;
      },
    };
    await applyGroup(ref('g'), { ...remembering, gates });
    expect(before).toBeDefined();
    expect((await state('g'))?.dirtySinceMs !== undefined || names()[0] === 'newest g').toBe(true);
    await applyGroup(ref('g'), remembering);
    expect(names()).toEqual(['newest g']);
  });
});
