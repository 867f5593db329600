import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as groupItem from '../../shared/store/group-item.ts';
import * as changedMembersOf from '../../shared/sync/match/changed-members.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { wakeAll } from '../../shared/sync/wake.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';
import { createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';

/* For a group in sync, apply reads only the changed members. A later read of all members must find no difference. */

const met = { parts: 0, hint: '' };
const { membersAfter } = changedMembersOf;
const { parseGroup } = groupItem;
beforeAll(() => {
  vi.spyOn(changedMembersOf, 'membersAfter').mockImplementation(async (...asked) => {
    const membersByUser = await membersAfter(...asked);
    met.parts += membersByUser === undefined ? 0 : 1;
    return membersByUser;
  });
  vi.spyOn(groupItem, 'parseGroup').mockImplementation((...asked) => {
    const { changedMembers = [], ...state } = parseGroup(...asked);
    const hinted = changedMembers.map((one) => ({ ...one, role: met.hint === '' ? one.role : met.hint }));
    return changedMembers.length === 0 ? state : { ...state, changedMembers: hinted };
  });
});
afterAll(() => void vi.restoreAllMocks());

const MEMBERS = ['ann', 'bob', 'cid', 'dee', 'zed'];
/** The employees. The first two are roles of one user, so two members may match one user. */
const PEOPLE = (
  [
    ['ann', 'u-ann'],
    ['bob', 'u-ann'],
    ['cid', 'u-cid'],
    ['dee', 'u-dee'],
  ] as const
).map(([id, userId]) => ({ role: `r-${id}`, email: `${id}@acme.test`, userId, state: 'ACTIVE' }));

const oneMember = fc.nat({ max: 15 }).map((n) => MEMBERS[n === 0 ? 4 : n % 4] ?? 'ann');
const some = fc.uniqueArray(oneMember, { minLength: 1, maxLength: 2 });
const joins = (...add: string[]): DirectoryEvent => ({ add, to: 'g' });
const leaves = (...take: string[]): DirectoryEvent => ({ take, from: 'g' });
const move = some.chain((who) => fc.constantFrom(joins(...who), leaves(...who)));
const member = fc.constantFrom(...MEMBERS);
const readdressed = fc.tuple(member, member).map(([user, of]) => ({ user, email: `${of}@acme.test` }));
const directoryEvent: fc.Arbitrary<DirectoryEvent> = fc.oneof(
  { weight: 12, arbitrary: move },
  fc.constantFrom<DirectoryEvent>(
    { upsert: 'g', name: 'Blue' },
    { upsert: 'g', name: 'Red' },
    { remove: 'g' },
  ),
  some.map((of) => ({ snapshot: 'g', of })),
  member.map((forget) => ({ forget })),
  readdressed,
);
const fault = fc.constantFrom('none', 'none', 'none', 'throttled', 'unheard', 'echo');
const step = fc.record({
  emit: fc.array(directoryEvent, { minLength: 1, maxLength: 2 }),
  /** The index in `PEOPLE` and the new state of a person who changes before the next refresh. */
  person: fc.option(fc.tuple(fc.nat({ max: 3 }), fc.constantFrom('ACTIVE', 'TERMINATED')), { freq: 6 }),
  isSeen: fc.boolean(),
  /** The role that all stored hints name, or empty for their own role. A wrong hint has no effect. */
  hint: fc.constantFrom('', '', 'r-ann', 'r-bob', 'r-dee', 'unknown'),
  faults: fc.oneof(fc.constant([]), fc.constant([]), fc.array(fault, { maxLength: 30 })),
});

async function company() {
  const engine = await createTestEngine();
  const { world, deliver } = engine;
  const employ = async (people: typeof PEOPLE) => {
    world.platform.employees = people;
    await refreshPeople(await world.connection(), world.toolPorts);
  };
  await employ(PEOPLE);
  await deliver({ snapshot: 'g', of: ['cid', 'dee'] });
  return { ...engine, employ };
}

it.each([
  ['a second account of the user joins and leaves', [joins('ann'), joins('bob'), leaves('bob')]],
  ['one account of the user is removed twice', [joins('ann'), leaves('ann'), joins('bob'), leaves('ann')]],
])('a user stays in the group although %s', async (_, directoryEvents) => {
  const { deliver, shown } = await company();
  for (const directoryEvent of directoryEvents) await deliver(directoryEvent);
  expect(shown('g')).toEqual([['u-ann', 'u-cid', 'u-dee']]);
});

const LAST = { emit: [], person: null, isSeen: true, hint: '', faults: [] };

it(
  'a read of all members finds no difference that a read of the changed members missed',
  async () => {
    met.parts = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
        vi.clearAllMocks();
        const { world, deliver, troubles, ref, shown, audit, employ } = await company();
        let people = PEOPLE;
        for (const { emit, person, isSeen, hint, faults } of [...steps, LAST]) {
          met.hint = hint;
          const waiting = [...faults];
          troubles.table = () => (waiting.shift() ?? 'none') as 'none';
          if (person !== null) {
            people = people.map((one, n) => (n === person[0] ? { ...one, state: person[1] } : one));
            await employ(people);
          }
          await deliver(...emit);
          if (!isSeen) continue;
          const [stood, written] = [shown('g'), (await audit('g')).length];
          await wakeAll(ref('g').connection, [ref('g').group], world.toolPorts);
          await deliver();
          expect(shown('g')).toEqual(stood);
          expect((await audit('g')).length).toBe(written);
        }
      }),
      runs(300),
    );
    expect(met.parts).toBeGreaterThan(runs(300).numRuns / 3);
  },
  PATIENCE_MS,
);
