import { expect, it } from 'vitest';
import { REOPENED_GATE } from '../../shared/domain/gate.ts';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { groupKey, userKey } from '../../shared/store/keys.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { MAX_RESUMED_FAN_OUTS, REQUEUE_BATCH } from '../../shared/sync/tuning.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, MINUTE_MS, takeEvents, takeWoken } from '../support/engine/world.ts';

it('after the gate opens, each waiting group is woken once, and after the next failure it waits again', async () => {
  const { world, ref } = await createTestEngine();
  const { groups, desired, gates } = world.toolPorts;
  const refs = Array.from({ length: REQUEUE_BATCH + 5 }, (_, at) => ref(`g${at}`));
  const fail = (each: (typeof refs)[number]) => {
    const nowMs = world.nowMs();
    const error = { code: 'c', message: 'm', atMs: nowMs };
    const times = { retryAtMs: nowMs + 60 * MINUTE_MS, isRetrySent: false, soonerMs: nowMs };
    const state = { ref: each, rev: 1 } as GroupState;
    return groups.postpone(state, { ...times, error, attempts: 9, calledMs: [], mine: undefined });
  };
  for (const each of refs) {
    await desired.markDirty(each, { nowMs: world.nowMs(), wakeAtMs: world.nowMs(), isAtOnce: true });
    await fail(each);
  }
  await gates.write(CONNECTION, await gates.read(CONNECTION), REOPENED_GATE);
  const woken: number[] = [];
  for (let minute = 0; minute < 4; minute += 1) {
    world.advance(MINUTE_MS);
    woken.push((await requeueDue(CONNECTION, world.toolPorts)).reenqueued);
    for (const each of takeWoken(world)) await fail(each);
  }
  expect(woken).toEqual([REQUEUE_BATCH, 5, 0, 0]);
});

it('the requeue job wakes a waiting group of a paused connection, because apply settles its open write', async () => {
  const { world, emit, ref } = await createTestEngine();
  const { gates } = world.toolPorts;
  emit({ upsert: 'g' });
  await ingest(takeEvents(world), world.toolPorts);
  takeWoken(world);
  await gates.write(CONNECTION, await gates.read(CONNECTION), { state: 'paused', closings: 0 });
  world.advance(10 * MINUTE_MS);
  await requeueDue(CONNECTION, world.toolPorts);
  expect(takeWoken(world)).toEqual([ref('g')]);
});

it('a group with an invalid item is woken fewer than 70 times a day', async () => {
  const { world, hire, emit, ref } = await createTestEngine();
  await hire('a');
  emit({ upsert: 'g' }, { upsert: 'h' });
  await ingest(takeEvents(world), world.toolPorts);
  takeWoken(world);
  await world.table.update(groupKey(ref('g')), { set: { attempts: 'seven' } });
  await expect(applyGroup(ref('g'), world.toolPorts)).rejects.toThrow('expected a group');
  let woken = 0;
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    world.advance(MINUTE_MS);
    await requeueDue(CONNECTION, world.toolPorts);
    woken += takeWoken(world).filter(({ group }) => group === 'g').length;
  }
  expect(woken).toBeGreaterThan(24);
  expect(woken).toBeLessThan(70);
});

it('the next run of the requeue job resumes the fan-outs that exceed the limit of one run', async () => {
  const { world, member } = await createTestEngine();
  const { toolPorts, table } = world;
  for (let at = 0; at < MAX_RESUMED_FAN_OUTS + 5; at += 1) {
    const id = `u${String(at).padStart(4, '0')}`;
    const walk = { fanOut: 2, gpk: `fanOuts#${CONNECTION}#0`, gsk: id, revision: 2, member: id };
    await table.update(userKey(CONNECTION, member(id)), { set: walk });
  }
  const resumed = [];
  for (let minute = 0; minute < 3; minute += 1)
    resumed.push((await requeueDue(CONNECTION, toolPorts)).walksResumed);
  expect(resumed).toEqual([MAX_RESUMED_FAN_OUTS, 5, 0]);
});

it('the requeue job reports an invalid item, and still processes the gate, fan-outs and groups', async () => {
  const { world, hire, emit, deliver, work, ref, shown, member } = await createTestEngine();
  await hire('a', 'b', 'c');
  await deliver({ snapshot: 'g', of: ['a', 'c'] }, { snapshot: 'h', of: ['c'] });
  const { toolPorts, table } = world;
  // Two fan-outs are interrupted. The item of the first user is invalid.
  for (const id of ['a', 'c']) {
    const key = userKey(CONNECTION, member(id));
    const walk = { fanOut: 2, gpk: `fanOuts#${CONNECTION}#0`, gsk: id, revision: 2 };
    await table.update(key, { set: { ...walk, ...(id === 'a' ? { floor: 7 } : {}) } });
  }
  await toolPorts.gates.write(CONNECTION, await toolPorts.gates.read(CONNECTION), {
    state: 'backoff',
    closings: 1,
    untilMs: world.nowMs(),
  });
  emit({ add: ['b'], to: 'h' });
  await work(2);
  takeWoken(world);
  world.advance(2 * MINUTE_MS);

  expect(await requeueDue(CONNECTION, toolPorts)).toMatchObject({
    gate: 'open',
    walksResumed: 1,
    stuck: [expect.stringMatching(/^user a: expected a directory user/)],
  });
  await work(20);
  expect(shown('h')).toEqual([['u-b', 'u-c']]);
  expect((await toolPorts.users.read(CONNECTION, [member('c')])).get(member('c'))?.fanOut).toBeUndefined();
  expect(await applyGroup(ref('h'), toolPorts)).toMatchObject({ outcome: 'nothing_to_do' });
});

it('a due group with an unwritable item does not prevent the wake-up of other groups', async () => {
  const { world, hire, emit } = await createTestEngine();
  await hire('a');
  emit({ upsert: 'g' }, { upsert: 'h' });
  await ingest(takeEvents(world), world.toolPorts);
  takeWoken(world);
  world.advance(2 * MINUTE_MS);
  const { index } = world.toolPorts;
  const broken: typeof index = {
    ...index,
    reschedule: async (seen, at) => {
      if (seen.ref.group === 'g') throw new Error('the item is too large');
      return index.reschedule(seen, at);
    },
  };
  expect(await requeueDue(CONNECTION, { ...world.toolPorts, index: broken })).toMatchObject({
    reenqueued: 1,
    stuck: ['group g: the item is too large'],
  });
  expect(takeWoken(world).map(({ group }) => group)).toEqual(['h']);
  expect(await world.table.get(groupKey({ connection: CONNECTION, group: 'g' as never }))).toBeDefined();
});
