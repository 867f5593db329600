import { describe, expect, it } from 'vitest';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../../shared/sync/pausing.ts';
import { PlatformFailure, type Platforms } from '../../shared/sync/ports/platform.ts';
import { pump } from '../../shared/sync/pump.ts';
import type { PlatformFault } from '../support/engine/platform.ts';
import { story } from '../support/engine/story.ts';
import { CONNECTION, NO_FAULTS } from '../support/engine/world.ts';

const MINUTE_MS = 60_000;

async function company() {
  const told = await story();
  await told.hire('a', 'b');
  const always = (fault: PlatformFault) => {
    told.troubles.faults = { ...NO_FAULTS, platform: () => fault };
  };
  const gate = () => told.world.onlooker.gates.read(CONNECTION);
  return { ...told, always, gate, heal: () => always('none') };
}

describe('the gate', () => {
  it('closes at a 401, keeps events coming, burns no receive, and opens by itself with another secret', async () => {
    const { say, work, always, heal, gate, world, state, shown } = await company();
    always('unauthorized');
    say({ snapshot: 'g', of: ['a'] });
    await work(20);
    expect(await gate()).toMatchObject({ state: 'unauthorized', secretVersion: 'secret-1' });
    expect(world.applyQueue.messages).toEqual([]);
    const { platform } = world;
    const waiting = await state('g');
    expect(waiting).toMatchObject({ attempts: 0, dirtySinceMs: expect.any(Number) });
    say({ add: ['b'], to: 'g' });
    await work(5);
    expect((await state('g'))?.rev).toBeGreaterThan(waiting?.rev ?? 0);

    heal();
    platform.secretVersion = 'secret-2';
    world.advance(MINUTE_MS);
    expect(await pump(CONNECTION, world.onlooker)).toMatchObject({ gate: 'open', reenqueued: 1 });
    await work(20);
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
  });

  it('tries again after Retry-After and not before', async () => {
    const { world, ref, gate, say, work } = await company();
    const platforms: Platforms = {
      open: async (connection) => ({
        ...(await world.onlooker.platforms.open(connection)),
        probe: async () => undefined,
        groups: new Proxy({} as never, {
          get: () => async () => {
            throw new PlatformFailure('throttled', 'slow down', { status: 429, retryAfterMs: 90_000 });
          },
        }),
      }),
    };
    await world.onlooker.groups.pause(ref('g'));
    say({ upsert: 'g' });
    await work(1);
    expect(await applyGroup(ref('g'), { ...world.onlooker, platforms })).toMatchObject({
      outcome: 'gate_closed',
    });
    const closed = await gate();
    expect(closed).toMatchObject({ state: 'backoff', untilMs: world.nowMs() + 90_000 });
    world.advance(89_999);
    expect((await pump(CONNECTION, world.onlooker)).gate).toBe('backoff');
    world.advance(1);
    expect((await pump(CONNECTION, world.onlooker)).gate).toBe('open');
  });

  it.each([403, 504] as const)('stays open for all where one group alone meets a %i', async (status) => {
    const { world, tell, work, say, gate, state, shown } = await company();
    await tell({ snapshot: 'g', of: ['a'] }, { snapshot: 'h', of: ['a'] });
    world.platform.refusal = (spokeId) => (spokeId === 'g' ? status : undefined);
    say({ add: ['b'], to: 'g' }, { add: ['b'], to: 'h' });
    await work(30);
    expect((await gate()).state).toBe('open');
    expect(shown('h')).toEqual([['u-a', 'u-b']]);
    expect((await state('g'))?.attempts).toBeGreaterThan(0);
    world.platform.refusal = () => undefined;
    await tell();
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
  });

  it('refuses a secret of another company', async () => {
    const { world, ref, tell, gate } = await company();
    await tell({ upsert: 'g' });
    const { onlooker } = world;
    const connection = await onlooker.connections.find(CONNECTION);
    if (connection === undefined) throw new Error('expected the connection');
    await onlooker.connections.save({ ...connection, company: 'another' });
    await onlooker.desired.markDirty(ref('g'), { nowMs: world.nowMs(), dueMs: world.nowMs() });
    expect(await applyGroup(ref('g'), onlooker)).toMatchObject({ outcome: 'gate_closed' });
    expect(await gate()).toMatchObject({ state: 'unauthorized', reason: 'wrong_company' });
  });

  it('that a person closed opens for no probe, only for a person, and drains its backlog then', async () => {
    const { world, say, work, tell, shown, gate } = await company();
    await pauseConnection(CONNECTION, 'a migration', world.onlooker);
    say({ snapshot: 'g', of: ['a'] });
    await work(20);
    expect(await gate()).toMatchObject({ state: 'paused', reason: 'a migration' });
    expect(shown('g')).toEqual([]);
    expect(await resumeConnection(CONNECTION, world.onlooker)).toBe(true);
    await tell();
    expect(shown('g')).toEqual([['u-a']]);
  });
});

describe('a connection that only observes', () => {
  it('writes nothing until it is resumed', async () => {
    const { world, say, work, tell, shown, hire } = await story({ observing: true });
    await hire('a');
    say({ snapshot: 'g', of: ['a'] });
    await work(20);
    expect(world.platform.writes).toEqual([]);
    await resumeConnection(CONNECTION, world.onlooker);
    await tell();
    expect(shown('g')).toEqual([['u-a']]);
  });
});

describe('a paused group', () => {
  it('is written again, in one write, when it is resumed', async () => {
    const { world, ref, tell, shown } = await company();
    await tell({ snapshot: 'g', of: ['a'] });
    expect(await pauseGroup(ref('g'), world.onlooker)).toBe(true);
    await tell({ add: ['b'], to: 'g' });
    await tell({ upsert: 'g', name: 'Other' });
    expect(shown('g')).toEqual([['u-a']]);
    expect(await resumeGroup(ref('g'), world.onlooker)).toBe(true);
    await tell();
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
    expect(world.platform.writes.map(({ action }) => action)).toEqual(['create', 'patch']);
    expect(await resumeGroup(ref('g'), world.onlooker)).toBe(false);
    expect(await pauseGroup(ref('unheard-of'), world.onlooker)).toBe(false);
  });
});
