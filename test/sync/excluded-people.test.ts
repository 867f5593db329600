import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { planningWith } from '../../shared/operate/people-now.ts';
import { effectsOf, membersNamed } from '../../shared/operate/setting-effect.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { LARGE_GROUP } from '../../shared/sync/tuning.ts';
import { platformGroupsOf } from '../directory/reading/fixture.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION } from '../support/engine/world.ts';
import { openWith, resume, scimOf } from '../support/operate/takeovers.ts';
import { add, remove, replace } from '../support/scim-operations.ts';

const NO_VAULT = { store: async () => 'v1', remove: async () => false };

async function company(exclude: readonly string[], settings: object = {}) {
  const engine = await createTestEngine({ settings: { people: { exclude }, ...settings } });
  const { world, deliver, state, ref } = engine;
  const { toolPorts } = world;
  await engine.hire('ann', 'bob', 'eva');
  const plan = (value: readonly string[]) =>
    planSettings(CONNECTION, [{ key: 'people.exclude', value }], toolPorts);
  return {
    ...engine,
    plan,
    /** Changes the list of conditions, and waits until all groups were planned again. */
    set: async (...conditions: readonly string[]) => {
      await changeSettings(await plan(conditions), { ...toolPorts, vault: NO_VAULT } as never);
      await engine.pass(5 * 60_000);
    },
    describe: (user: string, attributes: object) => deliver({ user, ...attributes }),
    counts: async () => (await state('g'))?.counts,
    explain: async (member: string) =>
      explainMember(ref('g'), member, { connection: await world.connection(), ports: toolPorts }),
  };
}

it('an excluded member is not in the group, not pending, and counted once', async () => {
  const { deliver, describe, shown, counts, explain } = await company(['type=guest']);
  await describe('bob', { type: 'Guest' });
  await deliver({ snapshot: 'g', of: ['ann', 'bob', 'zoe'] });
  expect(shown('g')).toEqual([['u-ann']]);
  expect(await counts()).toEqual({ wanted: 2, applied: 1, pending: 1, excluded: 1 });
  expect((await explain('bob')).decision).toEqual({
    outcome: 'not_wanted',
    detail: 'the setting people.exclude leaves this person out of every group (type=guest)',
  });
});

it('a member leaves and returns with a changed attribute, and an event with only the id changes nothing', async () => {
  const { deliver, describe, shown, counts } = await company(['department=Robots']);
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  await describe('bob', { department: ' rOBOTS ' });
  expect(shown('g')).toEqual([['u-ann']]);
  await deliver({ add: ['bob', 'eva'], to: 'g' });
  expect(shown('g')).toEqual([['u-ann', 'u-eva']]);
  await deliver({ take: ['eva'], from: 'g' });
  expect(await counts()).toEqual({ wanted: 1, applied: 1, pending: 0, excluded: 1 });
  await describe('bob', { department: '' });
  expect(shown('g')).toEqual([['u-ann', 'u-bob']]);
  expect(await counts()).toEqual({ wanted: 2, applied: 2, pending: 0 });
});

it('a suspended person who is excluded leaves at once as a suspended person', async () => {
  const { deliver, describe, explain } = await company(['type=guest']);
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  await describe('bob', { type: 'guest', 'scim:active': 'false' });
  expect((await explain('bob')).decision.detail).toContain('switched their account off');
});

it('the preview of a changed list names who joins and leaves, and the removals wait for an approval', async () => {
  const limits = { guard: { minSize: 0, maxRemovedCount: 0 } };
  const { deliver, describe, plan, set, state, shown, ref, world } = await company(['type=robot'], limits);
  await describe('eva', { type: 'robot' });
  await describe('bob', { type: 'guest' });
  await deliver({ snapshot: 'g', of: ['ann', 'bob', 'eva'] });
  const { toolPorts } = world;
  const wanted = await plan(['type=guest']);
  expect(wanted).toMatchObject({ replans: true });
  const { settings } = await planningWith(wanted, wanted.next, toolPorts);
  const [effect] = effectsOf(
    [await planGroup(ref('g'), toolPorts)],
    [await planGroup(ref('g'), toolPorts, settings)],
  );
  expect(await membersNamed(effect as never, CONNECTION, toolPorts as never)).toEqual([
    '+ eva@acme.test (eva)',
    'waits: bob@acme.test (u-bob)',
  ]);
  await set('type=guest');
  expect(shown('g')).toEqual([['u-ann', 'u-bob', 'u-eva']]);
  expect((await state('g'))?.hold).toMatchObject({ removes: 1, decision: { kind: 'waiting' } });
});

it('a changed list reaches the members of a large group, whose registers have copies', async () => {
  const { deliver, describe, set, hire, shown } = await company([], { guard: null });
  const many = Array.from({ length: LARGE_GROUP }, (_, at) => `m${at}`);
  await hire(...many);
  await describe('m7', { type: 'guest' });
  await deliver({ snapshot: 'g', of: many });
  expect(shown('g')[0]).toHaveLength(LARGE_GROUP);
  await set('type=guest');
  expect(shown('g')[0]).not.toContain('u-m7');
  await describe('m7', { type: 'member' });
  expect(shown('g')[0]).toContain('u-m7');
});

it('a user of SCIM leaves with a changed attribute, and returns when the attribute is removed', async () => {
  const people = { exclude: ['type=guest', 'department=robots'] };
  const engine = await openWith({}, { people, guard: null });
  const scim = await scimOf(engine);
  const department = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';
  const [a, b] = [await scim.user('a'), await scim.user('b')];
  const usersAfter = async (id: string, ...operations: readonly object[]) => {
    expect((await scim.patch(`/Users/${id}`, operations as never)).status).toBeLessThan(300);
    await resume(engine);
    return platformGroupsOf(engine).map(({ users }) => users.join());
  };
  await scim.group('Sales', ['a', 'b', 'c']);
  expect(await usersAfter(a, add('userType', 'Guest'))).toEqual(['u-b,u-c']);
  expect(await usersAfter(b, add(department, 'Robots'))).toEqual(['u-c']);
  expect(await usersAfter(a, replace('userType', 'Member'))).toEqual(['u-a,u-c']);
  expect(await usersAfter(b, remove(department))).toEqual(['u-a,u-b,u-c']);
});

it.each([
  ['the address in another case', 'email=BOB@acme.test', {}],
  ['one of several addresses', 'otherEmails=bob@acme.test', { otherEmails: 'x@acme.test bob@ACME.test' }],
  ['another Unicode form', 'department=Bu\u0308ro', { department: 'b\u00fcro' }],
  ['a custom attribute', 'custom.kind=svc', { 'custom.kind': 'SVC' }],
])('a condition compares as addresses are compared: %s', async (_, condition, attributes) => {
  const { deliver, describe, shown } = await company([condition]);
  await describe('bob', attributes);
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  expect(shown('g')).toEqual([['u-ann']]);
});

it.each(['kind=guest', 'type', 'type=', 'type= ', '=guest', 'custom.=x'])(
  'the condition %s is refused',
  (condition) => {
    const settings = { baseUrl: 'https://platform.invalid', people: { exclude: [condition] } };
    expect(() => parseSettings(settings)).toThrow(
      'people.exclude.0: expected a condition attribute=value with the attribute one of email, otherEmails, userName',
    );
  },
);
