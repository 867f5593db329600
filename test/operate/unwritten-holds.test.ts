import { describe, expect, it } from 'vitest';
import { blockPerson, groupsOfBlocked, unblockPerson } from '../../shared/operate/block.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { readHeldRemovals } from '../../shared/operate/held-members.ts';
import { approveHold, listHolds, rejectHold } from '../../shared/operate/holds.ts';
import { releaseGroup } from '../../shared/operate/ownership.ts';
import { pauseGroup, resumeGroup } from '../../shared/operate/pausing.ts';
import type { SettingChange } from '../../shared/operate/settings.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { CONNECTION, DAY_MS, HOUR_MS } from '../support/engine/world.ts';
import { type ModeCompany, modeCompany } from '../support/operate/mode-company.ts';
import { openWith, scimOf } from '../support/operate/takeovers.ts';
import { add, remove, replace } from '../support/scim-operations.ts';

const HOLDS_ALL = { maxRemovedCount: 0, deletedGroups: 0, deletedGroupsShare: 0 };
const setting =
  (...changes: readonly SettingChange[]) =>
  ({ set }: ModeCompany): Promise<unknown> =>
    set(...changes);
const inReport = setting({ key: 'mode', value: 'report' });

/** The ways in which groupsync stops writing a group, without a pause. */
const UNWRITTEN: readonly (readonly [group: string, stop: (there: ModeCompany) => Promise<unknown>])[] = [
  ['a group in the mode report', inReport],
  ['an excluded group', setting({ key: 'groups.exclude', value: ['Group g'] })],
  [
    'a released group',
    async ({ ref, world, deliver }) => {
      await releaseGroup(ref('g'), world.toolPorts);
      await deliver();
    },
  ],
];

/** The group g, which lost some members in the directory. All removals wait. */
async function holding(mode: 'authoritative' | 'additive' = 'authoritative') {
  const there = await modeCompany(mode, { guard: HOLDS_ALL });
  await there.deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
  return there;
}

/** Returns what `groupsync holds` lists, with the users that `holds show` shows. */
async function listed({ world, state }: ModeCompany) {
  const connection = await world.connection();
  const holds = await listHolds(CONNECTION, world.toolPorts);
  const seen = await state('g');
  const shown = holds.map(async ({ hold }) => {
    const users = seen ? await readHeldRemovals(seen, hold, connection, world.toolPorts) : [];
    const what = hold.deletes ? `${hold.decision.kind} deletion` : hold.decision.kind;
    expect(users).toHaveLength(hold.removes);
    for (const { event } of users) expect(event?.id).not.toBeNull();
    return [what, ...users.map(({ user }) => user).sort()].join(' ');
  });
  return Promise.all(shown);
}

describe.each(UNWRITTEN)('the list of removals of %s', (_, stop) => {
  it.each([
    ['waits', 'waiting'],
    ['was rejected', 'rejected'],
  ])('loses a deletion that %s as soon as the directory has the group again', async (__, kind) => {
    const there = await holding();
    const { deliver, world, ref } = there;
    await deliver({ remove: 'g' });
    if (kind === 'rejected') await rejectHold(ref('g'), { reason: 'it stays' }, world.toolPorts);
    await stop(there);
    expect(await listed(there)).toEqual([`${kind} deletion u-a u-b u-c`]);
    await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
    expect(await listed(there)).toEqual([]);
  });

  it.each(['authoritative', 'additive'] as const)(
    'loses only the member who returned, also if the member leaves again, after the mode %s',
    async (mode) => {
      const there = await holding(mode);
      const { deliver, world, ref } = there;
      await deliver({ take: ['b'], from: 'g' });
      await rejectHold(ref('g'), { reason: 'stays' }, world.toolPorts);
      await deliver({ take: ['a'], from: 'g' }, { take: ['c'], from: 'g' });
      await stop(there);
      expect(await listed(there)).toEqual(['waiting u-a u-c', 'rejected u-b']);
      await deliver({ add: ['a'], to: 'g' });
      expect(await listed(there)).toEqual(['waiting u-c', 'rejected u-b']);
      await deliver({ take: ['a'], from: 'g' }, { add: ['b'], to: 'g' });
      expect(await listed(there)).toEqual(['waiting u-c']);
    },
  );

  it('loses the removal of a blocked person, and does not get it back by the end of the block', async () => {
    const there = await holding();
    const { deliver, world } = there;
    await deliver({ take: ['b', 'c'], from: 'g' });
    await stop(there);
    const stolen = { text: 'b', reason: 'stolen laptop' };
    const { block } = await blockPerson(CONNECTION, stolen, world.toolPorts);
    const groups = await groupsOfBlocked(block, await world.connection(), world.toolPorts);
    expect(groups.map(({ outcome }) => outcome)).not.toContain('removing');
    await deliver({ add: ['d'], to: 'g' });
    expect(await listed(there)).toEqual(['waiting u-c']);
    await unblockPerson(CONNECTION, { text: 'b', reason: 'found' }, world.toolPorts);
    await deliver({ take: ['d'], from: 'g' });
    expect(await listed(there)).toEqual(['waiting u-c']);
  });
});

describe('the list of removals', () => {
  const seen = async ({ ref, world, member }: ModeCompany, who: string) => {
    const context = { connection: await world.connection(), ports: world.toolPorts };
    const { decision } = await explainMember(ref('g'), member(who), context);
    const { action, changes, held } = await planGroup(ref('g'), world.toolPorts);
    const shown = changes.map(({ kind, before, after }) => `${kind} ${before ?? after}`);
    return { explain: decision.outcome, plan: [action, ...shown], held };
  };

  it('gives each user in a plan the reason of their own set: a rejection, or the limit of the guard', async () => {
    const { deliver, ref, world } = await holding();
    await deliver({ take: ['b'], from: 'g' });
    await rejectHold(ref('g'), { reason: 'stays' }, world.toolPorts);
    await deliver({ take: ['c'], from: 'g' });
    expect(await planGroup(ref('g'), world.toolPorts)).toMatchObject({
      action: 'hold',
      held: ['u-b', 'u-c'],
      changes: [
        { before: 'u-b', reason: expect.stringContaining('rejected the removal (stays)') },
        { before: 'u-c', reason: expect.stringContaining('until an operator approves: the limit is 0') },
      ],
    });
  });

  it('stays for the operator in the mode report: holds lists it, explain says that the mode lets the user stay, and plan shows the removal', async () => {
    const there = await holding();
    const { deliver, users, set } = there;
    await deliver({ take: ['b'], from: 'g' });
    expect(await seen(there, 'b')).toEqual({
      explain: 'held',
      plan: ['hold', 'remove_member u-b'],
      held: ['u-b'],
    });
    await inReport(there);
    await deliver({ take: ['c'], from: 'g' });
    expect(await listed(there)).toEqual(['waiting u-b']);
    const plan = ['report', 'remove_member u-b', 'remove_member u-c'];
    for (const who of ['b', 'c']) expect(await seen(there, who)).toEqual({ explain: 'kept', plan, held: [] });
    await set({ key: 'mode', value: 'authoritative' });
    expect(await listed(there)).toEqual(['waiting u-b u-c']);
    expect(users()).toEqual(['u-a', 'u-b', 'u-c']);
  });

  it('takes a decision in the mode report, which has an effect only after the mode', async () => {
    const there = await holding();
    const { deliver, users, set, ref, world } = there;
    await deliver({ take: ['b', 'c'], from: 'g' });
    await inReport(there);
    const decided = { reason: 'seen', users: ['u-b'] as never };
    await rejectHold(ref('g'), decided, world.toolPorts);
    await approveHold(ref('g'), { reason: 'seen' }, world.toolPorts);
    await deliver();
    expect([await listed(there), users()]).toEqual([
      ['approved u-c', 'rejected u-b'],
      ['u-a', 'u-b', 'u-c'],
    ]);
    await set({ key: 'mode', value: 'authoritative' });
    expect([await listed(there), users()]).toEqual([['rejected u-b'], ['u-a', 'u-b']]);
  });

  it.each<[string, SettingChange]>([
    ['the mode report', { key: 'mode', value: 'report' }],
    ['an exclusion', { key: 'groups.exclude', value: ['Group g'] }],
  ])('keeps expired removals during %s, and they wait again after it', async (_, change) => {
    const there = await holding();
    const { deliver, world, set } = there;
    await deliver({ take: ['b'], from: 'g' });
    await set(change);
    world.advance(8 * DAY_MS);
    await deliver({ add: ['d'], to: 'g' });
    expect(await listed(there)).toEqual(['waiting u-b']);
    await set({ key: 'guard', value: null });
    await set({ key: change.key, value: change.key === 'mode' ? 'authoritative' : [] });
    expect(await listed(there)).toEqual(['waiting u-b']);
  });
});

it.each([
  ['the group within the group returned', true, 'waiting'],
  ['only the group itself was named', false, 'rejected'],
])(
  'a rejected removal of the members of a nested group, after %s during a pause of the group',
  async (_, returns, kind) => {
    const reader = await openWith({}, { nested: 'flatten', guard: HOLDS_ALL });
    const { world, ref, state, pass } = reader;
    const scim = await scimOf(reader);
    const inner = await scim.group('Inner', ['a', 'b']);
    const outer = await scim.group('Outer', ['c']);
    const join = () => scim.patch(`/Groups/${outer}`, [add('members', [{ value: inner }])]);
    const leave = () => scim.patch(`/Groups/${outer}`, [remove(`members[value eq "${inner}"]`)]);
    await join();
    await pass(HOUR_MS);
    const asked = { connection: await world.connection(), ports: world.toolPorts };
    const { events } = await explainMember(ref(outer), 'a@acme.test', asked);
    expect(events[0]).toMatchObject({ register: 'member', summary: 'present' });
    await leave();
    await pass(HOUR_MS);
    await rejectHold(ref(outer), { reason: 'stay' }, world.toolPorts as never);
    await pass(HOUR_MS);
    await pauseGroup(ref(outer), world.toolPorts as never);
    if (returns) await join();
    await scim.patch(`/Groups/${outer}`, [replace('displayName', 'Other')]);
    if (returns) await leave();
    await resumeGroup(ref(outer), world.toolPorts as never);
    await pass(HOUR_MS);
    const { hold, rejection } = (await state(outer)) ?? {};
    expect([hold, rejection].flatMap((one) => one?.decision.kind ?? [])).toEqual([kind]);
  },
);

it('a group that lost its platform group and waits with name_clash loses the removal of a member who returned', async () => {
  const there = await holding();
  const { deliver, world, other, state } = there;
  await deliver({ take: ['b', 'c'], from: 'g' });
  world.platform.addForeign({ name: 'Group g', spokeId: '', users: [] });
  await other('delete');
  expect([await listed(there), (await state('g'))?.settled]).toEqual([['waiting u-b u-c'], 'name_clash']);
  await deliver({ add: ['b'], to: 'g' });
  expect(await listed(there)).toEqual(['waiting u-c']);
});
