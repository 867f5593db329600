import { expect, it } from 'vitest';
import { company, openReader, settle } from './fixture.ts';

const DELETED = { kind: 'deleteGroup', group: 'inner' };

async function settled() {
  const world = company({ outer: ['a', 'inner'], inner: ['b'], chess: ['c'] });
  const settings = { nested: 'flatten', groups: { include: ['Group *'], exclude: ['inner'] } };
  const reader = await settle(await openReader({ world, settings }), 40);
  expect(reader.shown('outer')).toEqual([['u-a', 'u-b']]);
  return reader;
}

it.each(['console', 'groups'])(
  "the users of a deleted unselected nested group leave the outer group if Google reports the group's address (%s)",
  async (via) => {
    const reader = await settled();
    await reader.changeFor(5, { ...DELETED, via });
    expect(reader.shown('outer')).toEqual([['u-a']]);
  },
);

it('the users of the nested group leave even if the group had another address before', async () => {
  const reader = await settled();
  await reader.change({ kind: 'changeGroup', group: 'inner', email: 'within@acme.test' });
  await reader.passMinutes(10);
  await reader.changeFor(5, DELETED);
  expect(reader.shown('outer')).toEqual([['u-a']]);
});
