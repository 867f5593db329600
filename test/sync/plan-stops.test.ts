import { describe, expect, it } from 'vitest';
import { groupId } from '../../shared/domain/ids.ts';
import { STOP_NOTES } from '../../shared/plan/stop.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, type World } from '../support/engine/world.ts';

const stops: readonly (readonly [keyof typeof STOP_NOTES, (world: World) => Promise<unknown>])[] = [
  [
    'observing',
    async ({ toolPorts: { connections } }) => {
      const now = await connections.current(CONNECTION);
      if (now !== undefined) await connections.save({ ...now, observing: true });
    },
  ],
  [
    'gate_closed',
    async ({ toolPorts: { gates } }) =>
      gates.write(CONNECTION, await gates.read(CONNECTION), { state: 'paused', closings: 0 }),
  ],
  [
    'paused',
    async ({ toolPorts: { groups } }) => groups.pause({ connection: CONNECTION, group: groupId('g') }, 1),
  ],
];

describe('plan of a group that apply does not write', () => {
  it.each(stops)(
    'the plan shows the change and the reason why apply does not write it: %s',
    async (stop, begin) => {
      const { world, deliver, emit, work, hire, shown, ref } = await createTestEngine();
      await hire('a', 'b');
      await deliver({ snapshot: 'g', of: ['a'] });
      await begin(world);
      emit({ add: ['b'], to: 'g' });
      await work(100);
      expect(shown('g')).toEqual([['u-a']]);
      expect(await planGroup(ref('g'), world.toolPorts)).toMatchObject({
        action: 'patch',
        changes: [{ kind: 'add_member', after: 'u-b' }],
        note: STOP_NOTES[stop],
      });
    },
  );
});
