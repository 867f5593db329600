import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memberId, roleId } from '../../shared/domain/ids.ts';
import type { Register } from '../../shared/domain/register.ts';
import { STAMP_ZERO, type Stamp } from '../../shared/domain/stamp.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import { personKey, userKey } from '../../shared/store/keys.ts';
import { createUserStore } from '../../shared/store/user-store.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { LARGE_GROUP } from '../../shared/sync/tuning.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';
import { CONNECTION, takeEvents, takeWoken } from '../support/engine/world.ts';

const person = (role: string, email: string, state = 'ACTIVE') => ({
  role,
  email: `${email}@acme.test`,
  state,
});

type Engine = Awaited<ReturnType<typeof createTestEngine>>;

/** Refreshes people as the hourly schedule does, and runs the engine until no work is left. */
async function refresh({ world, deliver }: Engine) {
  const report = await refreshPeople(await world.connection(), world.toolPorts);
  await deliver();
  return report;
}

const guard = { minSize: 2, maxRemovedShare: 0.4, maxRemovedCount: 9, perHourCount: 9 };
it('a person that the platform no longer knows leaves the group, within the limits of the guard', async () => {
  const engine = await createTestEngine({ settings: { guard } });
  const { world, deliver, shown, state } = engine;
  const listed = async (...ids: string[]) => {
    world.platform.employees = ids.map((id) => person(id, id));
    await refresh(engine);
  };
  await listed('ann', 'bob', 'cid');
  await deliver({ snapshot: 'g', of: ['ann', 'bob', 'cid'] });
  expect(shown('g')).toEqual([['u-ann', 'u-bob', 'u-cid']]);
  await listed('ann', 'bob');
  expect(shown('g')).toEqual([['u-ann', 'u-bob']]);
  expect(await engine.pending()).toEqual([['cid', 'inactive']]);
  await listed('ann');
  expect(shown('g')).toEqual([['u-ann', 'u-bob']]);
  expect(await state('g')).toMatchObject({ settled: 'held', hold: { removes: 1 } });
});

it.each([
  ['', 0],
  [' (large group, whose registers contain copies of the users)', LARGE_GROUP],
])('a new employee with the address of an unbound, ended employee is added%s', async (_, size) => {
  const engine = await createTestEngine();
  const { world, deliver, shown, member } = engine;
  const many = Array.from({ length: size }, (_one, n) => `m${n}`);
  const leaver = person('leaver', 'ann', 'TERMINATED');
  const others = many.map((id) => person(id, id));
  await world.toolPorts.hire([leaver, ...others]);
  await deliver({ snapshot: 'g', of: ['ann', ...many] });
  expect(await engine.pending()).toEqual([['ann', 'inactive']]);
  const stored = await world.toolPorts.users.read(CONNECTION, [member('ann')]);
  expect(stored.get(member('ann'))).not.toHaveProperty('role');
  world.platform.employees = [leaver, person('newcomer', 'ann'), ...others];
  await refresh(engine);
  expect(shown('g')[0]).toContain('u-newcomer');
  expect(await engine.pending()).toEqual([]);
});

it.each([
  ['stored by ingest together with the member', {}, 1, 'ann'],
  ['not stored by ingest while the connection only observes', { observing: true }, 1, undefined],
  ['not stored by ingest if the person cannot be read', {}, 99, undefined],
])('the binding of a new member is %s', async (_, options, schema, role) => {
  const { world, emit, hire, member } = await createTestEngine(options);
  await hire('ann');
  world.table.change(personKey(CONNECTION, roleId('ann')), { set: { schema } });
  emit({ snapshot: 'g', of: ['ann'] }, { user: 'bob', email: 'bob@acme.test' });
  expect(await ingest(takeEvents(world), world.toolPorts)).toMatchObject({ causes: [] });
  const stored = await world.toolPorts.users.read(CONNECTION, [member('ann'), member('bob')]);
  expect([...stored.values()].map((user) => user.role)).toEqual([role, undefined]);
});

const LEAVER = person('leaver', 'ann');
const HANDED_ON = [{ ...LEAVER, state: 'TERMINATED' }, person('newcomer', 'ann')];

it.each([
  ['the event arrives after the refresh that lists both persons', 0, ['refresh', 'event']],
  ['the event arrives before the refresh that lists both persons', 0, ['event', 'refresh']],
  ['the group is large, and its registers contain copies of the users', LARGE_GROUP, ['event', 'refresh']],
  ["the newcomer gets the leaver's address only later", 0, ['event', 'leave', 'refresh']],
  ['the fan-out of the member is interrupted', 0, ['event', 'crash', 'refresh']],
  ['a refresh runs before the match is stored', 0, ['match', 'refresh', 'bind', 'event', 'refresh']],
])('the member is bound to a newcomer who gets the address of a leaver: %s', async (_, size, steps) => {
  const engine = await createTestEngine();
  const { world, deliver, shown, member } = engine;
  const { people } = world.toolPorts;
  const bound = { role: roleId('leaver'), revision: 0, isFirst: true };
  const many = Array.from({ length: size }, (_one, n) => `m${n}`);
  const others = many.map((id) => person(id, id));
  world.platform.employees = [LEAVER, ...others];
  await refresh(engine);
  for (const step of steps) {
    // The change is visible only in the next refresh of people.
    world.platform.employees = [...(step === 'leave' ? HANDED_ON.slice(0, 1) : HANDED_ON), ...others];
    if (step === 'event') await deliver({ snapshot: 'g', of: ['ann', ...many] });
    else if (step === 'crash') await world.toolPorts.users.unbind(CONNECTION, member('ann'), bound.role, 0);
    else if (step === 'match') await people.holding(CONNECTION, 'workEmail', LEAVER.email, member('ann'));
    else if (step === 'bind') await people.bind(CONNECTION, member('ann'), bound);
    else await refresh(engine);
  }
  expect(shown('g')[0]).toContain('u-newcomer');
  expect(shown('g')[0]).toHaveLength(size + 1);
  expect(await engine.pending()).toEqual([]);
});

it.each([
  ['one refresh has confirmed', 'ann', refresh],
  ['one refresh has confirmed for a leaver with another address', 'gone', refresh],
  [
    'an operator made',
    'ann',
    ({ world, member, role }: Engine) =>
      rebindMember(CONNECTION, { member: member('ann'), role: role('leaver') }, world.toolPorts),
  ],
])(
  "a binding that %s stays with the leaver, although another person gets the leaver's address",
  async (_, address, prove) => {
    const engine = await createTestEngine();
    const { world, deliver, shown } = engine;
    world.platform.employees = [LEAVER];
    await refresh(engine);
    await deliver({ snapshot: 'g', of: ['ann'] });
    await prove(engine);
    world.platform.employees = [person('leaver', address, 'TERMINATED'), person('newcomer', 'ann')];
    await refresh(engine);
    await deliver({ upsert: 'g' });
    expect([shown('g'), await engine.pending()]).toEqual([[[]], [['ann', 'inactive']]]);
  },
);

it('a member is bound on the first working day of a new employee, without another event', async () => {
  const engine = await createTestEngine();
  const { world, deliver, shown } = engine;
  await world.toolPorts.hire([person('ann', 'ann', 'HIRED')]);
  await deliver({ snapshot: 'g', of: ['ann'] });
  expect([shown('g'), await engine.pending()]).toEqual([[[]], [['ann', 'inactive']]]);
  world.platform.employees = [person('ann', 'ann', 'HIRED')];
  expect(await refresh(engine)).toMatchObject({ woken: 0 });
  world.platform.employees = [person('ann', 'ann')];
  expect(await refresh(engine)).toMatchObject({ woken: 1 });
  expect(shown('g')).toEqual([['u-ann']]);
});

it('a member whose new address belongs to another person is ambiguous until an operator rebinds the member', async () => {
  const engine = await createTestEngine();
  const { world, deliver, shown, member, role } = engine;
  await world.toolPorts.hire([person('ann', 'ann'), person('other', 'other')]);
  await deliver({ snapshot: 'g', of: ['ann'] });
  await deliver({ user: 'ann', email: 'other@acme.test' });
  expect(shown('g')).toEqual([[]]);
  expect(await engine.pending()).toEqual([['ann', 'ambiguous']]);
  const binding = { member: member('ann'), role: role('other') };
  expect(await rebindMember(CONNECTION, binding, world.toolPorts)).toEqual(['g']);
  await deliver();
  expect(shown('g')).toEqual([['u-other']]);
});

const BOUND: [string[][], string[][]] = [[['u-ann']], []];
const AMBIGUOUS: [string[][], string[][]] = [[[]], [['ann', 'ambiguous']]];
it.each<[string, readonly Omit<Extract<DirectoryEvent, { user: string }>, 'user'>[], typeof BOUND]>([
  ['reports that the account is active', [{ 'scim:active': 'true' }], BOUND],
  ['suspends the account and resumes it', [{ 'scim:active': 'false' }, { 'scim:active': 'true' }], BOUND],
  ['reports another spelling of the address', [{ email: ' Ann@ACME.test' }], BOUND],
  ['reports the new address of the same person', [{ email: 'own@acme.test' }], BOUND],
  ['reports an address that no person has', [{ email: 'unmatched@acme.test' }], BOUND],
  ['reports that there are no other addresses', [{ otherEmails: '' }], BOUND],
  ['reports the first other address', [{ otherEmails: 'home@mail.test' }], AMBIGUOUS],
  ['changes the address and the state', [{ email: 'second@acme.test', 'scim:active': 'true' }], AMBIGUOUS],
])(
  'only a changed value that a match rule compares causes a review of a binding, although a newcomer has the old address: the directory %s',
  async (_, events, expected) => {
    const match = ['email=workEmail', 'otherEmails=workEmail'] as const;
    const engine = await createTestEngine({ settings: { match } });
    const { world, deliver, shown } = engine;
    world.platform.employees = [person('ann', 'ann')];
    await refresh(engine);
    await deliver({ snapshot: 'g', of: ['ann'] });
    await refresh(engine);
    world.platform.employees = [person('ann', 'own'), person('second', 'ann'), person('third', 'second')];
    await refresh(engine);
    for (const event of events) await deliver({ user: 'ann', ...event });
    expect([shown('g'), await engine.pending()]).toEqual(expected);
  },
);

it('a member without a binding is matched when the directory reports that the account is active', async () => {
  const { deliver, shown, hire } = await createTestEngine();
  await deliver({ user: 'ann', email: 'ann@acme.test', 'scim:active': 'false' });
  await deliver({ snapshot: 'g', of: ['ann'] });
  await hire('ann');
  await deliver({ user: 'ann', 'scim:active': 'true' });
  expect(shown('g')).toEqual([['u-ann']]);
});

it.each([
  ['apply', 'that the person has left', HANDED_ON.slice(0, 1), []],
  ['ingest', 'that another person has the address', HANDED_ON, ['u-newcomer']],
])('a binding that %s stores is corrected if a refresh meanwhile finds %s', async (where, _, by, then) => {
  for (let at = 1, effects = 1; effects >= at; at += 1) {
    const engine = await createTestEngine();
    const { world, deliver, emit, shown, ref } = engine;
    const connection = await world.connection();
    world.platform.employees = [LEAVER];
    await refresh(engine);
    await deliver({ upsert: 'g' });
    // The member is known and in no group, so ingest stores no binding.
    if (where === 'apply') await deliver({ user: 'ann', email: 'ann@acme.test' });
    emit({ add: ['ann'], to: 'g' });
    effects = 0;
    const effect = async () => {
      effects += 1;
      if (effects !== at) return;
      world.platform.employees = by;
      await refreshPeople(connection, world.toolPorts);
    };
    const ports = world.portsFor({ effect });
    await ingest(takeEvents(world), where === 'ingest' ? ports : world.toolPorts);
    takeWoken(world);
    await applyGroup(ref('g'), where === 'apply' ? ports : world.toolPorts);
    // The next refresh confirms or removes a binding of ingest.
    await (where === 'apply' ? deliver() : refresh(engine));
    expect([at, shown('g')]).toEqual([at, [effects >= at ? then : ['u-leaver']]]);
  }
});

it('a rebound member is updated in all groups even if the fan-out was interrupted', async () => {
  const { world, deliver, shown, member, role } = await createTestEngine();
  await world.toolPorts.hire([person('ann', 'ann'), person('other', 'other')]);
  await deliver({ snapshot: 'g', of: ['ann'] }, { snapshot: 'h', of: ['ann'] });
  await world.toolPorts.users.rebind(CONNECTION, member('ann'), { role: role('other') }, 0);
  expect(await requeueDue(CONNECTION, world.toolPorts)).toMatchObject({ walksResumed: 1 });
  await deliver();
  expect([shown('g'), shown('h')]).toEqual([[['u-other']], [['u-other']]]);
  expect(await requeueDue(CONNECTION, world.toolPorts)).toMatchObject({ walksResumed: 0 });
});

it('a deleted user leaves every group, and returns only after an event adds the user again', async () => {
  const { deliver, shown, hire } = await createTestEngine();
  await hire('ann', 'bob');
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] }, { snapshot: 'h', of: ['ann'] });
  await deliver({ forget: 'ann' });
  expect([shown('g'), shown('h')]).toEqual([[['u-bob']], [[]]]);
  await deliver({ user: 'ann', email: 'ann@acme.test' });
  expect([shown('g'), shown('h')]).toEqual([[['u-bob']], [[]]]);
  await deliver({ add: ['ann'], to: 'h' });
  expect([shown('g'), shown('h')]).toEqual([[['u-bob']], [['u-ann']]]);
});

type Profile = Readonly<Record<string, readonly [stamp: number, value: string]>>;
const SETTINGS = { match: ['email=workEmail'], people: { exclude: [] } };

/** Returns the stored attributes after these events in this order, and the reported numbers of dropped attributes. */
async function kept(profiles: readonly Profile[]) {
  const table = new MemoryTable();
  const reports: number[] = [];
  const users = createUserStore(table, (_, member, dropped) => {
    expect(member).toBe('ann');
    reports.push(dropped);
  });
  const user = memberId('ann');
  for (const words of profiles) {
    const attributes = new Map(
      Object.entries(words).map(([name, [stamp, value]]): [string, Register<string>] => [
        name,
        { value, stamp: String(stamp).padStart(5, '0') as Stamp },
      ]),
    );
    const [joined] = await users.join(CONNECTION, [{ user, attributes, deleted: STAMP_ZERO }], SETTINGS);
    expect(joined).toHaveProperty('state');
  }
  const item = table.items.get(Object.values(userKey(CONNECTION, user)).join(' '));
  return { attributes: item?.['attributes'] as Record<string, { value: string }>, reports, table };
}

it('at most 32 attributes of a user are stored, those of match rules first, and all dropped attributes are reported', async () => {
  const profiles = Array.from(
    { length: 1_000 },
    (_, n): Profile => ({ [`seen-${n}`]: [n + 2, 'x'.repeat(900)] }),
  );
  const { attributes, reports, table } = await kept([{ email: [1, 'ann@acme.test'] }, ...profiles]);
  expect(Object.keys(attributes).sort()).toEqual(
    ['email', ...Array.from({ length: 31 }, (_, n) => `seen-${969 + n}`)].sort(),
  );
  expect(reports).toHaveLength(1_000 - 31);
  expect(table.largest.bytes).toBeLessThan(33 * 1_024);
});

it('an attribute value of more than 1 KB is dropped, together with the older value of the attribute', async () => {
  const long: Profile = { email: [2, `${'ä'.repeat(600)}@acme.test`] };
  const { attributes, reports } = await kept([{ email: [1, 'ann@acme.test'] }, long]);
  expect(attributes).toMatchObject({ email: { value: '' } });
  expect(reports).toEqual([1]);
});

it('the stored attributes are the same for every order of the events', async () => {
  const word = fc.tuple(fc.nat(20), fc.constantFrom('a', 'b', 'y'.repeat(1_100)));
  const names = fc.constantFrom('email', '__proto__', ...Array.from({ length: 60 }, (_, n) => `n${n}`));
  const words = fc
    .uniqueArray(fc.tuple(names, word), { selector: ([name]) => name, minLength: 10, maxLength: 40 })
    .map((entries): Profile => Object.fromEntries(entries));
  const orders = fc
    .array(words, { minLength: 2, maxLength: 5 })
    .chain((profiles) =>
      fc.tuple(fc.constant(profiles), fc.shuffledSubarray(profiles, { minLength: profiles.length })),
    );
  await fc.assert(
    fc.asyncProperty(orders, async ([profiles, otherwise]) => {
      const [one, other] = [await kept(profiles), await kept(otherwise)];
      expect(other.attributes).toEqual(one.attributes);
    }),
    { numRuns: 200 },
  );
});
