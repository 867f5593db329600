import { expect, it } from 'vitest';
import { removed, type ShortEvent, SIX, sixInSync } from '../support/operate/world.ts';

const zoe: ShortEvent = {
  type: 'group.member.added',
  data: { group: { id: 'g' }, members: [{ id: 'm-zoe', email: 'z@home.test', employeeNumber: '42' }] },
};
const withNumber = 'match=["email=workEmail","employeeNumber=employeeNumber"]';

/** Creates a group that is in sync and has one pending member. An employee has the employee number of that member. */
async function pendingWorld() {
  const world = await sixInSync();
  await world.deliver('g', zoe);
  world.platform.employees = [...SIX, 'zoe'].map((name) => ({
    role: `r-${name}`,
    userId: `u-${name}`,
    email: `${name}@acme.test`,
    ...(name === 'zoe' && { number: '42' }),
  }));
  return world;
}

it('a preview of new match rules counts the matched members, even if the people index lacks the compared field', async () => {
  const { cli, table } = await pendingWorld();
  const before = JSON.stringify([...table.items]);
  const { stderr } = await cli('connections', 'set', 'default', withNumber);
  expect(stderr).toContain('after this change 1 of 1 group would change: 1 added, 0 removed, 0 held');
  const { json } = await cli('plan', '--with', withNumber, '--json');
  expect(json.plans[0].changes).toMatchObject([{ kind: 'add_member', member: 'm-zoe' }]);
  expect(JSON.stringify([...table.items])).toBe(before);
});

it('the console previews the members that new match rules add, without already planned changes', async () => {
  const { ask, publish } = await pendingWorld();
  await publish(removed('g', 'bob'));
  const preview = (key: string, value: unknown) => ask('preview-settings', { changes: [{ key, value }] });
  expect(await preview('match', ['email=workEmail', 'employeeNumber=employeeNumber'])).toMatchObject({
    effects: [{ group: 'g', name: 'Group g', added: 1, removed: 0, held: 0, dropped: 0 }],
  });
  expect(await preview('mode', 'report')).toMatchObject({ effects: [{ group: 'g', dropped: 1 }] });
});
