import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, openReader, type Reader } from './fixture.ts';

/** Creates a directory whose groups are in sync. Each group has the members a and b. */
async function settled(count: number) {
  const groups = Object.fromEntries(Array.from({ length: count }, (_, index) => [`g${index}`, ['a', 'b']]));
  const reader = await openReader({ world: company(groups) });
  await reader.hire('a', 'b', 'c', 'd');
  await reader.passMinutes(40);
  return reader;
}

/**
 * Runs the reader for 20 minutes: the first read and the read that confirms it.
 * @returns all calls, and those for pages of reports and of members
 */
async function callsOf(reader: Reader) {
  const before = (await reader.google.requests()).length;
  await reader.pass(MINUTE_MS);
  await reader.passMinutes(20);
  const requests = (await reader.google.requests()).slice(before);
  // One sign-in an hour is not a call about the directory.
  const paths = requests.map(({ path }) => path).filter((path) => path.startsWith('/admin/'));
  const pages = paths.filter((path) => path.includes('/reports/') || path.endsWith('/members'));
  return { calls: paths.length, pages: pages.length, first: paths.slice(0, 4) };
}

const added = (group: string) => ({ kind: 'addMember', group, member: 'c' });
const removed = (group: string) => ({ kind: 'removeMember', group, member: 'b' });

describe('calls of the reader after a change', () => {
  it('a new member costs only the pages of the reports and of the members', async () => {
    const reader = await settled(8);
    await reader.change(added('g1'));
    const { calls, pages, first } = await callsOf(reader);
    expect(first.map((path) => path.replace(/.*applications/, ''))).toEqual([
      '/admin',
      '/groups_enterprise',
      '/admin/directory/v1/groups/g1/members',
      '/admin',
    ]);
    expect(calls).toBe(pages);
    expect(reader.shown('g1')).toEqual([['u-a', 'u-b', 'u-c']]);
  });

  it.each([
    ['one group loses a member', [removed('g1')]],
    ['two groups gain and lose a member', [added('g1'), removed('g2')]],
    [
      'six groups gain or lose a member',
      ['g1', 'g2', 'g3'].map(added).concat(['g4', 'g5', 'g6'].map(removed)),
    ],
  ])('the calls are at most 1.2 times the pages of reports and members if %s', async (_, changes) => {
    const reader = await settled(8);
    await reader.change(...changes);
    const { calls, pages } = await callsOf(reader);
    expect(calls).toBeLessThanOrEqual(1.2 * pages);
    expect(reader.shown('g4')).toEqual([changes.length > 2 ? ['u-a'] : ['u-a', 'u-b']]);
  });

  it('the hourly list finds a name and a number of members that no report has named', async () => {
    const reader = await settled(8);
    await reader.google.control('settings', { lostLogEntries: 1 });
    await reader.change(added('g1'), { kind: 'changeGroup', group: 'g2', name: 'Crew' });
    await reader.passMinutes(70);
    expect(reader.shown('g1')).toEqual([['u-a', 'u-b', 'u-c']]);
    expect([...reader.world.platform.groups.values()].map(({ name }) => name)).toContain('Crew');
  });

  it('a count that never agrees with the list causes one read, and not one each hour', async () => {
    const reader = await settled(8);
    await reader.google.control('counts', { group: 'g1', count: 1 });
    await reader.passMinutes(120);
    const before = (await reader.google.requests()).length;
    await reader.passMinutes(180);
    const paths = (await reader.google.requests()).slice(before).map(({ path }) => path);
    expect(paths.filter((path) => path.endsWith('/members'))).toEqual([]);
  });
});
