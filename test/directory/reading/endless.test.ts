import { expect, it } from 'vitest';
import type { Directory } from '../../../shared/directory/ports.ts';
import { createPages } from '../../../shared/directory/vendors/pages.ts';
import { groupId } from '../../../shared/domain/ids.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { memberOf, QUIET, readerOf } from './fixture.ts';

const GROUPS = Array.from({ length: 12 }, (_, index) => `g${index}`);
const RUN_MS = 13 * MINUTE_MS;
/** Opens a directory in which only the lists in `endless` have no end. Each of their pages takes five seconds. */
async function opened() {
  const endless = new Set<string>();
  const read: string[] = [];
  const reader = await readerOf((nowMs): Directory => {
    const pages = <Item>(name: string, items: readonly Item[]) => {
      let page = 0;
      return createPages({ clock: nowMs })(name, async () => {
        if (!endless.has(name)) return { items, asOfMs: nowMs(), next: undefined };
        reader.world.advance(5_000);
        page += 1;
        return { items: [], asOfMs: nowMs(), next: `page ${page}` };
      });
    };
    const groupOf = (id: string) => ({ id: groupId(id), name: id, address: id, userCount: 1 });
    return {
      ...QUIET,
      groups: () => pages('groups', GROUPS.map(groupOf)),
      group: async (id) => groupOf(id),
      async *membersOf(id) {
        for await (const page of pages(id, [memberOf('a', new Map())])) yield page;
        read.push(id);
      },
      async changesSince() {
        for await (const page of pages('changes', [])) read.push(...page.items);
        return QUIET.changesSince();
      },
    };
  });
  await reader.hire('a');
  const run = () => reader.run({ deadlineMs: reader.world.nowMs() + RUN_MS });
  await run();
  read.splice(0);
  await reader.pass(11 * MINUTE_MS);
  return { ...reader, run, read, endless };
}

const ENDLESS = /expected the end of the list within/;

it('endless member lists of five groups make reads of these groups fail, and two runs read all other groups', async () => {
  const { run, read, endless, stored, pass } = await opened();
  for (const group of GROUPS.slice(0, 5)) endless.add(group);
  const report = await run();
  expect(report?.failed).toBeGreaterThan(0);
  expect((await stored('g0'))?.problem).toMatch(ENDLESS);
  await pass(5 * MINUTE_MS);
  await run();
  expect(new Set(read)).toEqual(new Set(GROUPS.slice(5)));
});

it('groups with endless member lists do not delay other groups, even if changes of these groups are reported in each run', async () => {
  const { run, read, endless, ports, world, pass } = await opened();
  for (const group of GROUPS.slice(0, 10)) endless.add(group);
  const { name } = await world.connection();
  for (let at = 0; at < 4; at += 1) {
    for (const group of endless) await ports.reader.notePushed(name, groupId(group), world.nowMs());
    await run();
    await pass(5 * MINUTE_MS);
  }
  expect(new Set(read)).toEqual(new Set(['g10', 'g11']));
});

it.each(['groups', 'changes'])(
  'a run with an endless list of %s reads the groups and then fails with the reason',
  async (list) => {
    const { run, read, endless, pass } = await opened();
    endless.add(list);
    await pass(60 * MINUTE_MS);
    await expect(run()).rejects.toThrow(ENDLESS);
    expect(new Set(read)).toEqual(new Set(GROUPS));
  },
);

it('the reader finds new groups although the list of changes never ends', async () => {
  const { run, endless, pass, stored } = await opened();
  endless.add('changes');
  GROUPS.push('new');
  await pass(60 * MINUTE_MS);
  await expect(run()).rejects.toThrow(ENDLESS);
  expect((await stored('new'))?.readMs).toBeDefined();
  GROUPS.pop();
});
