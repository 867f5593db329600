import { expect, it } from 'vitest';
import { groupId } from '../../shared/domain/ids.ts';
import { STOP_NOTES } from '../../shared/plan/stop.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, MINUTE_MS, type World } from '../support/engine/world.ts';

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

const settles = stops.flatMap(([stop, begin]) =>
  (['lost_before', 'lost_after'] as const).map((fault) => ({ stop, begin, fault })),
);

it.each(settles)(
  'apply reads the outcome of an open write ($fault), counts its removals and sends nothing: $stop',
  async ({ begin, fault }) => {
    const { world, troubles, deliver, emit, work, pass, hire, state, audit, ref } = await createTestEngine({
      settings: { guard: {} },
    });
    const { toolPorts, platform } = world;
    await hire('a', 'b', 'c');
    await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
    await pass(3 * MINUTE_MS);
    let hasWritten = false;
    troubles.platform = (call) => {
      if (call !== 'patch' && call !== 'put') return hasWritten ? 'unavailable_before' : 'none';
      hasWritten = true;
      return fault;
    };
    emit({ take: ['c'], from: 'g' });
    for (let round = 0; round < 60 && !hasWritten; round += 1) await work(1);
    const writes = platform.writes.length;
    expect((await state('g'))?.intent?.action).toMatch(/patch|put/);
    await begin(world);
    await pass(30 * MINUTE_MS);
    expect((await state('g'))?.intent).toBeDefined();
    troubles.platform = () => 'none';
    await pass(5 * MINUTE_MS);
    // The pause has removed the group from the requeue job's list, if no message was on the way.
    await sweep(await world.connection(), toolPorts);
    world.advance(2 * MINUTE_MS);
    await requeueDue(CONNECTION, toolPorts);
    await pass(10 * MINUTE_MS);
    expect(await state('g')).toMatchObject({ dirtySinceMs: expect.any(Number) });
    expect((await state('g'))?.intent).toBeUndefined();
    expect(platform.writes.length).toBe(writes);
    const outcome = fault === 'lost_after' ? 'found_written' : 'found_changed';
    expect(await audit('g')).toContainEqual(expect.objectContaining({ outcome }));
    expect(await toolPorts.guard.recent(ref('h'), world.nowMs(), [])).toMatchObject({ connection: 1 });
  },
);

it.each(stops)('the plan shows the change and why apply does not write it: %s', async (stop, begin) => {
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
});

it('the plan keeps the link to a changed group on a platform that shows no external ids', async () => {
  const { world, deliver, hire, pass, ref, state } = await createTestEngine({
    platform: { echoSpokeId: false },
  });
  await hire('a');
  await deliver({ snapshot: 'g', of: ['a'] });
  await pass(3 * MINUTE_MS);
  const [id = ''] = world.platform.groups.keys();
  world.platform.changeAsOther(id, { name: 'Theirs' });
  const seen = await state('g');
  const suspected = { version: null, activityEvents: [], atMs: world.nowMs() };
  if (seen) await world.toolPorts.groups.noteSuspected(seen, suspected, dirtyNow(world.toolPorts));
  expect(await planGroup(ref('g'), world.toolPorts)).toMatchObject({
    action: 'put',
    changes: [{ before: 'Theirs', after: 'Group g' }],
  });
});
