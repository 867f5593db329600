import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, openReader } from './fixture.ts';

const directory = { kind: 'google', administrator: 'admin@acme.test' };
async function readerWith(groups: Readonly<Record<string, readonly string[]>>) {
  const reader = await openReader({ world: company(groups), settings: { directory } });
  await reader.hire('a', 'b', 'c', 'd');
  return reader;
}

it('after a full read, a group that the reader skips because of its name keeps its due time', async () => {
  const reader = await readerWith({ rowing: ['a', 'b'], chess: ['c'] });
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a'] });
  await reader.passMinutes(120);
  await reader.run({ isFull: true });
  await reader.pass(5 * MINUTE_MS);
  const dues: unknown[] = [];
  for (let i = 0; i < 6; i += 1) {
    dues.push((await reader.stored('rowing'))?.dueMs);
    await reader.run();
    await reader.pass(5 * MINUTE_MS);
  }
  expect(new Set(dues).size).toBe(1);
});

type Change = (reader: Awaited<ReturnType<typeof readerWith>>) => Promise<unknown>;
it.each<[string, Change, string[][]]>([
  ['the other source deletes its group', (reader) => reader.deliver({ remove: 'okta-1' }), []],
  [
    'the other source renames its group',
    (reader) => reader.deliver({ snapshot: 'okta-1', name: 'Group sailing', of: ['a'] }),
    [['u-a']],
  ],
  [
    'the directory renames its group',
    (reader) => reader.change({ kind: 'changeGroup', group: 'rowing', name: 'Group sailing' }),
    [['u-a']],
  ],
])(
  'the reader skips a group whose name differs from that of another source only in case and white space, until %s',
  async (_, change, theirs) => {
    const reader = await readerWith({ rowing: ['a', 'b'], chess: ['c'] });
    await reader.deliver({ snapshot: 'okta-1', name: 'group  ROWING', of: ['a'] });
    await reader.passMinutes(30);
    expect(await reader.stored('rowing')).toMatchObject({ other: 'okta-1' });
    expect([reader.shown('rowing'), reader.shown('okta-1')]).toEqual([[], [['u-a']]]);
    await change(reader);
    await reader.passMinutes(130);
    expect([reader.shown('rowing'), reader.shown('okta-1')]).toEqual([[['u-a', 'u-b']], theirs]);
  },
);
