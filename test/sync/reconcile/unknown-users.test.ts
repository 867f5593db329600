import { expect, it } from 'vitest';
import { boundMemberItem } from '../../../shared/store/keys.ts';
import { refreshPeople } from '../../../shared/sync/people.ts';
import { sweep } from '../../../shared/sync/reconcile/sweep.ts';
import { CONNECTION, createWorld, type World } from './support/world.ts';

const employee = (role: string, state = 'ACTIVE') => ({ role, email: `${role}@acme.test`, state });
const EMPLOYEES = [
  employee('ann'),
  employee('bob'),
  employee('gone', 'TERMINATED'),
  employee('next', 'HIRED'),
];

/** Creates a company with one managed group. The people index contains the employees. */
async function company(users: readonly string[], settings = {}) {
  const world = await createWorld({ settings });
  world.platform.employees = EMPLOYEES;
  await refreshPeople(world.connection, world.ports);
  await world.link('g');
  world.platform.changeAsOther(world.idOf('g'), { users });
  return world;
}
const run = (world: World) => sweep(world.connection, world.ports);
const found = async (world: World) =>
  (await world.drift()).filter(({ kind }) => kind === 'unknown_users').map(({ after }) => after);
/** Returns the number of requests for the list of employees. */
const listings = ({ platform }: World) => platform.calls.filter(({ route }) => route === '/employees').length;

it('a sweep records the unknown ids of a managed group once, and no ids of employees', async () => {
  const world = await company(['u-ann', 'u-gone', 'u-next', 'zoe', 'amy']);
  await run(world);
  const { report } = await run(world);
  expect(report).toMatchObject({ drift: { unknown_users: 1 }, reported: 1 });
  expect(await found(world)).toEqual([['amy', 'zoe']]);
});

it('a sweep records employee ids as unknown if groups hold user ids, and user ids if groups hold employee ids', async () => {
  const world = await company(['ann', 'u-bob']);
  await run(world);
  expect(await found(world)).toEqual([['ann']]);
  const other = await company(['ann', 'u-bob'], { memberIdField: 'id' });
  await run(other);
  expect(await found(other)).toEqual([['u-bob']]);
});

it('a sweep ignores unknown ids in unmanaged groups', async () => {
  const world = await company([]);
  world.platform.addForeign({ name: 'Other', spokeId: 'other', users: ['zoe'] });
  await run(world);
  await world.link('released', { released: true });
  world.platform.changeAsOther(world.idOf('released'), { users: ['zoe'] });
  await run(world);
  expect(await found(world)).toEqual([]);
});

it('a sweep reports that it searched no unknown ids if the list shows more than 100,000 unbound users', async () => {
  const unbound = Array.from({ length: 100_000 }, (_, n) => `other-${n}`);
  const world = await company(['zoe']);
  world.platform.addForeign({ name: 'Other', spokeId: 'other', users: unbound });
  expect((await run(world)).report.unsearchedUsers).toBe(100_001);
  expect(await found(world)).toEqual([]);
  const within = await company(['zoe']);
  within.platform.addForeign({ name: 'Other', spokeId: 'other', users: unbound.slice(1) });
  expect((await run(within)).report.unsearchedUsers).toBe(0);
  expect(await found(within)).toEqual([['zoe']]);
});

it.each<[string, readonly string[], object]>([
  ['user ids', ['u-ann', 'u-gone'], {}],
  ['employee ids', ['ann', 'gone'], { memberIdField: 'id' }],
])(
  'a sweep makes only one call if the people index contains all %s that other clients added',
  async (_, users, settings) => {
    const world = await company(users, { mode: 'additive', ...settings });
    await world.link('h');
    world.platform.changeAsOther(world.idOf('h'), { users });
    const before = world.platform.calls.length;
    await run(world);
    expect(await found(world)).toEqual([]);
    expect(world.platform.calls.slice(before).map(({ route }) => route)).toEqual(['/groups']);
  },
);

it('a sweep lists the employees once, even if several groups contain ids that the people index lacks', async () => {
  const world = await company(['u-ann', 'zoe']);
  world.platform.employees = [...EMPLOYEES, employee('new')];
  const refreshed = listings(world);
  await run(world);
  const ofOneGroup = listings(world) - refreshed;
  await world.link('h');
  world.platform.changeAsOther(world.idOf('h'), { users: ['u-new', 'zoe'] });
  await run(world);
  expect(await found(world)).toEqual([['zoe'], ['zoe']]);
  expect(ofOneGroup).toBeGreaterThan(0);
  expect(listings(world)).toBe(refreshed + 2 * ofOneGroup);
});

it('a sweep stops the list of employees at its deadline, and records no unknown id', async () => {
  const world = await company(['zoe']);
  world.platform.pageSize = () => 1;
  const before = listings(world);
  const deadlineMs = world.ports.clock() + 60_000;
  world.platform.failing = (kind) => {
    if (kind === 'employees') world.advance(40_000);
    return undefined;
  };
  const { report } = await sweep(world.connection, world.ports, deadlineMs);
  expect(report).toMatchObject({ groupsTouched: 1 });
  expect(listings(world)).toBe(before + 2);
  expect(await found(world)).toEqual([]);
});

it.each<[string, (world: World) => void]>([
  ['are not read', ({ platform }) => (platform.failing = (kind) => (kind === 'employees' ? 500 : undefined))],
  ['do not exist', ({ platform }) => (platform.employees = [])],
  [
    'have no user id',
    ({ platform }) => (platform.employees = [{ ...employee('ann'), userId: null }] as never),
  ],
  ['lack a person of the people index', ({ platform }) => platform.notInList.add('bob')],
])('a sweep records no unknown id if the employees %s', async (_, spoil) => {
  const world = await company(['zoe']);
  await world.table.put(boundMemberItem(CONNECTION, 'bob' as never, 'm-bob' as never));
  spoil(world);
  const { report } = await run(world);
  expect(report).toMatchObject({ groupsTouched: 1 });
  expect(await found(world)).toEqual([]);
});
