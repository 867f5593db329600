import { describe, expect, it } from 'vitest';
import type { EmployeeField } from '../../../shared/contract/match-rule.ts';
import { matchRules } from '../../../shared/contract/settings.ts';
import type { PendingCause } from '../../../shared/domain/group-state.ts';
import { memberId, roleId } from '../../../shared/domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../../../shared/domain/stamp.ts';
import { memberKey } from '../../../shared/store/keys.ts';
import type { Table } from '../../../shared/store/table.ts';
import { refreshPeople } from '../../../shared/sync/people.ts';
import type { EmployeeRecord } from '../../../shared/sync/ports/platform.ts';
import { MemoryTable } from '../../../simulate/table.ts';
import { mortal } from './support/mortal.ts';
import { CONNECTION, createWorld, failure, type World } from './support/world.ts';

const EMAIL = matchRules({ match: ['email=workEmail'] })[0]?.employeeField as EmployeeField;
const ANN = memberId('m-ann');
const BOB = memberId('bob@acme.test');

interface Employee {
  readonly state?: string;
  readonly userId?: string;
  readonly email?: string | null;
}

const employee = (role: string, { state, userId, email }: Employee): EmployeeRecord => ({
  role: roleId(role),
  fields: new Map(email === undefined ? [] : [[EMAIL, email]]),
  ...(state === undefined ? {} : { state }),
  ...(userId === undefined ? {} : { userId }),
});
const ann = (over: Employee = {}) =>
  employee('r-ann', { state: 'ACTIVE', userId: 'u-ann', email: 'ann@acme.test', ...over });

const run = (world: World, pages: World['employees'], table: Table = world.table) => {
  world.employees = pages;
  return refreshPeople(world.connection, world.portsOver(table));
};
const personOf = async (world: World, role = 'r-ann') =>
  (await world.ports.people.read(CONNECTION, [roleId(role)])).get(roleId(role));

/** A member of group `g` with this address, and, where given, a pending mark. */
async function withMember(world: World, pending?: PendingCause, personRevision?: number) {
  const ref = world.ref('g');
  await world.table.put({
    ...memberKey(ref, ANN),
    member: ANN,
    presence: 'present',
    stamp: '1',
    copyFloor: '',
  });
  await world.ports.desired.noteMembership(ref, ANN);
  const attributes = new Map([['email', { value: 'ann@acme.test', stamp: '1' as Stamp }]]);
  await world.ports.users.join(
    CONNECTION,
    [{ user: ANN, attributes, deleted: STAMP_ZERO }],
    new Set(['email']),
  );
  if (pending === undefined) return;
  const sinceMs = world.ports.clock();
  const mark = { cause: pending, sinceMs, ...(personRevision === undefined ? {} : { personRevision }) };
  await world.ports.groups.markPending(ref, ANN, mark);
}
const bind = async (world: World, role = 'r-ann') => {
  const revision = (await world.ports.users.read(CONNECTION, [ANN])).get(ANN)?.revision ?? 0;
  expect(
    await world.ports.people.bind(CONNECTION, ANN, { role: roleId(role), revision, isFirst: true }),
  ).toBe(role);
};

describe('a refresh of people', () => {
  it('wakes the groups of a joiner who was pending, without another event', async () => {
    const world = createWorld();
    await withMember(world, 'unknown');
    expect((await run(world, [[employee('r-bob', { email: 'bob@acme.test' })]])).woken).toBe(0);
    expect((await run(world, [[ann()]])).woken).toBe(1);
    expect(world.woken).toEqual(['g']);
  });

  it('wakes the groups of a leaver, once', async () => {
    const world = createWorld();
    await withMember(world);
    await run(world, [[ann()]]);
    await bind(world);
    expect((await run(world, [[ann({ state: 'TERMINATED' })]])).woken).toBe(1);
    expect((await run(world, [[ann({ state: 'TERMINATED' })]])).woken).toBe(0);
    expect((await personOf(world))?.state).toBe('TERMINATED');
  });

  it.each<[string, World['employees']]>([
    ['who is not listed', []],
    ['whose fields a lost scope hides', [[employee('r-ann', {})]]],
  ])('changes nothing for a person %s', async (_, pages) => {
    const world = createWorld();
    await withMember(world);
    await run(world, [[ann()]]);
    await bind(world);
    const before = await personOf(world);
    expect(await run(world, pages)).toMatchObject({ changed: 0, woken: 0 });
    expect(await personOf(world)).toEqual(before);
  });

  it('keeps the person behind a member whose e-mail address changes, and whose old one another gets', async () => {
    const world = createWorld();
    await withMember(world);
    await run(world, [[ann()]]);
    await bind(world);
    const newcomer = employee('r-new', { state: 'ACTIVE', userId: 'u-new', email: 'ann@acme.test' });
    await run(world, [[ann({ email: 'ann.smith@acme.test' }), newcomer]]);
    expect((await world.ports.users.read(CONNECTION, [ANN])).get(ANN)?.role).toBe('r-ann');
    expect(world.woken).toEqual([]);
  });

  it('finds whoever has an address again, wherever another refresh stood that had just taken it away', async () => {
    const found = async (world: World) =>
      (await world.ports.people.holding(CONNECTION, 'workEmail', 'ann@acme.test')).map(({ role }) => role);
    for (let stop = 1, isOver = false; !isOver; stop += 1) {
      const world = createWorld();
      await run(world, [[ann()]]);
      let effects = 0;
      const { table } = world;
      const meanwhile = async () => {
        effects += 1;
        // Another refresh, which finds the address back, runs from beginning to end.
        if (effects === stop) await run(world, [[ann()]]);
      };
      const slow: Table = {
        get: (key) => table.get(key),
        getMany: (keys) => table.getMany(keys),
        query: (request) => table.query(request),
        update: (...args) => table.update(...args),
        put: (...args) => meanwhile().then(() => table.put(...args)),
        delete: (...args) => meanwhile().then(() => table.delete(...args)),
      };
      await run(world, [[ann({ email: 'other@acme.test' })]], slow).catch(() => {});
      isOver = effects < stop;
      if ((await personOf(world))?.values.get('workEmail') === 'ann@acme.test')
        expect(await found(world), `before effect ${stop}`).toEqual(['r-ann']);
      await run(world, [[ann()]]);
      expect(await found(world), `before effect ${stop}, later`).toEqual(['r-ann']);
    }
  });

  it('fails with a page that fails, keeps those before it, and wakes nobody', async () => {
    const world = createWorld();
    await withMember(world, 'unknown');
    await expect(run(world, [[ann()], failure('unavailable', 500)])).rejects.toThrow('the platform failed');
    expect((await personOf(world))?.state).toBe('ACTIVE');
    expect(world.woken).toEqual([]);
    expect((await run(world, [])).woken).toBe(1);
  });

  it('asks for the next page while it saves one, and for no more than that', async () => {
    const world = createWorld();
    const steps: string[] = [];
    const table = new MemoryTable(async (operation, key) => {
      if (operation === 'put' && key.includes('PERSON')) steps.push(`save ${key.split('#')[2]}`);
    });
    world.platform.employees = async function* () {
      for (const n of [1, 2, 3]) {
        steps.push(`page ${n}`);
        yield [employee(`r${n}`, { email: `p${n}@acme.test` })];
      }
    };
    await run(world, [], table);
    expect(steps).toEqual([
      'page 1',
      'page 2',
      'save r1 PERSON',
      'page 3',
      'save r2 PERSON',
      'save r3 PERSON',
    ]);
  });

  it('is heard of after a crash between any two effects', async () => {
    const survivors = new Set<number>();
    for (let diesAt = 1; diesAt < 40; diesAt += 1) {
      const world = createWorld();
      await withMember(world);
      await run(world, [[ann()]]);
      await bind(world);
      const died = await run(world, [[ann({ state: 'TERMINATED' })]], mortal(world.table, diesAt)).then(
        () => false,
        () => true,
      );
      if (!died) survivors.add(diesAt);
      await run(world, [[ann({ state: 'TERMINATED' })]]);
      expect(world.woken, `died at ${diesAt}`).toContain('g');
      expect((await personOf(world))?.unheard).toBe(false);
    }
    expect(survivors.size).toBeGreaterThan(0);
    expect(survivors.has(1)).toBe(false);
  });
});

describe('somebody whom a listing does not name', () => {
  const bob = employee('r-bob', { state: 'ACTIVE', email: 'bob@acme.test' });
  const asked = ({ calls }: World) => calls.filter((call) => call.startsWith('employee'));

  async function withAnn() {
    const world = createWorld();
    await withMember(world);
    await run(world, [[ann()]]);
    await bind(world);
    return world;
  }

  it('stays as they are where the platform knows them by id', async () => {
    const world = await withAnn();
    world.byId.set('r-ann', employee('r-ann', {}));
    const before = await personOf(world);
    expect(await run(world, [[bob]])).toMatchObject({ asked: 1, gone: 0, changed: 0, woken: 0 });
    expect(asked(world)).toEqual(['employee r-ann']);
    expect(await personOf(world)).toEqual(before);
  });

  it('is gone by a 404, of which the groups hear once, and back when listed again', async () => {
    const world = await withAnn();
    expect(await run(world, [[bob]])).toMatchObject({ asked: 1, gone: 1, changed: 1, woken: 1 });
    expect((await personOf(world))?.state).toBe('GONE');
    expect(await run(world, [[bob]])).toMatchObject({ asked: 0, changed: 0, woken: 0 });
    expect(await run(world, [[bob, ann()]])).toMatchObject({ asked: 0, changed: 1, woken: 1 });
    expect((await personOf(world))?.state).toBe('ACTIVE');
  });

  it('is not active again by an answer that does not say so', async () => {
    const world = await withAnn();
    await run(world, [[bob]]);
    await run(world, [[bob, employee('r-ann', {})]]);
    expect((await personOf(world))?.state).toBe('UNKNOWN');
  });

  it('changes as the answer by id says', async () => {
    const world = await withAnn();
    world.byId.set('r-ann', ann({ state: 'HIRED' }));
    expect(await run(world, [[bob]])).toMatchObject({ asked: 1, gone: 0, changed: 1, woken: 1 });
    expect((await personOf(world))?.state).toBe('HIRED');
  });

  it.each<[string, World['employees']]>([
    ['named nobody', []],
    ['did not come to its end', [[bob], failure('unavailable', 503)]],
  ])('is not asked for where the listing %s', async (_, pages) => {
    const world = await withAnn();
    await run(world, pages).catch(() => {});
    expect(asked(world)).toEqual([]);
    expect((await personOf(world))?.state).toBe('ACTIVE');
  });

  it('is not concluded to be gone from an answer that failed, and the others have been heard of by then', async () => {
    const world = await withAnn();
    const ref = world.ref('h');
    await world.table.put({
      ...memberKey(ref, BOB),
      member: BOB,
      presence: 'present',
      stamp: '1',
      copyFloor: '',
    });
    await world.ports.groups.markPending(ref, BOB, { cause: 'unknown', sinceMs: 1 });
    world.byId.set('r-ann', failure('unavailable', 500));
    const known = employee('r-bob', { state: 'ACTIVE', userId: 'u-bob', email: BOB });
    const settings = { ...world.connection.settings, match: ['id=workEmail'] };
    world.employees = [[known]];
    const refresh = refreshPeople({ ...world.connection, settings } as World['connection'], world.ports);
    await expect(refresh).rejects.toThrow('the platform failed');
    expect((await personOf(world))?.state).toBe('ACTIVE');
    expect(world.woken).toEqual(['h']);
  });

  it('is asked for only where that could take a member out of a group', async () => {
    const world = await withAnn();
    await run(world, [[ann({ state: 'TERMINATED' }), employee('r-unbound', { state: 'ACTIVE' })]]);
    await run(world, [[bob]]);
    expect(asked(world)).toEqual([]);
  });

  it('is one of a bounded number in each run, and everybody has their turn', async () => {
    const world = createWorld();
    const roles = Array.from({ length: 250 }, (_, n) => `r${n}`);
    await run(world, [roles.map((role) => employee(role, { state: 'ACTIVE' }))]);
    for (const role of roles) {
      await world.ports.people.bind(CONNECTION, memberId(`m-${role}`), {
        role: roleId(role),
        revision: 0,
        isFirst: true,
      });
      world.byId.set(role, employee(role, { state: 'ACTIVE' }));
    }
    const counts: number[] = [];
    for (let hour = 0; hour < 5; hour += 1) {
      counts.push((await run(world, [[bob]])).asked);
      world.advance(3_600_000);
    }
    expect(counts).toEqual([100, 100, 100, 100, 100]);
    expect(new Set(asked(world)).size).toBe(250);
  });

  it('is heard of after a crash between any two effects', async () => {
    let survived = false;
    for (let diesAt = 1; !survived; diesAt += 1) {
      const world = await withAnn();
      survived = await run(world, [[bob]], mortal(world.table, diesAt)).then(
        () => true,
        () => false,
      );
      await run(world, [[bob]]);
      expect(world.woken, `died at ${diesAt}`).toContain('g');
      expect(await personOf(world)).toMatchObject({ state: 'GONE', unheard: false });
    }
  });
});

describe('pending members', () => {
  it.each<[PendingCause, Employee, number | undefined, boolean]>([
    ['unknown', { userId: 'u-ann' }, undefined, true],
    ['unknown', { email: 'other@acme.test' }, undefined, false],
    ['inactive', { state: 'TERMINATED' }, undefined, false],
    ['inactive', { state: 'ACTIVE' }, undefined, true],
    ['refused', {}, 1, false],
    ['refused', {}, 0, true],
    ['ambiguous', {}, undefined, true],
  ])('that are %s, with the person now %o (refused at revision %s), are tried again: %s', async (...row) => {
    const [cause, now, refusedAt, isWoken] = row;
    const world = createWorld();
    await withMember(world, cause, refusedAt);
    expect((await run(world, [[ann(now)]])).woken).toBe(isWoken ? 1 : 0);
  });

  it('that are refused are tried again after a day, whoever they are by then', async () => {
    const world = createWorld();
    await withMember(world, 'refused', 1);
    world.advance(24 * 3_600_000);
    expect((await run(world, [[ann({})]])).woken).toBe(1);
  });

  it('without a user id stay unknown, and are not tried every time', async () => {
    const world = createWorld();
    await withMember(world, 'unknown');
    const noId = employee('r-ann', { state: 'ACTIVE', email: 'ann@acme.test' });
    expect((await run(world, [[noId]])).woken).toBe(0);
  });

  it('whose review found somebody else stay ambiguous', async () => {
    const world = createWorld();
    await withMember(world, 'ambiguous');
    await run(world, [[ann({ email: 'first@acme.test' })]]);
    await bind(world);
    const attributes = new Map([['email', { value: 'bob@acme.test', stamp: '2' as Stamp }]]);
    await world.ports.users.join(
      CONNECTION,
      [{ user: ANN, attributes, deleted: STAMP_ZERO }],
      new Set(['email']),
    );
    const bob = employee('r-bob', { state: 'ACTIVE', userId: 'u-bob', email: 'bob@acme.test' });
    expect((await run(world, [[bob, ann({ email: 'first@acme.test' })]])).woken).toBe(0);
  });
});
