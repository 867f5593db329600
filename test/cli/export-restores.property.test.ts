import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { savedWorld } from '../support/operate/world.ts';

const SIGNS = [
  ...Array.from('=+-@＝＋－＠\'",;\t| üA1例'),
  ...['sep=', '#TYPE ', 'version:v1.0', 'group id'],
];
const name = fc
  .array(fc.constantFrom(...SIGNS), { minLength: 1, maxLength: 6 })
  .map((all) => all.join('').replaceAll('\t', ' ').trim())
  .filter((text) => text !== '');
const id = name.filter((text) => !/^[\d.,]+E\+?\d+$/i.test(text));
const member = fc.record({
  id,
  email: fc.option(fc.constantFrom('ann@acme.test', 'Jürgen@münchen.test', "o'neil@acme.test")),
});
const company = fc.uniqueArray(
  fc.record({ id, name, members: fc.uniqueArray(member, { selector: (one) => one.id, maxLength: 3 }) }),
  { selector: (one) => one.id, minLength: 1, maxLength: 4 },
);

it('importing an exported file would change nothing, for any names of groups and members', async () => {
  const cwd = temporaryFolder();
  await fc.assert(
    fc.asyncProperty(company, async (groups) => {
      const world = await savedWorld();
      const snapshots = groups.map(({ id: group, name: called, members }) => ({
        type: 'group.snapshot',
        data: {
          group: { id: group, name: called },
          members: members.map((one) => (one.email === null ? { id: one.id } : one)),
        },
      }));
      await world.publish(...snapshots);
      expect(world.deadLettered).toEqual([]);
      world.clock.ms += 60_000;
      const run = (...args: string[]) => runCli(args, { ports: world.ports, cwd });
      expect((await run('export', '--all', '--file', 'all.csv')).code).toBe(0);
      const read = await run('import', join(cwd, 'all.csv'), '--as-of', 'now', '--dry-run', '--json');
      expect(read.json.errors, read.stdout).toEqual([]);
      expect(read.json).toMatchObject({
        groups: groups.length,
        comparison: { added: 0, removed: 0, renamed: [], newGroups: [], changedSince: [], otherIds: [] },
      });
    }),
    { numRuns: 60 },
  );
});
