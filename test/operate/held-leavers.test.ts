import { expect, it } from 'vitest';
import { readHeldRemovals } from '../../shared/operate/held-members.ts';
import { rejectHold } from '../../shared/operate/holds.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { HOUR_MS } from '../support/engine/world.ts';

const EVERYBODY = ['a', 'b', 'c', 'd', 'e', 'f'];
const WORD = { reason: 'a reorganisation' };
const users = (ids: string) => [...ids].map((id) => `u-${id}`);

async function company(settings: object = {}) {
  const engine = await createTestEngine({ settings: { guard: {}, ...settings } });
  const { world, deliver, state, ref, audit } = engine;
  /** Ends the employment of these people, two hours later. */
  const end = async (ids = '') => {
    world.advance(2 * HOUR_MS);
    world.platform.employees = [...EVERYBODY, 'n'].map((role) => ({
      ...{ role, email: `${role}@acme.test`, userId: `u-${role}` },
      state: ids.includes(role) ? 'TERMINATED' : 'ACTIVE',
    }));
    await refreshPeople(await world.connection(), world.toolPorts);
    await deliver();
  };
  await end();
  await deliver({ snapshot: 'g', of: EVERYBODY });
  await end();
  return {
    ...engine,
    end,
    sets: async () =>
      (await state('g'))?.removals?.sets.map((set) => `${set.removes} ${set.decision.kind}`).join(),
    reject: async () => {
      const outcome = await rejectHold(ref('g'), WORD, world.toolPorts);
      await deliver();
      return outcome.kind;
    },
    whyRemoved: async (id: string) =>
      (await audit('g')).flatMap(({ changes }) => changes).find(({ before }) => before === `u-${id}`)?.reason,
  };
}

const ENDED = 'their employment has ended (TERMINATED)';

it.each([
  ['ended', ENDED],
  ['suspended', 'the directory has switched their account off'],
])('a rejected removal does not keep the person after the person has %s', async (how, why) => {
  const { deliver, shown, sets, reject, end, whyRemoved } = await company({ guard: { perHourCount: 1 } });
  await deliver({ take: ['a', 'b'], from: 'g' });
  expect(await reject()).toBe('decided');
  if (how === 'ended') await end('b');
  else await deliver({ user: 'b', 'scim:active': 'false' });
  expect([shown('g'), await sets()]).toEqual([[users('acdef')], '1 rejected']);
  expect(await whyRemoved('b')).toContain(why);
});

it('the guard counts the rejected removals, and a rejection of the end keeps the person', async () => {
  const { shown, sets, reject, end, deliver, state, world } = await company();
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  await reject();
  await end('b');
  expect([shown('g'), await sets()]).toEqual([[users('abcdef')], '1 waiting,3 rejected']);
  const seen = (await state('g')) as never;
  const removals = await readHeldRemovals(seen, seen['hold'], await world.connection(), world.toolPorts);
  expect(removals).toMatchObject([{ user: 'u-b', because: ENDED, event: null }]);
  await reject();
  await end('b');
  await deliver({ take: ['e'], from: 'g' });
  expect([shown('g'), await sets()]).toEqual([[users('abcdf')], '3 rejected,1 rejected']);
});

it('a removal that waits still waits after the end, and its rejection then covers the end', async () => {
  const { shown, sets, reject, end, deliver } = await company();
  await deliver({ take: ['a', 'b', 'c', 'd'], from: 'g' });
  await end('b');
  expect([shown('g'), await sets()]).toEqual([[users('abcdef')], '1 waiting,3 waiting']);
  await reject();
  await end('b');
  expect([shown('g'), await sets()]).toEqual([[users('abcdef')], '3 waiting,1 rejected']);
});

it.each(['delete', 'release'])(
  'while a deletion with onGroupDeleted=%s waits or is rejected, the guard judges people who ended',
  async (onGroupDeleted) => {
    const guard = { perHourCount: 2, maxRemovedCount: 2 };
    const { shown, sets, reject, end, deliver, whyRemoved } = await company({ guard, onGroupDeleted });
    await deliver({ take: ['a', 'b', 'c'], from: 'g' });
    await deliver({ remove: 'g' }, { add: ['n'], to: 'g' });
    await end('b');
    expect([shown('g'), await whyRemoved('b')]).toEqual([[users('acdef')], ENDED]);
    await reject();
    await end('bd');
    expect([shown('g'), await whyRemoved('d')]).toEqual([[users('acef')], ENDED]);
    await deliver({ snapshot: 'g', of: [...'acefn'] });
    expect([shown('g'), await sets()]).toEqual([[users('acefn')], undefined]);
  },
);
