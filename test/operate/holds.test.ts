import { expect, it } from 'vitest';
import type { OperatorAction } from '../../shared/contract/operator-actions.ts';
import { platformUserId } from '../../shared/domain/ids.ts';
import { MAX_AHEAD_MS } from '../../shared/domain/stamp.ts';
import { blockPerson, unblockPerson } from '../../shared/operate/block.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { readHeldRemovals } from '../../shared/operate/held-members.ts';
import { approveHold, listHolds, rejectHold } from '../../shared/operate/holds.ts';
import { journalOf, recordAction } from '../../shared/operate/journal.ts';
import { releaseGroup } from '../../shared/operate/ownership.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
import { authorsOf } from '../../shared/plan/approval.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import { calledBy, createTestEngine, type DirectoryEvent, twice } from '../support/engine/test-engine.ts';
import { CONNECTION, DAY_MS, takeEvents } from '../support/engine/world.ts';
import { crashingWorker, slowWorker } from '../sync/reconcile/support/crashing-worker.ts';
import { change } from '../sync/reconcile/support/drift.ts';

const EVERYBODY = ['a', 'b', 'c', 'd', 'e', 'f'];
const WORD = { reason: 'a reorganisation' };
const users = (...ids: string[]) => ids.map((id) => platformUserId(`u-${id}`));

async function company(guard: object = {}, settings: object = {}) {
  const engine = await createTestEngine({ settings: { ...settings, guard } });
  await engine.hire(...EVERYBODY, 'n');
  await engine.deliver({ snapshot: 'g', of: EVERYBODY });
  const decided = async (id: string) => {
    const { approval, rejection } = (await engine.state(id)) ?? {};
    return approval ?? rejection;
  };
  const asked =
    (decide: typeof approveHold) =>
    (word: object = {}, group = 'g', ports: object = {}) =>
      decide(engine.ref(group), { ...WORD, ...word }, { ...engine.world.toolPorts, ...ports });
  return { ...engine, decided, approve: asked(approveHold), reject: asked(rejectHold) };
}

it('an approval of some removals permits only these removals, and the other removals stay held', async () => {
  const { deliver, shown, state, world, work, approve } = await company();
  expect(await approve()).toEqual({ kind: 'no_hold' });
  await deliver({ snapshot: 'g', of: ['a'] });
  const some = (digest: string | undefined, ...ids: string[]) => approve({ digest, users: users(...ids) });
  const digest = (await state('g'))?.hold?.digest;
  expect(await some('of another set', 'b')).toMatchObject({ kind: 'changed' });
  expect(await some(digest, 'a')).toMatchObject({ kind: 'changed' });
  expect(await some(digest)).toMatchObject({ kind: 'changed' });
  expect(world.applyQueue.messages).toEqual([]);
  expect(await some(digest, 'b')).toMatchObject({ kind: 'decided', hold: { removes: 1, keeps: 5 } });
  expect(world.applyQueue.messages).toHaveLength(1);
  const rest = { removes: 4, keeps: 1, decision: { kind: 'waiting' } };
  const approved = { removes: 1, keeps: 5, decision: { kind: 'approved', reason: WORD.reason } };
  expect((await listHolds(CONNECTION, world.toolPorts)).map(({ hold }) => hold)).toMatchObject([
    rest,
    approved,
  ]);
  for (let at = 0; at < 20; at += 1) {
    await work(1);
    expect((await state('g'))?.hold).toMatchObject(rest);
  }
  await deliver();
  expect(shown('g')).toEqual([users('a', 'c', 'd', 'e', 'f')]);
  expect(await state('g')).toMatchObject({ settled: 'held', hold: rest });
  expect((await state('g'))?.approval).toBeUndefined();
  expect(await some((await state('g'))?.hold?.digest, 'c', 'd', 'e', 'f')).toMatchObject({ kind: 'decided' });
  await deliver();
  expect(shown('g')).toEqual([users('a')]);
});

it('a block ends the rejection of its person, so the guard judges a later addition by another client', async () => {
  const { deliver, shown, state, world, reject } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  await reject();
  await deliver();
  const asked = { text: 'b', reason: 'account taken over' };
  await blockPerson(CONNECTION, asked, world.toolPorts);
  await deliver();
  await unblockPerson(CONNECTION, asked, world.toolPorts);
  await deliver();
  expect([shown('g'), (await state('g'))?.rejection?.removes]).toEqual([[users('a', 'c', 'd', 'e', 'f')], 4]);
  world.advance(DAY_MS);
  world.platform.changeAsOther((await state('g'))?.link?.id ?? '', { users: users(...EVERYBODY) });
  await sweep(await world.connection(), world.toolPorts);
  await deliver();
  expect(shown('g')).toEqual([users('a', 'c', 'd', 'e', 'f')]);
});

it('an operator can decide the other removals before apply has written the approved removals', async () => {
  const engine = await company();
  const { deliver, state, ref, world } = engine;
  await deliver({ snapshot: 'g', of: ['a'] });
  const { groups } = world.toolPorts;
  const decideRemovals = twice(groups.decideRemovals);
  const again = { ...world.toolPorts, groups: { ...groups, decideRemovals } };
  const digestNow = async () => (await state('g'))?.hold?.digest;
  for (const user of users('b', 'c')) {
    const word = { ...WORD, digest: await digestNow(), users: [user] };
    expect(await approveHold(ref('g'), word, again)).toMatchObject({ kind: 'decided' });
  }
  expect(await state('g')).toMatchObject({ hold: { removes: 3, keeps: 1 }, approval: { removes: 1 } });
  const before = await engine.audit('g');
  expect(before.filter(({ action }) => action === 'holds_approve')).toHaveLength(2);
  const word = { ...WORD, digest: await digestNow() };
  expect((await engine.reject(word)).kind).toBe('decided');
  await deliver();
  expect(engine.shown('g')).toEqual([users('a', 'd', 'e', 'f')]);
  expect((await state('g'))?.rejection).toMatchObject({ removes: 3, decision: { kind: 'rejected' } });
  expect((await engine.audit('g'))[0]).toMatchObject({ cause: 'approved by operator: a reorganisation' });
});

it('the audit records a hold with its event, and the end of the hold when no removal is held any more', async () => {
  const { deliver, audit, state, ref, world } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  await deliver({ snapshot: 'g', of: EVERYBODY });
  expect((await state('g'))?.hold).toBeUndefined();
  const [dropped, held] = await audit('g');
  const said = '5 to remove, 1 stay';
  expect(held).toMatchObject({
    action: 'hold',
    actor: { kind: 'directory' },
    cause: expect.stringMatching(/^event /),
    changes: [
      {
        before: null,
        after: said,
        reason: 'removals wait: 83 % of the members; the limit is 50 % (guard.maxRemovedShare)',
      },
    ],
  });
  expect(dropped).toMatchObject({ action: 'drop_hold', changes: [{ before: said, after: null }] });
  const { broken, named } = await verifyAudit(ref('g'), world.toolPorts);
  expect({ broken, named }).toEqual({ broken: null, named: 3 });
});

it('the reason of a hold within the limit names the earlier removals with which it waits', async () => {
  const { deliver, audit } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  await deliver({ add: ['b', 'c', 'd', 'e'], to: 'g' });
  await deliver({ take: ['b'], from: 'g' });
  const [held] = await audit('g');
  const limit = 'the limit is 50 % (guard.maxRemovedShare), which these or earlier removals exceeded';
  const reason = `removals wait: 33 % of the members; ${limit}`;
  expect(held).toMatchObject({ action: 'hold', changes: [{ after: '2 to remove, 4 stay', reason }] });
});

/** An approved write of five removals has no known outcome. */
async function sentApproval(fault: 'lost_before' | 'lost_late') {
  const engine = await company();
  const { approve, deliver, state, troubles, work } = engine;
  await deliver({ snapshot: 'g', of: ['a'] });
  await approve();
  troubles.platform = (call) => (call === 'patch' ? fault : 'none');
  while ((await state('g'))?.uncertain === undefined) await work(1);
  troubles.platform = () => 'none';
  return engine;
}

it.each<[string, DirectoryEvent | undefined, string, string]>([
  ['a retry', { upsert: 'g' }, 'abcdef', 'a'],
  ['a block', undefined, 'acdef', 'a'],
  ['a new membership', { add: ['b'], to: 'g' }, 'abcdef', 'ab'],
  ['a suspension', { user: 'b', 'scim:active': 'false' }, 'abcdef', 'a'],
])('after %s, an approval permits no second write yet', async (_, event, meanwhile, then) => {
  const { deliver, emit, ref, shown, state, work, world } = await sentApproval('lost_before');
  if (event !== undefined) emit(event);
  else await blockPerson(CONNECTION, { text: 'b', reason: 'stolen laptop' }, world.toolPorts);
  await work(6);
  expect([shown('g'), (await state('g'))?.approval]).toMatchObject([[users(...meanwhile)], { removes: 5 }]);
  const asked = { connection: await world.connection(), ports: world.toolPorts };
  expect((await explainMember(ref('g'), 'c', asked)).because).toMatch(/the approved removal was sent/);
  await deliver();
  expect([shown('g'), (await state('g'))?.removals]).toEqual([[users(...then)], undefined]);
});

it.each(['get', 'patch'])('an approval ends when its write takes effect late, before a %s', async (next) => {
  const { deliver, emit, findChanges, shown, state, troubles, world } = await sentApproval('lost_late');
  const left = next === 'get' ? ['a'] : ['a', 'n'];
  emit({ add: left, to: 'g' });
  troubles.platform = (call) => {
    if (call !== next || world.platform.lateCount === 0) return 'none';
    world.platform.doLate(0);
    return call === 'patch' ? 'lost_before' : 'none';
  };
  await deliver();
  expect([shown('g'), (await state('g'))?.removals]).toEqual([[users(...left)], undefined]);
  world.advance(DAY_MS);
  const [platformId = ''] = world.platform.groups.keys();
  world.platform.changeAsOther(platformId, { users: users(...EVERYBODY) });
  await findChanges();
  expect((await state('g'))?.hold).toMatchObject({ removes: 5 });
});

it('each decision about a part of a hold keeps its reason, and can be changed alone', async () => {
  const { deliver, shown, state, world, audit, approve, reject } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  for (const [at, some] of [users('b', 'c'), users('d')].entries()) {
    const word = { reason: `part ${at}`, digest: (await state('g'))?.hold?.digest, users: some };
    expect(await reject(word)).toMatchObject({ kind: 'decided' });
    world.advance(1_000);
  }
  await approve();
  await deliver();
  const sets = (await state('g'))?.removals?.sets ?? [];
  const rejected = (reason: string, removes: number) => ({
    removes,
    decision: { kind: 'rejected', reason },
  });
  expect(sets).toMatchObject([rejected('part 0', 2), rejected('part 1', 1)]);
  const { digest, decision } = sets[0] ?? {};
  const again = { digest, decision, users: users('c') };
  expect(await approve(again)).toMatchObject({ kind: 'decided', hold: { removes: 1 } });
  expect(await reject(again)).toMatchObject({ kind: 'changed' });
  await deliver();
  expect(shown('g')).toEqual([users('a', 'b', 'd')]);
  expect((await state('g'))?.removals?.sets).toMatchObject([rejected('part 0', 1), rejected('part 1', 1)]);
  expect((await audit('g')).filter(({ action }) => action === 'holds_reject')).toHaveLength(2);
});

it('the removals of a group are decided in at most 50 parts', async () => {
  const names = Array.from({ length: 52 }, (_, index) => `m${index}`);
  const { deliver, hire, ref, state, world } = await createTestEngine({ settings: { guard: {} } });
  await hire(...names);
  await deliver({ snapshot: 'g', of: names });
  await deliver({ take: names, from: 'g' });
  const reject = async (...some: string[]) => {
    const word = { ...WORD, digest: (await state('g'))?.hold?.digest, users: users(...some) };
    return rejectHold(ref('g'), word, world.toolPorts);
  };
  for (const name of names.slice(0, 49)) await reject(name);
  await expect(reject('m49')).rejects.toThrow('Decide all remaining removals together');
  expect(await reject('m49', 'm50', 'm51')).toMatchObject({ kind: 'decided' });
});

it('rejected removals stay stored, separately from later removals, until the directory wants the users again', async () => {
  const { deliver, shown, state, world, approve, reject } = await company({
    maxRemovedCount: 1,
    maxRemovedShare: 1,
  });
  await deliver({ take: ['a', 'b', 'c'], from: 'g' });
  const { digest } = (await state('g'))?.hold ?? {};
  await reject({ digest, users: users('a', 'b') });
  await approve();
  world.advance(2 * DAY_MS);
  await deliver({ take: ['d'], from: 'g' });
  expect(shown('g')).toEqual([users('a', 'b', 'e', 'f')]);
  world.advance(2 * DAY_MS);
  await deliver({ take: ['e', 'f'], from: 'g' });
  expect(await state('g')).toMatchObject({ hold: { removes: 2 }, rejection: { removes: 2 } });
  await deliver({ add: ['a', 'b'], to: 'g' });
  expect((await state('g'))?.rejection).toBeUndefined();
  await deliver({ take: ['a'], from: 'g' });
  expect((await state('g'))?.hold).toMatchObject({ removes: 3 });
});

it('removals are written even if they are approved while apply writes other approved removals', async () => {
  const { deliver, shown, state, ref, world, approve } = await company({ maxRemovedCount: 0 });
  await deliver({ snapshot: 'g', of: ['a'] });
  const approveOne = async (user: string) =>
    approve({ digest: (await state('g'))?.hold?.digest, users: users(user) });
  await approveOne('b');
  await applyGroup(ref('g'), world.portsFor(slowWorker('platform.patch', () => approveOne('c'))));
  expect(shown('g')).toEqual([users('a', 'c', 'd', 'e', 'f')]);
  await deliver();
  expect(shown('g')).toEqual([users('a', 'd', 'e', 'f')]);
  expect(await state('g')).toMatchObject({ hold: { removes: 3 } });
  expect((await state('g'))?.approval).toBeUndefined();
});

it('after a crash at any point, a rejected user stays and the other removals stay held', async () => {
  for (let dyingAt = 1, hasEnded = false; !hasEnded; dyingAt += 1) {
    expect(dyingAt).toBeLessThan(60);
    const { deliver, shown, state, ref, world } = await company();
    await deliver({ snapshot: 'g', of: ['a'] });
    const { digest } = (await state('g'))?.hold ?? {};
    const dying = world.portsFor(crashingWorker(dyingAt));
    const decision = rejectHold(ref('g'), { ...WORD, digest, users: users('b') }, dying);
    hasEnded = await decision.then(
      () => true,
      () => false,
    );
    await applyGroup(ref('g'), world.portsFor(crashingWorker(dyingAt))).catch(() => {});
    await deliver();
    expect(shown('g')).toEqual([users(...EVERYBODY)]);
    const { hold, rejection } = (await state('g')) ?? {};
    expect((hold?.removes ?? 0) + (rejection?.removes ?? 0)).toBe(5);
  }
});

it.each([
  ['an approval', 'a rejection', approveHold, rejectHold, 'rejected'],
  ['a rejection', 'an approval', rejectHold, approveHold, 'approved'],
] as const)('%s from a page older than %s does not decide a hold', async (_, __, late, early, stands) => {
  const { deliver, ref, world, state, decided, audit } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  const shown = (await state('g'))?.hold;
  await early(ref('g'), { reason: 'looked at it' }, { ...world.toolPorts, ...calledBy('Bob') });
  for (const old of [WORD, { ...WORD, digest: shown?.digest, decision: shown?.decision }]) {
    expect(await late(ref('g'), old, world.toolPorts)).toMatchObject({
      kind: 'changed',
      hold: { decision: { kind: stands, by: 'Bob' } },
    });
  }
  const now = await decided('g');
  expect(now?.decision).toMatchObject({ kind: stands, by: 'Bob' });
  const again = { ...WORD, digest: now?.digest, decision: now?.decision };
  expect((await late(ref('g'), again, world.toolPorts)).kind).toBe('decided');
  expect((await decided('g'))?.decision).toMatchObject({ by: 'operator' });
  expect((await audit('g')).filter(({ action }) => action.startsWith('holds_'))).toHaveLength(2);
});

it('if two operators decide at the same time, the second operator is shown who decided first', async () => {
  const { deliver, world, state, audit, approve, reject } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  const { groups } = world.toolPorts;
  const decideRemovals: typeof groups.decideRemovals = async (...args) => {
    await reject({ reason: 'no' }, 'g', calledBy('Bob'));
    return groups.decideRemovals(...args);
  };
  expect(await approve({}, 'g', { groups: { ...groups, decideRemovals } })).toMatchObject({
    kind: 'changed',
    hold: { decision: { kind: 'rejected', by: 'Bob' } },
  });
  expect((await state('g'))?.rejection?.decision).toMatchObject({ kind: 'rejected', by: 'Bob' });
  const decisions = (await audit('g')).filter(({ action }) => action.startsWith('holds_'));
  expect(decisions.map(({ action, cause, outcome }) => ({ action, cause, outcome }))).toEqual([
    { action: 'holds_reject', cause: 'Bob: no', outcome: 'written' },
    { action: 'holds_approve', cause: 'operator: a reorganisation', outcome: 'found_changed' },
  ]);
});

it('removals still wait after another client removed their users, and the group is not in sync', async () => {
  const { deliver, shown, state, world } = await company();
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  world.advance(DAY_MS);
  world.platform.changeAsOther((await state('g'))?.link?.id ?? '', { users: users('e', 'f') });
  await sweep(await world.connection(), world.toolPorts);
  await deliver();
  const now = await state('g');
  expect(now).toMatchObject({ settled: 'held', hold: { removes: 4 }, openDrift: [] });
  const connection = await world.connection();
  const held = now?.hold && (await readHeldRemovals(now, now.hold, connection, world.toolPorts));
  expect(held?.[0]?.because).toContain('does not show them in the group any more');
  await deliver({ take: ['e'], from: 'g' }, { add: ['n'], to: 'g' });
  expect(shown('g')).toEqual([users('e', 'f', 'n')]);
  expect(await state('g')).toMatchObject({ settled: 'held', hold: { removes: 5 } });
  await deliver({ snapshot: 'g', of: [...EVERYBODY, 'n'] });
  expect(await state('g')).toMatchObject({ settled: 'in_sync', hold: undefined });
});

it('a decision applies only to the removals that the operator was shown, and later removals stay held', async () => {
  for (const [decide, left] of [
    [approveHold, ['e', 'f']],
    [rejectHold, EVERYBODY],
  ] as const) {
    const { deliver, state, ref, world, shown } = await company({ perHourCount: 9, maxRemovedCount: 9 });
    await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
    const old = (await state('g'))?.hold;
    await deliver({ take: ['e'], from: 'g' });
    expect((await state('g'))?.hold).toMatchObject({ removes: 5 });
    const word = { ...WORD, digest: old?.digest, decision: old?.decision };
    const later = { ...word, users: users('e') };
    expect(await decide(ref('g'), later, world.toolPorts)).toMatchObject({ kind: 'changed' });
    const decided = await decide(ref('g'), word, world.toolPorts);
    expect(decided).toMatchObject({ kind: 'decided', hold: { removes: 4 } });
    await deliver();
    expect(shown('g')).toEqual([users(...left)]);
    expect((await state('g'))?.hold).toMatchObject({ removes: 1, decision: { kind: 'waiting' } });
  }
});

it('an approval with the digest from before a rejection is refused, even after further removals', async () => {
  const { deliver, state, shown, approve, reject } = await company({ maxRemovedCount: 0 });
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  const word = { ...WORD, digest: (await state('g'))?.hold?.digest };
  await reject();
  await deliver({ take: ['e'], from: 'g' });
  const hold = { removes: 4, decision: { kind: 'rejected' } };
  expect(await approve(word)).toMatchObject({ kind: 'changed', hold });
  expect((await state('g'))?.hold).toMatchObject({ removes: 1, decision: { kind: 'waiting' } });
  await deliver({ upsert: 'g', name: 'Other' });
  expect(shown('g')).toEqual([users(...EVERYBODY)]);
  // The plan removes no user of the rejected hold, so the limits apply to the new hold as to any other hold.
  await deliver({ snapshot: 'h', of: EVERYBODY }, { take: ['a', 'b'], from: 'h' });
  await reject({}, 'h');
  await deliver({ snapshot: 'h', of: ['a', 'b', 'c', 'd'] });
  expect(await state('h')).toMatchObject({ hold: { removes: 2, decision: { kind: 'waiting' } } });
  expect((await state('h'))?.rejection).toBeUndefined();
});

it('a rejection lasts a year, and then the sweep holds the removals that are still wanted', async () => {
  const { deliver, state, ref, world, shown, reject, sweepAfter } = await company();
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  const connection = await world.connection();
  const why = async () =>
    (await explainMember(ref('g'), 'b', { connection, ports: world.toolPorts })).because;
  expect(await why()).toMatch(/until an operator decides/);
  await reject({}, 'g', calledBy('Bob'));
  expect(await why()).toMatch(/Bob rejected the removal \(a reorganisation\)/);
  await deliver({ add: ['a'], to: 'g' });
  await sweepAfter(364 * DAY_MS);
  expect(await state('g')).toMatchObject({ rejection: { removes: 3 } });
  await sweepAfter(DAY_MS);
  const { hold, rejection } = (await state('g')) ?? {};
  expect(hold).toMatchObject({ removes: 3, decision: { kind: 'waiting' } });
  expect(rejection).toBeUndefined();
  expect(shown('g')).toEqual([users(...EVERYBODY)]);
});

it('a per_hour hold is not approved automatically, but expires after a week and is held again', async () => {
  const { deliver, shown, state, world, approve } = await company({ perHourCount: 3 });
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  const first = (await state('g'))?.hold;
  expect(first).toMatchObject({ rule: 'per_hour', removes: 4 });
  for (const wanted of ['a', 'b']) {
    await deliver({ add: [wanted], to: 'g' });
    world.advance(7 * DAY_MS);
    await deliver({ upsert: 'g' });
    expect(shown('g')).toEqual([users(...EVERYBODY)]);
    expect((await state('g'))?.hold?.expiresAtMs).toBeGreaterThan(world.nowMs());
  }
  const renewed = (await state('g'))?.hold;
  expect(renewed).toMatchObject({ rule: 'per_hour', removes: 2, decision: { kind: 'waiting' } });
  expect(await approve({ digest: first?.digest })).toMatchObject({ kind: 'changed' });
  await approve({ digest: renewed?.digest });
  await deliver();
  expect(shown('g')).toEqual([users('a', 'b', 'e', 'f')]);
});

it('removals are held again if the set of their hold can no longer be read', async () => {
  const { deliver, shown, state, world } = await company({ perHourCount: 3 });
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  world.advance(7 * DAY_MS);
  for (const item of world.table.items.values()) if (item.sk.startsWith('HELD#')) world.table.remove(item);
  await deliver({ add: ['a', 'b'], to: 'g' });
  expect(shown('g')).toEqual([users(...EVERYBODY)]);
  expect((await state('g'))?.hold).toMatchObject({ removes: 2, decision: { kind: 'waiting' } });
});

it('a new hold replaces an expired hold, even after a crash at any point', async () => {
  const { deliver, state, ref, world } = await company({ perHourCount: 3 });
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  const first = (await state('g'))?.hold;
  world.advance(7 * DAY_MS);
  for (let dyingAt = 1; (await state('g'))?.hold?.expiresAtMs === first?.expiresAtMs; dyingAt += 1) {
    expect(dyingAt).toBeLessThan(50);
    await world.toolPorts.desired.markDirty(ref('g'), dirtyNow(world.toolPorts));
    await applyGroup(ref('g'), world.portsFor(crashingWorker(dyingAt))).catch(() => {});
    expect((await state('g'))?.hold?.digest).toBe(first?.digest);
  }
});

it('switching the guard off decides no held removal, and later removals are written', async () => {
  const { deliver, shown, world, reject } = await company({ perHourCount: 3 });
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  await deliver({ snapshot: 'h', of: EVERYBODY });
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'h' });
  await reject({}, 'h');
  await change(world, { guard: null });
  await deliver({ take: ['e'], from: 'g' }, { take: ['e'], from: 'h' });
  expect(shown('g')).toEqual([users('a', 'b', 'c', 'd', 'f')]);
  expect(shown('h')).toEqual([users('a', 'b', 'c', 'd', 'f')]);
});

it.each(['waiting', 'rejected'])(
  'a hold that is %s stays stored when a wrong base URL ends the link, and when the group is linked again',
  async (kind) => {
    const { deliver, pass, shown, state, world, reject } = await company({
      maxRemovedShare: 1,
      perHourCount: 3,
    });
    await deliver({ snapshot: 'h', of: EVERYBODY });
    await deliver({ take: ['a', 'b'], from: 'h' });
    await deliver({ take: ['a', 'b'], from: 'g' });
    if (kind === 'rejected') await reject();
    const platformId = (await state('g'))?.link?.id;
    world.advance(DAY_MS);
    world.platform.hidden = (id) => id === platformId;
    world.platform.failing = (call) => (call === 'create' ? 404 : undefined);
    await sweep(await world.connection(), world.toolPorts);
    await pass(600_000);
    expect(await state('g')).not.toHaveProperty('link');
    world.platform.hidden = () => false;
    world.platform.failing = () => undefined;
    world.advance(DAY_MS);
    await deliver();
    expect(shown('g')).toEqual([users(...EVERYBODY)]);
    expect(await state('g')).toMatchObject({
      link: { id: platformId },
      [kind === 'waiting' ? 'hold' : 'rejection']: { removes: 2, decision: { kind } },
    });
  },
);

it('a hold ends if the directory wants its users again, and not while its group is excluded or released', async () => {
  const { deliver, shown, state, ref, world, sweepAfter } = await company();
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c', 'd', 'f'] });
  expect(shown('g')).toEqual([users('a', 'b', 'c', 'd', 'f')]);
  expect((await state('g'))?.hold).toBeUndefined();
  await deliver({ take: ['b', 'c', 'd'], from: 'g' });
  expect((await state('g'))?.hold).toBeDefined();
  await change(world, { groups: { exclude: ['*'] } });
  await deliver();
  expect(await state('g')).toMatchObject({ settled: 'excluded', hold: { removes: 3 } });
  world.advance(8 * DAY_MS);
  await deliver({ add: ['n'], to: 'g' });
  await change(world, { groups: {}, guard: { maxRemovedShare: 1 } });
  await deliver({ add: ['e'], to: 'g' });
  expect(shown('g')).toEqual([users('a', 'b', 'c', 'd', 'e', 'f', 'n')]);
  expect(await state('g')).toMatchObject({ settled: 'held', hold: { removes: 3 } });
  await releaseGroup(ref('g'), world.toolPorts);
  await deliver();
  expect(await state('g')).toMatchObject({ settled: 'excluded', hold: { removes: 3 } });
  await sweepAfter(7 * DAY_MS);
  expect(await state('g')).not.toHaveProperty('removals');
});

it('a group with held removals is deleted only after a decision about its deletion, as a whole', async () => {
  const { deliver, shown, state, ref, world, approve } = await company();
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  await deliver({ remove: 'g' });
  expect(shown('g')).toEqual([users(...EVERYBODY)]);
  const deletion = (await state('g'))?.hold;
  expect(deletion).toMatchObject({ deletes: true, removes: 6 });
  for (const decide of [approveHold, rejectHold])
    expect(await decide(ref('g'), { ...WORD, users: users('a') }, world.toolPorts)).toEqual({
      kind: 'all_or_none',
    });
  await approve({ digest: deletion?.digest });
  await deliver();
  expect(shown('g')).toEqual([]);
  expect(await state('g')).not.toHaveProperty('removals');
  const strict = await company({ perHourCount: 5 });
  await strict.deliver({ remove: 'g' });
  expect(strict.shown('g')).toEqual([users(...EVERYBODY)]);
  const { hold } = (await strict.state('g')) ?? {};
  expect(hold).toMatchObject({ rule: 'per_hour', removes: 6, deletes: true });
  await strict.deliver({ upsert: 'g' });
  expect((await strict.state('g'))?.hold?.removes).toBe(6);
  const old = { ...WORD, digest: hold?.digest };
  expect(await approveHold(ref('g'), old, strict.world.toolPorts)).toMatchObject({ kind: 'changed' });
});

it.each([{ onGroupDeleted: 'release' }, { mode: 'additive' }])(
  'the members of a deleted group wait for a decision before the release with %o, if they are more than the allowed share',
  async (settings) => {
    const { deliver, shown, state, approve } = await company({}, settings);
    await deliver({ remove: 'g' });
    expect(shown('g')).toEqual([users(...EVERYBODY)]);
    expect(await state('g')).toMatchObject({ hold: { rule: 'share', removes: 6 }, link: {} });
    await approve();
    await deliver();
    expect(shown('g')).toEqual([[]]);
    expect(await state('g')).not.toHaveProperty('link');
    expect((await state('g'))?.previousLink).toMatchObject({ isGone: false });
  },
);

it.each<[string, DirectoryEvent[][]]>([
  ['and months pass', [[{ snapshot: 'g', of: ['a', 'b'] }], [{ take: ['b'], from: 'g' }]]],
  [
    'and no worker sees it',
    [
      [
        { add: ['b'], to: 'g' },
        { take: ['b'], from: 'g' },
      ],
    ],
  ],
])('a rejection ends for a user that the directory wants again, %s', async (_, deliveries) => {
  const { deliver, world, shown, state, reject } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  await reject();
  for (const events of deliveries) {
    world.advance(60 * DAY_MS);
    await deliver(...events);
  }
  expect(shown('g')).toEqual([users('a', 'c', 'd', 'e', 'f')]);
  expect(await state('g')).toMatchObject({ hold: undefined, rejection: { removes: 4 } });
});

it('a rejection ends for a user whose return is reported only after a newer hold', async () => {
  const { deliver, emit, reject, state, world } = await company({ maxRemovedCount: 0 });
  await deliver({ take: ['b'], from: 'g' });
  await reject();
  emit({ add: ['b'], to: 'g' }, { take: ['b'], from: 'g' });
  const late = takeEvents(world);
  await deliver({ take: ['c'], from: 'g' });
  for (const { body } of late) world.eventsQueue.send({ body, attributes: {} });
  await deliver();
  expect(await state('g')).toMatchObject({ hold: { removes: 2 }, rejection: undefined });
});

const GO = EVERYBODY.slice(1);
const DELETED = GO.map((forget) => ({ forget }));
type Company = Awaited<ReturnType<typeof company>>;
const did = (action: OperatorAction) => (engine: Company) =>
  recordAction(
    journalOf(CONNECTION),
    { action, changes: [] },
    { ...engine.world.toolPorts, ...calledBy('ann') },
  );
const nothing = async () => {};

it.each([
  ['the directory removes the members', nothing, '', { take: GO, from: 'g' }, 'decided'],
  [
    'an operator sends the removals',
    nothing,
    'ann',
    { take: GO, from: 'g' },
    /^nothing .* other than ann must approve it$/,
  ],
  ['an operator imports a snapshot', nothing, 'ann', { snapshot: 'g', of: ['a'] }, /must approve it/],
  ['an operator sends the deletion of the group', nothing, 'ann', { remove: 'g' }, /must approve it/],
  ['an operator sends the deletion of the users', nothing, 'ann', DELETED, /must approve it/],
  ['the directory deletes the users after other events', did('events_send'), '', DELETED, 'decided'],
  [
    'the directory deletes a group that the operator renamed',
    (engine: Company) => engine.deliverAs('ann', { upsert: 'g', name: 'Other' }),
    '',
    { remove: 'g' },
    'decided',
  ],
  [
    'a later event of the operator hides who sent a snapshot after an import',
    async (engine: Company) => {
      await did('import')(engine);
      await engine.deliver({ snapshot: 'g', of: ['a'] });
    },
    'ann',
    { upsert: 'g', name: 'Other' },
    /must approve it/,
  ],
  ['another operator sends the removals', nothing, 'bob', { take: GO, from: 'g' }, 'decided'],
] as const)(
  'under four eyes, the cause of a hold decides whether the operator ann may approve it: %s',
  async (_, before, sentBy, directoryEvent, outcome) => {
    const engine = await company({ perHourCount: 1 }, { fourEyes: true });
    await before(engine);
    await engine.deliverAs(sentBy, ...[directoryEvent].flat());
    const approve = (by: string) =>
      engine.approve({}, 'g', calledBy(by)).then(
        ({ kind }) => kind,
        ({ message }: Error) => message,
      );
    expect(await approve('ann')).toMatch(outcome);
    if (outcome !== 'decided') {
      expect((await engine.state('g'))?.hold?.decision.kind).toBe('waiting');
      expect(await engine.reject({}, 'g', calledBy('ann'))).toMatchObject({ kind: 'decided' });
      expect(await engine.approve()).toMatchObject({ kind: 'changed' });
    }
  },
);

const AT_MS = 1_000;
it.each([
  ['no event', 'import', 'yes'],
  ['no event', 'restated', 'yes'],
  ['no event', 'adopt', 'yes'],
  ['no event', 'directory_takeover', 'yes'],
  ['no event', 'scim_token_create', 'yes'],
  ['no event', 'an_action_of_another_release', 'yes'],
  ['no event', 'connections_set match', 'yes'],
  ['no event', 'connections_confirm nested', 'yes'],
  ['no event', 'connections_set guard', 'no'],
  ['no event', 'connections_set fourEyes observing', 'no'],
  ['no event', 'connections_set guard includeStates', 'yes'],
  ['no event', 'read_members', 'no'],
  ['no event', 'holds_approve', 'no'],
  ['events', 'import', 'no'],
  ['events', 'restated', 'after'],
  ['events', 'connections_set mode', 'after'],
  ['events', 'adopt', 'after'],
  ['events', 'directory_takeover', 'after'],
  ['directory', 'directory_accept_deletions', 'yes'],
  ['directory', 'directory_takeover', 'yes'],
  ['directory', 'connections_set directory', 'yes'],
  ['directory', 'connections_set match', 'after'],
] as const)(
  'the operator ann may have caused a removal with %s by the action "%s" at any time, after the event, or never: %s',
  (of, done, expected) => {
    const cause =
      of === 'no event'
        ? { kind: 'no_event' as const }
        : ({ kind: 'event', source: of, atMs: AT_MS } as const);
    const [action = '', ...keys] = done.split(' ');
    const isAuthor = (atMs: number) => authorsOf([cause], [{ action, by: 'ann', atMs, keys }]).has('ann');
    const [before, after] = { yes: [true, true], after: [false, true], no: [false, false] }[expected];
    expect([isAuthor(AT_MS - MAX_AHEAD_MS), isAuthor(AT_MS - MAX_AHEAD_MS + 1)]).toEqual([before, after]);
  },
);

it('a hold has the senders of its events and the authors of its other removals as authors', () => {
  const sent = { kind: 'event', source: 'events', atMs: AT_MS, by: 'bob' } as const;
  const set = { action: 'rebind', by: 'ann', atMs: AT_MS - MAX_AHEAD_MS, keys: [] };
  expect([...authorsOf([sent], [set])]).toEqual(['bob']);
  expect([...authorsOf([sent, { kind: 'no_event' }], [set])]).toEqual(['bob', 'ann']);
});
