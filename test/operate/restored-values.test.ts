import { expect, it } from 'vitest';
import { contentOf } from '../../shared/domain/history.ts';
import { decideRequests } from '../../shared/operate/decisions.ts';
import { approveHold, rejectHold } from '../../shared/operate/holds.ts';
import { resumeConnection } from '../../shared/operate/pausing.ts';
import { acceptRestored } from '../../shared/operate/restated.ts';
import { rowsOf } from '../../shared/operate/setting-requests.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
import { issueToken, renewClient } from '../../shared/scim/operate/tokens.ts';
import { createScimTokenStore } from '../../shared/scim/store/scim-token-store.ts';
import { listTokens } from '../../shared/scim/tokens/tokens.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import { seededRandom } from '../../simulate/random.ts';
import { platformGroupsOf } from '../directory/reading/fixture.ts';
import { suspectChanged } from '../support/engine/look-over.ts';
import { Scheduler } from '../support/engine/scheduler.ts';
import { calledBy, createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, DAY_MS, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';
import { openWith, resume, scimOf, takeOver } from '../support/operate/takeovers.ts';
import { backupOf } from '../support/restore.ts';
import { remove } from '../support/scim-operations.ts';

/** A group g with the members a and b under four eyes, and functions for operators with different names. */
async function company(settings: object = {}) {
  const engine = await createTestEngine({ settings: { fourEyes: true, guard: null, ...settings } });
  const { world, deliver, pass } = engine;
  const as = (by: string) => ({ ...world.toolPorts, ...calledBy(by) });
  await engine.hire('a', 'b', 'c');
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  return {
    ...engine,
    as,
    backup: () => backupOf(world.table, world.nowMs),
    /** Lets another client set the users of g, and lets groupsync find the change. */
    async other(...users: readonly string[]) {
      world.platform.changeAsOther((await engine.state('g'))?.link?.id ?? '', { users });
      await suspectChanged(world);
      await deliver();
    },
    async resume() {
      await resumeConnection(CONNECTION, as('zed'));
      await sweep(await world.connection(), world.toolPorts);
      await pass(HOUR_MS);
    },
  };
}

it('wantedBefore: after a restore, the removal of a user who left before waits, and not for the person who accepted the members', async () => {
  const { world, deliver, state, shown, as, ref, backup, other, resume } = await company({
    mode: 'additive',
  });
  await deliver({ take: ['b'], from: 'g' });
  await other('u-a', 'u-b');
  expect(shown('g')).toEqual([['u-a']]);
  const restore = backup();
  world.advance(HOUR_MS);
  restore();
  world.platform.changeAsOther((await state('g'))?.link?.id ?? '', { users: ['u-a', 'u-b', 'u-x'] });
  await resume();
  await acceptRestored(ref('g'), await world.connection(), as('ann'));
  await deliver();
  expect([shown('g'), (await state('g'))?.hold]).toMatchObject([
    [['u-a', 'u-b', 'u-x']],
    { rule: 'adoption', removes: 2, fourEyes: true },
  ]);
  await expect(approveHold(ref('g'), { reason: 'ok' }, as('ann'))).rejects.toThrow('other than ann');
  await approveHold(ref('g'), { reason: 'ok' }, as('bob'));
  await deliver();
  expect(shown('g')).toEqual([['u-a']]);
});

it('movedFloor: after a restore, a rejection from before the takeover still covers no later membership', async () => {
  const guard = { minSize: 1, maxRemovedCount: 0, maxRemovedShare: 1 };
  const reader = await openWith({}, { guard, fourEyes: true });
  const { world, pass, ref, emit, state } = reader;
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  const scim = await scimOf(reader);
  const id = await scim.group('Group rowing', ['a', 'b', 'c']);
  emit({ take: ['b'], from: 'okta-1' });
  await pass(20 * MINUTE_MS);
  await rejectHold(ref('okta-1'), { reason: 'stays' }, world.toolPorts);
  await takeOver(reader, 'scim');
  await requeueDue(CONNECTION, world.toolPorts);
  await resume(reader);
  expect((await state(id))?.movedFloor).toBeDefined();
  const restore = backupOf(world.table, world.nowMs);
  world.advance(HOUR_MS);
  restore();
  await resume(reader);
  await scim.patch(`/Groups/${id}`, [remove(`members[value eq "${await scim.user('b')}"]`)]);
  await pass(20 * MINUTE_MS);
  expect((await state(id))?.hold).toMatchObject({ removes: 1, fourEyes: true });
  expect(platformGroupsOf(reader)[0]?.users).toContain('u-b');
});

it('previousForMs: a restore brings the request back, and the earlier secret expires only after another person confirms again', async () => {
  const { world, as, backup } = await company();
  const hex = ['1', '2', '3', '4', '5', '6'];
  const ports = (by: string) => ({
    ...as(by),
    vault: {} as never,
    tokens: createScimTokenStore(world.toolPorts.table),
    randomHex: (bytes: number) => (hex.pop() ?? '').padStart(2 * bytes, '0'),
  });
  const states = async () => (await listTokens(CONNECTION, ports('x'))).map(({ state }) => state).sort();
  const confirm = async (by: string) => {
    const shown = rowsOf(await world.connection());
    return decideRequests(CONNECTION, { isConfirmed: true, shown }, ports(by) as never);
  };
  const { client = '' } = (await issueToken(CONNECTION, undefined, ports('console:dee') as never, 'client'))
    .kept;
  const rotation = { expiresMs: undefined, previousForMs: DAY_MS };
  await renewClient(CONNECTION, client, rotation, ports('ann') as never);
  const restore = backup();
  await confirm('bob');
  world.advance(2 * DAY_MS);
  expect(await states()).toEqual(['active', 'expired']);
  restore();
  expect(await states()).toEqual(['active', 'requested']);
  await expect(confirm('ann')).rejects.toThrow('cannot confirm it');
  await confirm('bob');
  world.advance(DAY_MS);
  expect(await states()).toEqual(['active', 'expired']);
});

it('unnamedAudits and step: after three workers of one group and a restore, the audit verifies, and the next step begins with the restored content', async () => {
  const kept: unknown[] = [];
  for (let seed = 1; seed <= 6; seed += 1) {
    const there = await company({ guard: { minSize: 1, maxRemovedCount: 0 } });
    const { world, deliver, state, ref, audit } = there;
    const { toolPorts: ports } = world;
    await ports.groups.pause(ref('g'), 1);
    await deliver({ take: ['b'], from: 'g' });
    await ports.groups.resume(ref('g'), { ...dirtyNow(ports), pausedAtMs: 1 });
    const scheduler = new Scheduler({ random: seededRandom(seed), onEffect: () => world.advance(1) });
    const worker = (name: string) => world.portsFor(scheduler.worker(name));
    await scheduler.run(['1', '2', '3'].map((name) => () => applyGroup(ref('g'), worker(name))));
    const restore = there.backup();
    const before = await state('g');
    kept.push(before?.unnamedAudits);
    await there.other('u-a', 'u-b', 'u-x');
    world.advance(HOUR_MS);
    restore();
    const sinceMs = world.nowMs();
    world.platform.changeAsOther(before?.link?.id ?? '', { users: ['u-a', 'u-b', 'u-c'] });
    await there.resume();
    const { entries, named, broken } = await verifyAudit(ref('g'), ports);
    expect([named, broken]).toEqual([entries, null]);
    const first = (await audit('g')).filter(({ atMs, step }) => step && atMs >= sinceMs).at(-1);
    expect(first?.step?.before).toBe(before && contentOf(before));
  }
  expect(kept.some((keys) => keys !== undefined)).toBe(true);
});
