import { expect, it } from 'vitest';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { LARGE_GROUP } from '../../shared/sync/tuning.ts';
import type { PersonSpec } from '../../simulate/simulation-run.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, HOUR_MS } from '../support/engine/world.ts';

/** Returns a role of the user `u-ann` with Ann's address. */
const ann = (role: string, state = 'ACTIVE', over: Partial<PersonSpec> = {}): PersonSpec => ({
  role,
  state,
  email: 'ann@acme.test',
  userId: 'u-ann',
  ...over,
});

/** Creates a company. `hour` advances the time by an hour and refreshes people with the given employees. */
async function company(settings: Partial<ConnectionSettings> = {}) {
  const engine = await createTestEngine({ settings });
  const { world, deliver } = engine;
  const hour = async (...employees: readonly PersonSpec[]) => {
    world.platform.employees = employees;
    world.advance(HOUR_MS);
    const report = await refreshPeople(await world.connection(), world.toolPorts).catch((error) => error);
    await deliver();
    return report;
  };
  return { ...engine, hour };
}

/** Creates a company in which Ann has been a member of `g` for some hours, through her first role. */
async function withAnn(settings: Partial<ConnectionSettings> = {}, size = 0) {
  const base = await company(settings);
  const others = Array.from(
    { length: size },
    (_, n): PersonSpec => ({ role: `r${n}`, email: `m${n}@acme.test` }),
  );
  const hour = (...roles: readonly PersonSpec[]) => base.hour(...roles, ...others);
  await hour(ann('contractor'));
  await base.deliver({ snapshot: 'g', of: ['ann', ...others.map((_, n) => `m${n}`)] });
  await hour(ann('contractor'));
  expect(base.shown('g')[0]).toContain('u-ann');
  const before = base.world.platform.writes.length;
  return { ...base, hour, writes: () => base.world.platform.writes.length - before };
}

const CONVERTED = [ann('contractor', 'TERMINATED'), ann('employee')];

it.each<[string, number, readonly (readonly PersonSpec[])[]]>([
  ['in the hour in which the old role ends', 0, [CONVERTED]],
  ['that the list shows before the old role', 0, [CONVERTED.toReversed()]],
  ['before the old role ends', 0, [[ann('contractor'), ann('employee')], CONVERTED]],
  [
    'with another address',
    0,
    [[ann('contractor', 'TERMINATED'), ann('employee', 'ACTIVE', { email: 'a@x.test' })]],
  ],
  ['with no address', 0, [[ann('contractor', 'TERMINATED'), ann('employee', 'ACTIVE', { email: null })]]],
  ['and the platform deletes the old role', 0, [CONVERTED, [ann('employee')]]],
  ['in a large group whose registers contain copies of the users', LARGE_GROUP, [CONVERTED]],
])('a user keeps the groups without a write when the user gets a new role %s', async (_, size, hours) => {
  const { hour, shown, writes } = await withAnn({}, size);
  for (const roles of hours) await hour(...roles);
  await hour(...(hours.at(-1) ?? []));
  expect([shown('g')[0]?.includes('u-ann'), writes()]).toEqual([true, 0]);
});

it('a user stays in the groups if the new role is on a later page of the list than the ended role', async () => {
  const { world, deliver, shown, writes, work } = await withAnn();
  world.platform.pageSize = () => 1;
  world.platform.employees = CONVERTED;
  let pages = 0;
  // The test writes groups during the refresh, while it reads the list.
  const effect = async (name: string) => {
    if (name !== 'platform.employees') return;
    pages += 1;
    await deliver({ user: 'ann', email: 'Ann@acme.test' });
    await work(20);
  };
  await refreshPeople(await world.connection(), world.portsFor({ effect }));
  await deliver();
  expect([shown('g'), writes(), pages]).toEqual([[['u-ann']], 0, 3]);
});

it('a user leaves the group a minute after the end of the last role if the list shows no other role', async () => {
  const { world, deliver, shown, work } = await withAnn();
  const others = ['x', 'y', 'z'].map((role): PersonSpec => ({ role, email: `${role}@acme.test` }));
  world.platform.pageSize = () => 1;
  world.platform.employees = [ann('contractor', 'TERMINATED'), ...others];
  const shownAtPage: unknown[] = [];
  const effect = async (name: string) => {
    if (name !== 'platform.employees') return;
    world.advance(45_000);
    await work(20);
    shownAtPage.push(shown('g'));
  };
  await refreshPeople(await world.connection(), world.portsFor({ effect }));
  expect(shownAtPage.at(-1)).toEqual([[]]);
  expect(shownAtPage[1]).toEqual([['u-ann']]);
  await deliver();
});

it('a user leaves the group after every role has ended, and returns with the next role', async () => {
  const { hour, deliver, shown } = await withAnn();
  await hour(...CONVERTED);
  const left = [ann('contractor', 'TERMINATED'), ann('employee', 'TERMINATED')];
  await hour(...left);
  expect(shown('g')).toEqual([[]]);
  await hour(...left, ann('rehired'));
  expect(shown('g')).toEqual([['u-ann']]);
  await deliver({ take: ['ann'], from: 'g' });
  await hour(...left, ann('rehired'));
  await deliver({ add: ['ann'], to: 'g' });
  expect(shown('g')).toEqual([['u-ann']]);
});

it.each([
  ['all roles vanish in one hour', 1, []],
  ['the first role ends and all others vanish', 2, [ann('contractor', 'TERMINATED')]],
])('a user with four roles leaves the group if %s, after %i refreshes', async (_, refreshes, left) => {
  const { hour, shown } = await withAnn();
  const other: PersonSpec = { role: 'other', email: 'other@acme.test' };
  await hour(ann('contractor'), ann('employee'), ann('manager'), ann('zoo'), other);
  await hour(ann('contractor'), ann('employee'), ann('manager'), ann('zoo'), other);
  expect(shown('g')).toEqual([['u-ann']]);
  for (let refresh = 0; refresh < refreshes; refresh += 1) await hour(...left, other);
  expect(shown('g')).toEqual([[]]);
});

it.each(['userId', 'id'] as const)(
  'two active roles are one person if groups contain users, and two persons if groups contain roles (%s)',
  async (memberIdField) => {
    const { hour, deliver, shown, pending } = await company({ memberIdField });
    const roles = [ann('us'), ann('uk')];
    await hour(...roles);
    await deliver({ snapshot: 'g', of: ['ann'] });
    await hour(...roles);
    const isOne = memberIdField === 'userId';
    expect(shown('g')).toEqual([isOne ? ['u-ann'] : []]);
    expect(await pending()).toEqual(isOne ? [] : [['ann', 'ambiguous']]);
  },
);

it('a user may be a member through a role in any state of includeStates', async () => {
  const { hour, deliver, shown } = await company({ includeStates: ['ACTIVE', 'HIRED'] });
  const roles = [ann('old', 'TERMINATED'), ann('next', 'HIRED')];
  await hour(...roles);
  await deliver({ snapshot: 'g', of: ['ann'] });
  expect(shown('g')).toEqual([['u-ann']]);
  await hour(ann('old', 'TERMINATED'), ann('next', 'ACCEPTED'));
  expect(shown('g')).toEqual([[]]);
});

it('the binding stays if the new address of the member belongs to another role of the user', async () => {
  const { hour, deliver, shown, pending } = await withAnn();
  await hour(ann('contractor'), ann('employee', 'ACTIVE', { email: 'ann.smith@acme.test' }));
  await deliver({ user: 'ann', email: 'ann.smith@acme.test' });
  expect([shown('g'), await pending()]).toEqual([[['u-ann']], []]);
});

it('a member stays with the user after one of two roles moves to another user, and follows a single role', async () => {
  const { hour, shown } = await withAnn();
  await hour(ann('contractor'), ann('employee'));
  await hour(ann('contractor', 'ACTIVE', { userId: 'u-else' }), ann('employee'));
  expect(shown('g')).toEqual([['u-ann']]);
  const only = await withAnn();
  await only.hour(ann('contractor', 'ACTIVE', { userId: 'u-merged' }));
  expect(only.shown('g')).toEqual([['u-merged']]);
});

const ended = ann('old', 'TERMINATED');
const roles = [ended, ann('new', 'ACTIVE', { email: 'other@acme.test' })];
const newHire = ann('hire', 'ACTIVE', { userId: 'u-hire' });
const secondHire = ann('second', 'ACTIVE', { userId: 'u-second' });

type Hours = readonly (readonly PersonSpec[])[];
const AMBIGUOUS = [['ann', 'ambiguous']];
it.each<[string, before: Hours, after: Hours, user?: string | undefined, pending?: string[][]]>([
  ['is found by the address of an ended role if another role is active', [roles], [roles], 'u-ann'],
  [
    'is ambiguous if two users have the address, even if one of them has it in two roles',
    [[ann('us'), ann('uk'), ann('bob', 'ACTIVE', { userId: 'u-bob' })]],
    [],
    undefined,
    AMBIGUOUS,
  ],
  [
    'is the user whose active role has the address, and not the user whose ended role has it',
    [[ended, ann('other', 'ACTIVE', { email: 'x@acme.test' }), newHire]],
    [],
    'u-hire',
  ],
  [
    'is the new hire if the old role ends in the hour of the event',
    [[ann('old')]],
    [[...roles, newHire]],
    'u-hire',
  ],
  ['is ambiguous if two new hires have it', [roles], [[...roles, newHire, secondHire]], undefined, AMBIGUOUS],
  ['leaves after the platform deletes the only active role', [roles], [roles, [ended]]],
  [
    'follows the last active role to another user, because the platform has probably merged the users',
    [[ann('contractor')]],
    [CONVERTED, [ann('contractor', 'TERMINATED'), ann('employee', 'ACTIVE', { userId: 'u-else' })]],
    'u-else',
  ],
])('the member with the address of a role %s', async (_, before, after, user, waits = []) => {
  const { hour, deliver, shown, pending } = await company();
  for (const listed of before) await hour(...listed);
  await deliver({ snapshot: 'g', of: ['ann'] });
  for (const listed of after) await hour(...listed);
  expect(shown('g')).toEqual([user === undefined ? [] : [user]]);
  if (user !== undefined || waits.length > 0) expect(await pending()).toEqual(waits);
});

it.each<[string, Hours]>([
  ['before the refresh that lists the new hire', []],
  ['two refreshes before the refresh that lists the new hire', [roles, roles]],
  ['before another role of the user changes', [[...roles, ann('third', 'ACTIVE', { email: null })]]],
])(
  'a new hire with the address of an ended role replaces the earlier user if the event arrives %s',
  async (_, hours) => {
    const { hour, deliver, shown } = await company();
    await hour(...roles);
    await deliver({ snapshot: 'g', of: ['ann'] });
    for (const listed of hours) await hour(...listed);
    expect(shown('g')).toEqual([['u-ann']]);
    await hour(...roles, newHire);
    expect(shown('g')).toEqual([['u-hire']]);
    await hour(...roles, newHire);
    await hour(ended, ann('new'));
    expect(shown('g')).toEqual([[]]);
  },
);

it('a user that an operator bound to the member stays in the group, although a new hire has the address', async () => {
  const { world, hour, deliver, shown, member, role } = await company();
  await hour(...roles);
  await deliver({ snapshot: 'g', of: ['ann'] });
  await rebindMember(CONNECTION, { member: member('ann'), role: role('old') }, world.toolPorts);
  await hour(...roles, newHire);
  expect(shown('g')).toEqual([['u-ann']]);
});

it.each<[string, Partial<PersonSpec>]>([
  ['no other role', {}],
  ['a role with another address', { email: 'other@acme.test' }],
])(
  'after a wrong merge is corrected, two persons have separate groups again if the merged user has %s',
  async (_, over) => {
    const { hour, deliver, shown } = await company();
    const bob = (userId: string) => ann('bob', 'ACTIVE', { userId, email: 'bob@acme.test' });
    const others = over.email === undefined ? [] : [ann('bob-2', 'ACTIVE', { ...over, userId: 'u-bob' })];
    const right = [ann('ann'), bob('u-bob'), ...others];
    await hour(...right);
    await deliver({ snapshot: 'g', of: ['ann'] }, { snapshot: 'bobs', of: ['bob'] });
    await hour(...right);
    await hour(ann('ann'), bob('u-ann'), ...others);
    expect([shown('g'), shown('bobs')]).toEqual([[['u-ann']], [['u-ann']]]);
    await hour(...right);
    expect([shown('g'), shown('bobs')]).toEqual([[['u-ann']], [['u-bob']]]);
  },
);

it("an operator can bind a member to any of the user's roles", async () => {
  const { world, hour, deliver, shown, member, role } = await withAnn();
  await hour(
    ann('contractor'),
    ann('bob', 'TERMINATED', { userId: 'u-bob', email: 'bob@acme.test' }),
    ann('bob-again', 'ACTIVE', { userId: 'u-bob', email: null }),
  );
  await rebindMember(CONNECTION, { member: member('ann'), role: role('bob') }, world.toolPorts);
  await deliver();
  expect(shown('g')).toEqual([['u-bob']]);
});
