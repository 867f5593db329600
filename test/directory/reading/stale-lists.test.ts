import { describe, expect, it } from 'vitest';
import type { Directory, DirectoryMember } from '../../../shared/directory/ports.ts';
import { groupId, memberId } from '../../../shared/domain/ids.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, READERS, settle } from './fixture.ts';

type Groups = Readonly<Record<string, readonly string[]>>;

const NESTED = { nested: 'flatten', groups: { include: ['Group *'], exclude: ['inner'] } };
type Vendor = keyof typeof READERS;

/** Opens a directory whose groups are in sync. */
async function settled(vendor: Vendor, groups: Groups, settings = {}) {
  return settle(await READERS[vendor]({ world: company(groups), settings }), 45);
}

/** Makes the next lists of a group show these members. A replica with a lag behaves in the same way. */
function showEarlier(
  directory: Directory,
  group: string,
  { members, times, nowMs }: { members: readonly string[]; times: number; nowMs: () => number },
) {
  const { membersOf } = directory;
  let left = times;
  const items = members.map((id): DirectoryMember => {
    const attributes = new Map(['email', 'userName'].map((name) => [name, `${id}@acme.test`]));
    if (id.length > 1) return { kind: 'group', id: groupId(id) };
    return { kind: 'user', user: { id: memberId(id), attributes, isActive: true } };
  });
  const userCount = items.filter(({ kind }) => kind === 'user').length;
  // Entra ID shows its counts with the list.
  const counts = directory.lagMs > 0 ? { userCount, groupCount: items.length - userCount } : {};
  directory.membersOf = (id, nested) => {
    if (id !== group || left === 0) return membersOf(id, nested);
    left -= 1;
    return (async function* () {
      yield { items, asOfMs: nowMs(), ...counts };
    })();
  };
}

describe.each(['google', 'entra', 'okta'] as const)('lists of %s that are older than a report', (vendor) => {
  it('a list that lacks a reported new member removes no other member', async () => {
    const reader = await settled(vendor, { rowing: ['a', 'b'] });
    const { nowMs } = reader.world;
    showEarlier(reader.simulated.directory, 'rowing', { members: ['a'], times: 2, nowMs });
    await reader.changeFor(10, { kind: 'addMember', group: 'rowing', member: 'c' });
    expect(reader.takeSent().filter(({ data }) => data.group !== undefined)).toEqual([]);
    await reader.passMinutes(5);
    expect(reader.shown('rowing')).toEqual([['u-a', 'u-b', 'u-c']]);
  });

  it('the next run reads a list again if it still shows a member whose removal the directory reported', async () => {
    const reader = await settled(vendor, { rowing: ['a', 'b'] });
    const { nowMs } = reader.world;
    showEarlier(reader.simulated.directory, 'rowing', { members: ['a', 'b'], times: 1, nowMs });
    await reader.changeFor(5, { kind: 'removeMember', group: 'rowing', member: 'b' });
    expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
    await reader.passMinutes(5);
    expect(reader.shown('rowing')).toEqual([['u-a']]);
  });

  it('two reports about one member take effect in the order of their times', async () => {
    const reader = await settled(vendor, { rowing: ['a', 'b'] });
    await reader.change({ kind: 'addMember', group: 'rowing', member: 'c' });
    await reader.pass(MINUTE_MS);
    await reader.change({ kind: 'removeMember', group: 'rowing', member: 'c' });
    await reader.pass(MINUTE_MS);
    await reader.changeFor(5, { kind: 'removeMember', group: 'rowing', member: 'b' });
    expect(reader.shown('rowing')).toEqual([['u-a']]);
  });
});

describe.each(['google', 'entra'] as const)('lists of nested groups of %s', (vendor) => {
  it('a stale list of an unselected nested group removes no member of the outer group', async () => {
    const reader = await settled(vendor, { outer: ['a', 'inner'], inner: ['b'] }, NESTED);
    expect(reader.shown('outer')).toEqual([['u-a', 'u-b']]);
    const { nowMs } = reader.world;
    showEarlier(reader.simulated.directory, 'inner', { members: [], times: 1, nowMs });
    await reader.changeFor(5, { kind: 'addMember', group: 'inner', member: 'c' });
    expect(reader.takeSent().filter(({ data }) => data.group !== undefined)).toEqual([]);
    await reader.passMinutes(5);
    expect(reader.shown('outer')).toEqual([['u-a', 'u-b', 'u-c']]);
  });

  it.each(['flatten', 'ignore'])(
    'a list that shows a nested group with a reported addition is not treated as stale (nested: %s)',
    async (nested) => {
      const reader = await settled(vendor, { outer: ['a'], inner: ['b'] }, { ...NESTED, nested });
      await reader.changeFor(
        5,
        { kind: 'addMember', group: 'outer', member: 'inner', memberKind: 'group' },
        { kind: 'addMember', group: 'outer', member: 'c' },
      );
      expect(reader.shown('outer')).toEqual([nested === 'ignore' ? ['u-a', 'u-c'] : ['u-a', 'u-b', 'u-c']]);
    },
  );
});

it('a list of Entra that never shows a reported member is accepted after the lag', async () => {
  const reader = await settled('entra', { rowing: ['a', 'b'] });
  const { nowMs } = reader.world;
  showEarlier(reader.simulated.directory, 'rowing', { members: ['a'], times: 100, nowMs });
  await reader.changeFor(30, { kind: 'addMember', group: 'rowing', member: 'c' });
  expect(reader.shown('rowing')).toEqual([['u-a']]);
});
