import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OUTPUT_SCHEMAS } from '../../cli/schemas.ts';
import type { DirectoryComparison } from '../../shared/contract/answers.ts';
import { openGoogle } from '../directory/google/reader.ts';
import { ADMIN } from '../directory-simulator/fixture.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { group, savedWorld, sixInSync } from '../support/operate/world.ts';

/** A connection, and a directory that it may be connected to. */
async function worldOf(saved: () => Promise<Awaited<ReturnType<typeof savedWorld>>> = savedWorld) {
  const world = await saved();
  const google = await openGoogle();
  google.clock.ms = world.clock.ms;
  const stored: unknown[] = [];
  const directoryApplicants = {
    present: async () => google.directory,
    stored: async () => google.directory,
    store: async (_: unknown, key: unknown) => void stored.push(key),
  };
  const ports = { ...world.ports, directoryApplicants };
  const key = join(temporaryFolder(), 'key.json');
  writeFileSync(key, JSON.stringify(google.key));
  const args = ['connect', 'default', '--directory', 'google', '--administrator', ADMIN, '--key', key];
  return {
    google,
    stored,
    connect: (...more: string[]) => runCli([...args, '--yes', '--json', ...more], { ports }),
    run: (...given: string[]) => runCli(given, { ports }),
    world,
    /** A command that names the directory. */
    named: (...given: string[]) => runCli([...given, ...args.slice(2), '--json'], { ports }),
    connection: () => ports.connections.current('default' as never),
    setting: async () => (await ports.connections.current('default' as never))?.settings.directory,
  };
}

describe('connect --directory', () => {
  it('connect --directory shows the groups and stores the key and the setting', async () => {
    const { connect, stored, setting, google } = await worldOf();
    const { code, json, stderr } = await connect();
    expect(OUTPUT_SCHEMAS.connect.parse(json)).toMatchObject({
      connection: 'default',
      stored: true,
      kind: 'google',
      listed: 4,
      selected: 4,
      others: [],
    });
    expect(json.sample).toContainEqual({
      group: 'g-emea',
      name: 'EMEA',
      members: 1,
      matched: 0,
      problem: null,
    });
    expect(json.sample.find(({ group }: { group: string }) => group === 'g-all').problem).toContain(
      'every user',
    );
    expect(stderr).toContain('4 groups in the directory, 4 selected');
    expect(code).toBe(0);
    expect(stored).toEqual([google.key]);
    expect(await setting()).toEqual({ kind: 'google', administrator: ADMIN });
  });

  it.each([
    ['a scope is missing', { scopes: ['https://www.googleapis.com/auth/admin.directory.group.readonly'] }],
    ['nothing is delegated', { scopes: [] }],
  ])('stores nothing if %s', async (_, delegation) => {
    const { connect, stored, setting, google } = await worldOf();
    await google.control('delegation', delegation);
    const { code, stderr } = await connect();
    expect(code).toBe(1);
    expect(stderr).toContain('nothing was stored: token: the directory answered 401 (unauthorized_client)');
    expect([stored, await setting()]).toEqual([[], null]);
  });

  it('stores nothing while groups of another source exist, and names the command that takes them over', async () => {
    const { connect, stored, setting } = await worldOf(sixInSync);
    const { code, json, stderr } = await connect();
    expect(code).toBe(1);
    expect(json).toMatchObject({ stored: false, others: ['g'] });
    expect(stderr).toContain('next: groupsync directory takeover --directory google');
    expect([stored, await setting()]).toEqual([[], null]);
  });

  it('makes the connection observe if platform groups would be adopted', async () => {
    const { connect, world, connection } = await worldOf(() => savedWorld({ adoptExisting: 'byName' }));
    world.platform.addForeign({ name: 'Sales', spokeId: '', users: ['u-x'] });
    const { json, stderr } = await connect();
    expect(OUTPUT_SCHEMAS.connect.parse(json)).toMatchObject({ stored: true, adoptable: 1, observing: true });
    expect(stderr).toContain('next: groupsync directory groups --compare');
    expect((await connection())?.observing).toBe(true);
  });

  it('asks for the administrator and the key', async () => {
    const { run } = await worldOf();
    const { code, stderr } = await run('connect', 'default', '--directory', 'google');
    expect(code).toBe(2);
    expect(stderr).toContain('--directory: expected --administrator ADDRESS and --key FILE too');
  });
});

describe('directory takeover', () => {
  const withGroup = (name: string) => async () => {
    const world = await sixInSync();
    await world.publish(group('g', name));
    await world.apply('g');
    return world;
  };

  it('shows the groups, and changes nothing with --dry-run', async () => {
    const { named, connection } = await worldOf(withGroup('EMEA'));
    const { code, json } = await named('directory', 'takeover', '--dry-run');
    expect(OUTPUT_SCHEMAS['directory takeover'].parse(json)).toEqual({
      connection: 'default',
      observing: false,
      groups: [{ group: 'g', name: 'EMEA', directoryGroup: 'g-emea', directoryName: 'EMEA', by: 'name' }],
      unmapped: [],
      busy: [],
    });
    expect(code).toBe(0);
    expect((await connection())?.observing).toBe(false);
  });

  it('gives the groups to the reader, so that the directory can be connected', async () => {
    const { named, connect, connection, world } = await worldOf(withGroup('EMEA'));
    const before = [...world.platform.groups.values()];
    const { code, json } = await named('directory', 'takeover', '--yes');
    expect(json).toMatchObject({ observing: true, groups: [{ group: 'g' }], busy: [] });
    expect(code).toBe(0);
    expect((await connect()).json).toMatchObject({ stored: true, others: [], observing: true });
    expect((await connection())?.observing).toBe(true);
    expect([...world.platform.groups.values()]).toEqual(before);
    const moved = await world.ports.groups.read(world.refOf('g-emea'));
    expect(moved?.platformId).toBe(before[0]?.id);
  });

  it('exits with 3 if the directory does not have a group', async () => {
    const { named } = await worldOf(sixInSync);
    const { code, json } = await named('directory', 'takeover', '--yes');
    expect(json).toMatchObject({ groups: [], unmapped: [{ group: 'g', name: 'Group g' }] });
    expect(code).toBe(3);
  });

  it('asks for a directory if the connection reads none', async () => {
    const { run } = await worldOf();
    const { code, stderr } = await run('directory', 'takeover');
    expect(code).toBe(2);
    expect(stderr).toContain('default reads no directory: expected --directory KIND');
  });
});

describe('directory groups --compare', () => {
  it('prints what a first run would change, as its schema says', async () => {
    const { named, world } = await worldOf(() => savedWorld({ adoptExisting: 'byName' }));
    world.platform.addForeign({ name: 'Sales', spokeId: '', users: ['u-x'] });
    const { code, json } = await named('directory', 'groups', '--compare');
    const { groups, totals } = OUTPUT_SCHEMAS['directory groups'].parse(json) as DirectoryComparison;
    expect(code).toBe(0);
    expect(totals).toMatchObject({ adopt: 1, create: 2, unreadable: 1, removed: 1 });
    expect(groups.find((one) => one.group === 'g-all')?.problem).toContain('every user');
  });
});
