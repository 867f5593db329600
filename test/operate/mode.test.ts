import { describe, expect, it } from 'vitest';
import { platformGroupId } from '../../shared/domain/ids.ts';
import { approveHold, rejectHold } from '../../shared/operate/holds.ts';
import { adoptGroup } from '../../shared/operate/ownership.ts';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../../shared/operate/pausing.ts';
import type { SettingChange } from '../../shared/operate/settings.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { suspectChanged } from '../support/engine/look-over.ts';
import { CONNECTION, DAY_MS, failFirst, HOUR_MS } from '../support/engine/world.ts';
import { type ModeCompany as Company, modeCompany as company } from '../support/operate/mode-company.ts';
import { AB, MODE_TABLE, type Mode } from '../support/operate/mode-table.ts';

/** `release` is the mode authoritative with `onGroupDeleted=release`. Without a result of its own, it has the same. */
type Results = Readonly<Record<Mode, unknown>> & { readonly release?: unknown };
const VARIANTS = ['authoritative', 'release', 'additive', 'report'] as const;
const variant = (one: (typeof VARIANTS)[number]) =>
  one === 'release' ? company('authoritative', { onGroupDeleted: 'release' }) : company(one);

/** Lets time pass, and lets the table delete expired items. */
function passDays({ world }: Company, days: number) {
  world.advance(days * DAY_MS);
  world.table.expire(world.nowMs());
}

/** The user b leaves. Another client adds the user after two years. */
const addedAgain = (leaves: (there: Company) => Promise<unknown>) => async (there: Company) => {
  await leaves(there);
  passDays(there, 730);
  await there.other({ users: AB });
};
const LEFT: Results = { authoritative: ['u-a'], additive: ['u-a'], report: AB };

/** The directory wants a user for a moment, while the group is paused. Another client adds the user after these days. */
const wantedWhilePaused = (days: number) => async (there: Company) => {
  const { deliver, ref, world, other } = there;
  await pauseGroup(ref('g'), world.toolPorts);
  await deliver({ add: ['c'], to: 'g' });
  await deliver({ take: ['c'], from: 'g' });
  await resumeGroup(ref('g'), world.toolPorts);
  await deliver();
  passDays(there, days);
  await other({ users: [...AB, 'u-c'] });
};

/** The directory removes b from the new group h. After these days, h is linked by its external id. */
const linkedAfter = (days: number) => async (there: Company) => {
  const { emit, pass, deliver, world } = there;
  await pauseConnection(CONNECTION, undefined, world.toolPorts);
  emit({ snapshot: 'h', of: ['a', 'b'] });
  await pass(HOUR_MS, 4);
  emit({ take: ['b'], from: 'h' });
  await pass(HOUR_MS, 4);
  passDays(there, days);
  const users = [...AB, 'u-x'];
  world.platform.adopted.add(world.platform.addForeign({ name: 'Group h', spokeId: 'h', users }));
  await resumeConnection(CONNECTION, world.toolPorts);
  await deliver();
};

/** The lines that need a clock, or a field that only this platform can change. */
const LATER: readonly (readonly [
  line: string,
  happens: (company: Company) => Promise<unknown>,
  results: Results,
  reads?: (company: Company) => unknown,
])[] = [
  [
    'an external id that another client changed',
    async ({ other, world, id }) => {
      world.platform.changeAsOther(id, { spokeId: 'theirs' });
      await other({});
    },
    { authoritative: ['g'], additive: ['g'], report: ['theirs'] },
    ({ world, id }) => [world.platform.groups.get(id)?.spokeId],
  ],
  [
    'a removed member that another client adds again after two years',
    addedAgain(({ deliver }) => deliver({ take: ['b'], from: 'g' })),
    LEFT,
  ],
  ['a leaver that another client adds again after two years', addedAgain(({ people }) => people('b')), LEFT],
  [
    'a member that another client removed, then the directory, and that another client adds again after two years',
    addedAgain(({ deliver, world, id }) => {
      world.platform.changeAsOther(id, { users: ['u-a'] });
      return deliver({ take: ['b'], from: 'g' });
    }),
    LEFT,
  ],
  [
    'a user that the directory wanted while the group was paused, added by another client after 429 days',
    wantedWhilePaused(429),
    { authoritative: AB, additive: AB, report: [...AB, 'u-c'] },
  ],
  [
    'a user that the directory wanted while the group was paused, added by another client after 431 days',
    wantedWhilePaused(431),
    { authoritative: AB, additive: [...AB, 'u-c'], report: [...AB, 'u-c'] },
  ],
  [
    'a member that the directory removed 429 days before an automatic link',
    linkedAfter(429),
    { authoritative: [['u-a']], additive: [['u-a', 'u-x']], report: [[...AB, 'u-x']] },
    ({ shown }) => shown('h'),
  ],
  [
    'a member that the directory removed 431 days before an automatic link',
    linkedAfter(431),
    { authoritative: [['u-a']], additive: [[...AB, 'u-x']], report: [[...AB, 'u-x']] },
    ({ shown }) => shown('h'),
  ],
  [
    'a deleted group with a user of another client, which the directory has again after two years',
    async (there) => {
      await there.other({ users: [...AB, 'u-x'] });
      await there.deliver({ remove: 'g' });
      passDays(there, 730);
      await there.deliver({ snapshot: 'g', of: ['a'] });
    },
    {
      authoritative: [[['u-a']], undefined],
      release: [[['u-a']], ['u-a']],
      additive: [[['u-a', 'u-x']], ['u-a', 'u-x']],
      report: [[[...AB, 'u-x']], [...AB, 'u-x']],
    },
    ({ shown, users }) => [shown('g'), users()],
  ],
];

/** The results of `release` that differ from those of `delete`, by the line of the table. */
const RELEASED: Readonly<Record<string, unknown>> = {
  'a group that the directory deleted, with a user that the directory never wanted': [[], false],
};

const cases = [...MODE_TABLE, ...LATER].flatMap(
  ([line, happens, results, reads = ({ users }: Company) => users()]) => {
    const { release = RELEASED[line] ?? results.authoritative }: Results = results;
    const all = { ...results, release };
    return VARIANTS.map((one) => [line, one, all[one], happens, reads] as const);
  },
);
it.each(cases)('%s, in the mode %s: %j', async (_, one, result, happens, reads) => {
  const there = await variant(one);
  const writes = there.world.platform.writes.length;
  await happens(there);
  expect(await reads(there)).toEqual(result);
  if (one === 'report') expect(there.world.platform.writes).toHaveLength(writes);
});

describe('rejected deletion of a group', () => {
  const guard = { maxRemovedCount: 0, deletedGroups: 0, deletedGroupsShare: 0 };
  const rejected = async (mode: Mode, settings: object = {}) => {
    const there = await company(mode, { guard, ...settings });
    await there.people();
    await there.deliver({ remove: 'g' });
    await rejectHold(there.ref('g'), { reason: 'it must stay' }, there.world.toolPorts);
    await there.deliver();
    return there;
  };

  it.each<[SettingChange]>([
    [{ key: 'mode', value: 'additive' }],
    [{ key: 'onGroupDeleted', value: 'release' }],
    [{ key: 'guard', value: null }],
  ])('holds also after %j, and only a person who left is removed', async (change) => {
    const { set, people, users, state } = await rejected('authoritative');
    await set(change);
    await set({ key: 'guard', value: {} });
    await people('b');
    await people('b');
    expect([users(), (await state('g'))?.rejection?.removes]).toEqual([['u-a'], 2]);
  });

  it('of an additive group does not keep a person who left', async () => {
    const { set, people, users } = await rejected('additive');
    await set({ key: 'guard', value: {} });
    await people('b');
    await people('b');
    expect(users()).toEqual(['u-a']);
  });

  it('ends when the directory has the group again, also if the group was paused until the next deletion', async () => {
    const { deliver, users, state, ref, world } = await rejected('authoritative');
    await pauseGroup(ref('g'), world.toolPorts);
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    await deliver({ remove: 'g' });
    await resumeGroup(ref('g'), world.toolPorts);
    await deliver();
    expect([users(), (await state('g'))?.hold?.deletes]).toEqual([AB, true]);
  });
});

describe('plan in the mode report', () => {
  const shown = async ({ ref, world }: Company, group: string) => {
    const { action, changes } = await planGroup(ref(group), world.toolPorts);
    return [action, ...changes.map(({ kind, before, after }) => `${kind} ${before} → ${after}`)];
  };

  it('shows what the mode authoritative would change, and nothing for a group that the directory deleted', async () => {
    const there = await company('report');
    const { deliver, other, id, state } = there;
    await deliver({ snapshot: 'new', of: ['c'] });
    await deliver({ take: ['b'], from: 'g' }, { add: ['c'], to: 'g' });
    await other({ users: [...AB, 'u-x'], name: 'Theirs' });
    expect(await shown(there, 'new')).toEqual([
      'report',
      'create_group null → Group new',
      'add_member null → u-c',
    ]);
    expect(await shown(there, 'g')).toEqual([
      'report',
      'rename Theirs → Group g',
      'add_member null → u-c',
      'remove_member u-b → null',
      'remove_member u-x → null',
    ]);
    await deliver({ remove: 'g' });
    expect(await shown(there, 'g')).toEqual(['none']);
    expect((await state('g'))?.link?.id).toBe(id);
  });

  it('compares an existing platform group that has the external id of the directory group', async () => {
    const there = await company('report');
    const { deliver, world, state } = there;
    const existing = world.platform.addForeign({ name: 'New', spokeId: 'new', users: ['u-a', 'u-x'] });
    world.advance(HOUR_MS);
    await deliver({ snapshot: 'new', of: ['a', 'b'], name: 'New' });
    expect((await state('new'))?.link?.id).toBe(existing);
    expect(await shown(there, 'new')).toEqual([
      'report',
      'add_member null → u-b',
      'remove_member u-x → null',
    ]);
    expect(world.platform.groups.get(existing)?.users).toEqual(['u-a', 'u-x']);
  });
});

const policies = [{ match: 'Group g', mode: 'report' }];
const toReport: SettingChange = { key: 'groups.policies', value: policies };
it.each<[string, Mode, SettingChange[], readonly string[], string | undefined]>([
  ['additive → authoritative', 'additive', [{ key: 'mode', value: 'authoritative' }], ['u-a', 'u-x'], 'mode'],
  ['report → additive', 'report', [{ key: 'mode', value: 'additive' }], ['u-a', 'u-b', 'u-x'], 'mode'],
  [
    'report → authoritative',
    'report',
    [{ key: 'mode', value: 'authoritative' }],
    ['u-a', 'u-b', 'u-x'],
    'mode',
  ],
  ['authoritative → additive', 'authoritative', [{ key: 'mode', value: 'additive' }], ['u-a'], undefined],
  [
    'report by a policy → additive',
    'additive',
    [toReport, { key: 'groups.policies', value: [] }],
    ['u-a', 'u-x'],
    undefined,
  ],
])('%s', async (_, mode, changes, left, rule) => {
  const { deliver, other, users, state, set, world, ref } = await company(mode, { guard: null });
  await deliver({ take: ['b'], from: 'g' });
  await other({ users: [...(users() ?? []), 'u-x'] });
  for (const change of changes) await set(change);
  expect([users(), (await state('g'))?.hold?.rule]).toEqual([left, rule]);
  if (rule === undefined) return;
  await approveHold(ref('g'), { reason: 'seen' }, world.toolPorts);
  await deliver();
  expect(users()).toEqual(mode === 'report' && changes[0]?.value === 'additive' ? ['u-a', 'u-x'] : ['u-a']);
});

it('a user that another client adds immediately before the change waits, too', async () => {
  const { users, state, set, world, id } = await company('report', { guard: null });
  world.platform.changeAsOther(id, { users: [...AB, 'u-x'] });
  await set({ key: 'mode', value: 'authoritative' });
  expect([users(), (await state('g'))?.hold?.rule]).toEqual([[...AB, 'u-x'], 'mode']);
});

it('a deletion in the mode report waits after the change, and ends if the directory has the group again', async () => {
  const { deliver, users, state, set } = await company('report', { guard: null });
  await deliver({ remove: 'g' });
  await set({ key: 'mode', value: 'authoritative' });
  expect([users(), (await state('g'))?.hold?.rule]).toEqual([AB, 'mode']);
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  expect((await state('g'))?.settled).toBe('in_sync');
  await deliver({ remove: 'g' });
  expect(users()).toBeUndefined();
});

it('a new name that a policy matches makes removals wait', async () => {
  const { deliver, users, state, other } = await company('additive', {
    guard: null,
    groups: { policies: [{ match: 'Strict*', mode: 'authoritative' }] },
  });
  await other({ users: [...AB, 'u-x'] });
  await deliver({ upsert: 'g', name: 'Strict g' });
  expect([users(), (await state('g'))?.hold?.rule]).toEqual([[...AB, 'u-x'], 'mode']);
});

it('onGroupDeleted is refused where it has no effect', async () => {
  const { set } = await company('additive');
  const released: SettingChange = { key: 'onGroupDeleted', value: 'release' };
  for (const value of ['release', 'delete'])
    await expect(set({ key: 'onGroupDeleted', value })).rejects.toThrow(
      'no group has the mode authoritative',
    );
  await set(released, { key: 'mode', value: 'authoritative' });
  await expect(set({ key: 'mode', value: 'report' })).rejects.toThrow('got "release"');
  await set({ key: 'mode', value: 'report' }, { key: 'onGroupDeleted', value: 'delete' });
});

it('each user of an adopted group waits until the directory wants the user, whatever plan first removes the user', async () => {
  const { deliver, state, world, ref } = await company('authoritative', { guard: null });
  const there = ['u-a', 'u-b', 'u-x'];
  const theirs = platformGroupId(world.platform.addForeign({ name: 'Theirs', spokeId: '', users: there }));
  world.platform.adopted.add(theirs);
  const shown = () => world.platform.groups.get(theirs)?.users.toSorted();
  await deliver({ snapshot: 'new', of: ['a'], name: 'Theirs' });
  expect((await state('new'))?.settled).toBe('name_clash');
  expect(await adoptGroup(ref('new'), theirs, world.toolPorts)).toMatchObject({ kind: 'adopted' });
  await deliver();
  expect((await state('new'))?.hold).toMatchObject({ rule: 'adoption', removes: 2 });
  await deliver({ add: ['b'], to: 'new' });
  await approveHold(ref('new'), { reason: 'unknown' }, world.toolPorts);
  await deliver();
  expect(shown()).toEqual(AB);
});

it('the view keeps the waiting removals of an adopted group if another client changes it while a write is uncertain', async () => {
  const { deliver, emit, pass, state, world, ref, troubles } = await company('authoritative', {
    guard: null,
  });
  const theirs = platformGroupId(
    world.platform.addForeign({ name: 'T', spokeId: '', users: ['u-a', 'u-x'] }),
  );
  world.platform.adopted.add(theirs);
  await deliver({ snapshot: 'new', of: ['a'], name: 'T' });
  await adoptGroup(ref('new'), theirs, world.toolPorts);
  await deliver();
  failFirst(troubles, 'patch', 'lost_before');
  emit({ add: ['c'], to: 'new' });
  await pass(HOUR_MS / 20, 4);
  expect((await state('new'))?.uncertain).toBeDefined();
  world.platform.changeAsOther(theirs, { users: ['u-a', 'u-x', 'u-y'] });
  await suspectChanged(world);
  await pass(HOUR_MS / 20, 4);
  const { link } = (await state('new')) ?? {};
  const view = link && (await world.toolPorts.groups.readView(ref('new'), link.view));
  expect(view?.waits).toEqual(new Map([['u-x', 'adoption']]));
});
