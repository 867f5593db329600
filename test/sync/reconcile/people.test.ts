import { expect, it } from 'vitest';
import type { PendingCause } from '../../../shared/domain/group-state.ts';
import { type GroupRef, type MemberId, memberId, roleId } from '../../../shared/domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../../../shared/domain/stamp.ts';
import { boundMemberItem, memberKey } from '../../../shared/store/keys.ts';
import { refreshPeople } from '../../../shared/sync/people.ts';
import type { Connection } from '../../../shared/sync/ports/connections.ts';
import type { PersonSpec } from '../../../simulate/simulation-run.ts';
import type { Worker } from '../../../simulate/worker.ts';
import { crashBeforeEachEffect, workerBefore } from './support/crashing-worker.ts';
import { CONNECTION, createWorld } from './support/world.ts';

const ANN = memberId('m-ann');
const BOB = memberId('bob@acme.test');

/** Pages of the list. At `faulty`, the list fails because of one employee. From `fails` on, every request fails. */
type Pages = readonly (readonly PersonSpec[] | 'faulty' | 'fails')[];

const employee = (role: string, fields: Partial<PersonSpec>): PersonSpec => ({
  role,
  email: null,
  ...fields,
});
const ann = (over: Partial<PersonSpec> = {}) =>
  employee('r-ann', { email: 'ann@acme.test', userId: 'u-ann', ...over });

/** The list lacks the people in `notInList`, but requests by id find them. */
const company = async () => Object.assign(await createWorld(), { notInList: [] as PersonSpec[] });
type Company = Awaited<ReturnType<typeof company>>;

const personOf = async (world: Company, role = 'r-ann') =>
  (await world.ports.people.read(CONNECTION, [roleId(role)])).get(roleId(role));

/** Refreshes people from these pages. Other people do not exist, except the people in `notInList`. */
function run(world: Company, pages: Pages, worker?: Worker) {
  const { platform } = world;
  const lists = pages.filter((page) => typeof page !== 'string');
  platform.employees = [...lists.flat(), ...world.notInList];
  for (const { role } of world.notInList) platform.notInList.add(role);
  platform.pageSize = () => lists[0]?.length || undefined;
  const places = pages.map((page, at) => ({
    page,
    offset: pages.slice(0, at).reduce((sum, one) => sum + (one === 'faulty' ? 1 : one.length), 0),
  }));
  platform.failing = (kind, query) => {
    if (kind !== 'employees') return undefined;
    const asked = Number(new URLSearchParams(query).get('offset') ?? 0);
    const isFailing = places.some(
      ({ page, offset }) => (page === 'faulty' && asked === offset) || (page === 'fails' && asked >= offset),
    );
    return isFailing ? 500 : undefined;
  };
  return refreshPeople(world.connection, worker === undefined ? world.ports : world.portsOf(worker));
}
const putMember = (world: Company, ref: GroupRef, member: MemberId) =>
  world.table.put({ ...memberKey(ref, member), member, presence: 'present', stamp: '1', copyFloor: '' });
function tellAddress(world: Company, value: string, stamp: string) {
  const attributes = new Map([['email', { value, stamp: stamp as Stamp }]]);
  const user = { user: ANN, attributes, deleted: STAMP_ZERO };
  return world.ports.users.join(CONNECTION, [user], world.connection.settings);
}
/** Adds a member with Ann's address to group `g`. The member is marked as pending if `pending` is given. */
async function withMember(world: Company, pending?: PendingCause, personRevision?: string) {
  const ref = world.ref('g');
  await putMember(world, ref, ANN);
  await world.ports.desired.noteMembership(ref, ANN);
  await tellAddress(world, 'ann@acme.test', '1');
  if (pending === undefined) return;
  const sinceMs = world.ports.clock();
  const mark = { cause: pending, sinceMs, ...(personRevision === undefined ? {} : { personRevision }) };
  await world.ports.groups.markPending(ref, ANN, mark);
}
const bind = async (world: Company, role = 'r-ann') => {
  await world.table.put(boundMemberItem(CONNECTION, roleId(role), ANN, false));
  const revision = (await world.ports.users.read(CONNECTION, [ANN])).get(ANN)?.revision ?? 0;
  expect(
    await world.ports.people.bind(CONNECTION, ANN, { role: roleId(role), revision, isFirst: true }),
  ).toMatchObject({ role });
};
async function withAnn() {
  const world = await company();
  await withMember(world);
  await run(world, [[ann()]]);
  await bind(world);
  return world;
}

it('a refresh looks up the person of a member only once, even if the member is pending in several groups', async () => {
  const world = await company();
  await withMember(world, 'unknown');
  await putMember(world, world.ref('h'), ANN);
  const mark = { cause: 'unknown', sinceMs: world.ports.clock() } as const;
  await world.ports.groups.markPending(world.ref('h'), ANN, mark);
  let lookups = 0;
  const counting = workerBefore(/^query P#/, async () => {
    lookups += 1;
  });
  expect((await run(world, [[ann()]], counting)).woken).toBe(2);
  expect(lookups).toBe(1);
});

it('a refresh wakes the groups of an ended employee only once', async () => {
  const world = await withAnn();
  expect((await run(world, [[ann({ state: 'TERMINATED' })]])).woken).toBe(1);
  expect((await run(world, [[ann({ state: 'TERMINATED' })]])).woken).toBe(0);
  expect((await personOf(world))?.state).toBe('TERMINATED');
});

it.each<[string, Pages]>([
  ['who is not listed', []],
  ['whose fields a lost scope hides', [[ann()]]],
])('a refresh changes nothing for a person %s', async (_, pages) => {
  const world = await withAnn();
  const before = await personOf(world);
  world.platform.undescribed.add('r-ann');
  expect(await run(world, pages)).toMatchObject({ changed: 0, woken: 0 });
  expect(await personOf(world)).toEqual(before);
});

it.each([null, ' '])(
  'a person is no longer found by the old address after the platform shows the address %j',
  async (email) => {
    const world = await company();
    await run(world, [[ann()]]);
    await run(world, [[ann({ email })]]);
    expect((await personOf(world))?.values.size).toBe(0);
    expect(await world.ports.people.holding(CONNECTION, 'workEmail', 'ann@acme.test')).toEqual([]);
  },
);

it('a lookup returns the current holder of an address, even if the prefetch found a different person', async () => {
  const world = await company();
  await run(world, [[ann()]]);
  const sought = { field: 'workEmail', value: 'ann@acme.test' };
  const ahead = await world.ports.people.ahead(CONNECTION, [sought]);
  await run(world, [[ann({ email: null }), employee('r-new', { email: 'ann@acme.test' })]]);
  expect(await ahead.holding(CONNECTION, sought.field, sought.value)).toMatchObject([{ role: 'r-new' }]);
});

it('a lookup returns the holder of a restored address, even if a simultaneous refresh removes the address', async () => {
  const found = async (world: Company) =>
    (await world.ports.people.holding(CONNECTION, 'workEmail', 'ann@acme.test')).map(({ role }) => role);
  for (let stop = 1, isOver = false; !isOver; stop += 1) {
    const world = await company();
    await run(world, [[ann()]]);
    let effects = 0;
    const slow = workerBefore(/^(put|delete) /, async () => {
      effects += 1;
      // Another refresh runs completely. In its list, the person has the earlier address again.
      if (effects === stop) await run(world, [[ann()]]);
    });
    await run(world, [[ann({ email: 'other@acme.test' })]], slow).catch(() => {});
    isOver = effects < stop;
    if ((await personOf(world))?.values.get('workEmail') === 'ann@acme.test')
      expect(await found(world), `before effect ${stop}`).toEqual(['r-ann']);
    await run(world, [[ann()]]);
    expect(await found(world), `before effect ${stop}, later`).toEqual(['r-ann']);
  }
});

it('a refresh skips and reports an employee that the platform cannot return, and refreshes all others', async () => {
  const world = await withAnn();
  const others = ['x', 'y'].map((role) => employee(role, { email: `${role}@acme.test` }));
  const pages: Pages = [[employee('w', {}), ...others], 'faulty', [ann({ state: 'TERMINATED' })]];
  await expect(run(world, pages)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('fails to answer for one employee, all others were refreshed'),
  });
  expect((await personOf(world))?.state).toBe('TERMINATED');
  expect(world.woken).toContain('g');
});

it('a refresh wakes the groups of an ended employee although a later page fails, and leaves that page unchanged', async () => {
  const world = await withAnn();
  const leaver = ann({ state: 'TERMINATED' });
  await expect(run(world, [[leaver], 'fails'])).rejects.toMatchObject({ kind: 'unavailable' });
  expect(world.woken).toContain('g');
  const hidden = await withAnn();
  await run(hidden, [[employee('w', {})], 'fails']).catch(() => {});
  expect([hidden.woken, (await personOf(hidden))?.state]).toEqual([[], 'ACTIVE']);
});

it('a refresh requests at most one page in advance while it saves a page', async () => {
  const world = await company();
  const steps: string[] = [];
  const note = async (kind: string) => steps.push(kind);
  const pages = [1, 2, 3].map((n) => [employee(`r${n}`, { email: `p${n}@acme.test` })]);
  await run(world, pages, workerBefore(/employees|put PERSON/, note));
  const [page, save] = ['platform.employees', 'put PERSON'];
  expect(steps).toEqual([page, page, save, page, save, page, save]);
});

it('a repeated refresh has its complete effect after a crash between any two effects', async () => {
  await crashBeforeEachEffect(async (worker, where) => {
    const world = await withAnn();
    await run(world, [[ann({ state: 'TERMINATED' })]], worker).catch(() => {});
    await run(world, [[ann({ state: 'TERMINATED', email: 'new@acme.test' })]]);
    expect(world.woken, where).toContain('g');
    expect((await personOf(world))?.fanOutDue).toBe(false);
  });
});

const again = employee('r-again', { email: 'ann@acme.test', userId: 'u-ann' });
const pages: Pages = [[ann({ state: 'TERMINATED' }), again]];

it('a refresh binds a member to the new active role of the user, even after a crash at any point', async () => {
  await crashBeforeEachEffect(async (worker, where) => {
    const world = await withAnn();
    await run(world, pages, worker).catch(() => {});
    await run(world, pages);
    const user = (await world.ports.users.read(CONNECTION, [ANN])).get(ANN);
    expect(user, where).toMatchObject({ role: 'r-again', userId: 'u-ann' });
    expect(world.woken, where).toContain('g');
    expect((await personOf(world))?.fanOutDue, where).toBe(false);
  });
});

it('a later new role of the user wakes the groups of the member that is bound to the earlier role', async () => {
  const world = await withAnn();
  await run(world, [[ann({ state: 'TERMINATED' })]]);
  world.woken.length = 0;
  await run(world, pages);
  expect(world.woken).toContain('g');
});

it('a refresh reads the new role by id when the list no longer shows it', async () => {
  const world = await withAnn();
  await run(world, pages);
  expect(await run(world, [[ann({ state: 'TERMINATED' })]])).toMatchObject({ asked: 1, gone: 1, woken: 1 });
});

it('a refresh keeps a binding that an operator sets during the refresh', async () => {
  const world = await withAnn();
  await run(world, [[ann(), employee('r-bob', { userId: 'u-bob' })]]);
  const rebinding = workerBefore(/^update USER/, async () => {
    await world.ports.users.rebind(CONNECTION, ANN, { role: roleId('r-bob'), userId: 'u-bob' }, 0);
  });
  await run(world, [[...(pages[0] as PersonSpec[]), employee('r-bob', { userId: 'u-bob' })]], rebinding);
  expect((await world.ports.users.read(CONNECTION, [ANN])).get(ANN)).toMatchObject({ role: 'r-bob' });
});

it('a new role of a user wakes no group if groups contain roles', async () => {
  const world = await withAnn();
  const settings = { ...world.connection.settings, memberIdField: 'id' as const };
  world.platform.employees = [ann(), again];
  const report = await refreshPeople({ ...world.connection, settings }, world.ports);
  expect(report).toMatchObject({ woken: 0 });
});

const bob = employee('r-bob', { email: 'bob@acme.test' });
const asked = ({ calls }: Company) => calls().filter((call) => call.startsWith('employee'));

it('a person that the list lacks stays unchanged if the platform knows the person by id', async () => {
  const world = await withAnn();
  world.notInList.push(ann());
  world.platform.undescribed.add('r-ann');
  const before = await personOf(world);
  expect(await run(world, [[bob]])).toMatchObject({ asked: 1, gone: 0, changed: 0, woken: 0 });
  expect(asked(world)).toEqual(['employee r-ann']);
  expect(await personOf(world)).toEqual(before);
});

it.each([
  ['ACTIVE', ''],
  ['UNKNOWN', ' without a state'],
])('a person is GONE after a 404, wakes groups once, and is %s when listed%s', async (state, without) => {
  const world = await withAnn();
  expect(await run(world, [[bob]])).toMatchObject({ asked: 1, gone: 1, changed: 1, woken: 1 });
  expect((await personOf(world))?.state).toBe('GONE');
  expect(await run(world, [[bob]])).toMatchObject({ asked: 0, changed: 0, woken: 0 });
  if (without !== '') world.platform.undescribed.add('r-ann');
  expect(await run(world, [[bob, ann()]])).toMatchObject({ asked: 0, changed: 1, woken: 1 });
  expect((await personOf(world))?.state).toBe(state);
});

it('a person that the list lacks gets the values from the request by id', async () => {
  const world = await withAnn();
  world.notInList.push(ann({ state: 'HIRED' }));
  expect(await run(world, [[bob]])).toMatchObject({ asked: 1, gone: 0, changed: 1, woken: 1 });
  expect((await personOf(world))?.state).toBe('HIRED');
});

it.each<[string, Pages]>([
  ['contained no employee', []],
  ['was incomplete', [[bob], 'fails']],
])('a refresh does not request a missing person by id if the list %s', async (_, pages) => {
  const world = await withAnn();
  await run(world, pages).catch(() => {});
  expect(asked(world)).toEqual([]);
  expect((await personOf(world))?.state).toBe('ACTIVE');
});

it('a failed request by id does not make a person GONE, and the refresh processes the other persons', async () => {
  const world = await withAnn();
  const ref = world.ref('h');
  await putMember(world, ref, BOB);
  await world.ports.groups.markPending(ref, BOB, { cause: 'unknown', sinceMs: 1 });
  const known = employee('r-bob', { userId: 'u-bob', email: BOB });
  const settings = { ...world.connection.settings, match: ['id=workEmail'] };
  world.platform.employees = [known];
  world.platform.failing = (kind) => (kind === 'employee' ? 500 : undefined);
  const refresh = refreshPeople({ ...world.connection, settings } as Connection, world.ports);
  await expect(refresh).rejects.toMatchObject({ kind: 'unavailable' });
  expect((await personOf(world))?.state).toBe('ACTIVE');
  expect(world.woken).toEqual(['h']);
});

it('a refresh requests a person that the list lacks by id only if the person is active and bound to a member', async () => {
  const world = await withAnn();
  await run(world, [[ann({ state: 'TERMINATED' }), employee('r-unbound', {})]]);
  await run(world, [[bob]]);
  expect(asked(world)).toEqual([]);
});

it('each refresh requests at most 100 persons by id, and later refreshes request the remaining persons', async () => {
  const world = await company();
  const roles = Array.from({ length: 250 }, (_, n) => `r${n}`);
  await run(world, [roles.map((role) => employee(role, {}))]);
  for (const role of roles) {
    await world.ports.people.bind(CONNECTION, memberId(`m-${role}`), {
      role: roleId(role),
      revision: 0,
      isFirst: false,
    });
    world.notInList.push(employee(role, {}));
  }
  const counts: number[] = [];
  for (let hour = 0; hour < 5; hour += 1) {
    counts.push((await run(world, [[bob]])).asked);
    world.advance(3_600_000);
  }
  expect(counts).toEqual([100, 100, 100, 100, 100]);
  expect(new Set(asked(world)).size).toBe(250);
});

it('the next refresh wakes the group of a GONE person after a crash between any two effects', async () => {
  await crashBeforeEachEffect(async (worker, where) => {
    const world = await withAnn();
    await run(world, [[bob]], worker).catch(() => {});
    await run(world, [[bob]]);
    expect(world.woken, where).toContain('g');
    expect(await personOf(world)).toMatchObject({ state: 'GONE', fanOutDue: false });
  });
});

it.each<[PendingCause, Partial<PersonSpec>, string | undefined, boolean]>([
  ['unknown', { userId: 'u-ann' }, undefined, true],
  ['unknown', { email: 'other@acme.test' }, undefined, false],
  ['unknown', { userId: null }, undefined, false],
  ['inactive', { state: 'TERMINATED' }, undefined, false],
  ['inactive', {}, undefined, true],
  ['refused', {}, '1#u-ann', false],
  ['refused', {}, '0#u-ann', true],
  ['ambiguous', {}, undefined, true],
])('a refresh tries a pending member again (%s, person %o, refused at %s): %s', async (...row) => {
  const [cause, now, refusedAt, isWoken] = row;
  const world = await company();
  await withMember(world, cause, refusedAt);
  expect((await run(world, [[ann(now)]])).woken).toBe(isWoken ? 1 : 0);
});

it('a refused member is tried again after a day, even if the person is unchanged', async () => {
  const world = await company();
  await withMember(world, 'refused', '1#u-ann');
  world.advance(24 * 3_600_000);
  expect((await run(world, [[ann({})]])).woken).toBe(1);
});

it('an ambiguous member is not tried again if a person other than the bound person has the address', async () => {
  const world = await company();
  await withMember(world, 'ambiguous');
  await run(world, [[ann({ email: 'first@acme.test' })]]);
  await bind(world);
  await tellAddress(world, 'bob@acme.test', '2');
  const bob = employee('r-bob', { userId: 'u-bob', email: 'bob@acme.test' });
  expect((await run(world, [[bob, ann({ email: 'first@acme.test' })]])).woken).toBe(0);
});
