import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { temporaryFile } from '../support/folder.ts';
import { added, applicantOf, deleted, group, savedWorld } from '../support/operate/world.ts';

/** Creates a directory group `n` that is not on the platform yet, and a group of another client with its name. */
async function clashingWorld(settings: Parameters<typeof savedWorld>[0] = {}) {
  const world = await savedWorld(settings);
  await world.hire('ann');
  const id = world.platform.addForeign({ name: 'night shift', users: [], spokeId: 'other' });
  await world.publish(group('n', 'Night Shift'), added('n', 'ann'));
  return { ...world, id };
}

const csv = (name: string, id = 'n2') => temporaryFile('clash.csv', `${id},${name},m-ann,ann@acme.test`);

it('plan reports that a platform group has the same name, and the command that adopts this group', async () => {
  const { cli, id } = await clashingWorld();
  const { json } = await cli('plan', 'n', '--json');
  expect(json.plans).toMatchObject([{ action: 'none', clashes: [{ platformId: id, name: 'night shift' }] }]);
  const { stdout } = await cli('plan', 'n');
  expect(stdout).toContain(`groupsync adopt n ${id}`);
  expect(stdout).toContain('groupsync platform-groups');
  await cli('adopt', 'n', id, '--yes', '--no-wait');
  expect((await cli('plan', 'n', '--json')).json.plans).toMatchObject([{ clashes: [] }]);
});

it('import reports a name clash with a platform group that groupsync manages, but none of a new group that it excludes', async () => {
  const { cli, id, apply } = await clashingWorld();
  await cli('adopt', 'n', id, '--yes', '--no-wait');
  await apply('n');
  const found = async (on: typeof cli, file: string) =>
    (await on('import', file, '--dry-run', '--as-of', 'now', '--json')).json.comparison.clashes;
  const clash = { group: 'n2', name: 'Night Shift', platformId: id };
  const managedBy = { group: 'n', connection: null };
  expect(await found(cli, csv('Night  shift'))).toEqual([{ ...clash, managedBy }]);
  const { stdout } = await cli('import', csv('Night shift'), '--dry-run', '--as-of', 'now');
  expect(stdout).toContain(`  ${id} "Night Shift" belongs to n; the file would create n2\n`);
  expect(stdout).not.toContain('groupsync adopt');
  expect(await found(cli, csv('Night Shift', 'n'))).toEqual([]);
  const excluding = await clashingWorld({ groups: { include: ['*'], exclude: ['n2'], policies: [] } });
  expect(await found(excluding.cli, csv('Night Shift'))).toEqual([]);
});

it('connect reports the name clash and offers to adopt the group', async () => {
  const { ports, id, publish } = await clashingWorld();
  await publish(deleted('gone'));
  const listed = [{ id, name: 'night shift', spokeId: 'other', users: [] }];
  const applicant = { ...applicantOf('company'), groups: async () => listed };
  const around = {
    ports: { ...ports, applicants: { present: () => applicant, stored: async () => applicant } },
    stdin: 'token',
  };
  const args = ['connect', 'default', '--base-url', 'https://platform.test', '--token-stdin', '--yes'];
  const { json, stderr } = await runCli([...args, '--json'], around);
  const clashes = [{ group: 'n', name: 'night shift', platformId: id }];
  expect(json.adoption).toEqual({ existing: 1, directory: 1, bySpokeId: [], clashes });
  expect(stderr).toContain(`groupsync adopt n ${id}`);
  expect(stderr).toContain('next: groupsync platform-groups');
});
