import { describe, expect, it } from 'vitest';
import { OUTPUT_SCHEMAS } from '../../cli/schemas.ts';
import { PROVIDER } from '../../directory-simulator/google/federation.ts';
import { SERVICE_ACCOUNT } from '../../directory-simulator/google/sign-in.ts';
import type { DirectoryComparison } from '../../shared/contract/answers.ts';
import { ADMIN } from '../directory-simulator/fixture.ts';
import { group, savedWorld, sixInSync } from '../support/operate/world.ts';
import { worldOf } from './directory-fixture.ts';

describe('directory takeover', () => {
  const withGroup = (name: string) => async () => {
    const world = await sixInSync();
    await world.publish(group('g', name));
    await world.apply('g');
    return world;
  };

  it('directory takeover shows the groups, and changes nothing with --dry-run', async () => {
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

  it('directory takeover gives the groups to the reader, so that the directory can be connected', async () => {
    const { named, connect, connection, world } = await worldOf(withGroup('EMEA'));
    const before = [...world.platform.groups.values()];
    const { code, json } = await named('directory', 'takeover', '--yes');
    expect(json).toMatchObject({ observing: true, groups: [{ group: 'g' }], busy: [] });
    expect(code).toBe(0);
    expect((await connect()).json).toMatchObject({ stored: true, others: [], observing: true });
    expect((await connection())?.observing).toBe(true);
    expect([...world.platform.groups.values()]).toEqual(before);
    const moved = await world.ports.groups.read(world.refOf('g-emea'));
    expect(moved?.link?.id).toBe(before[0]?.id);
  });

  it('directory takeover exits with 3 if the directory does not have a group', async () => {
    const { named } = await worldOf(sixInSync);
    const { code, json } = await named('directory', 'takeover', '--yes');
    expect(json).toMatchObject({ groups: [], unmapped: [{ group: 'g', name: 'Group g' }] });
    expect(code).toBe(3);
  });

  it('directory takeover asks for a directory if the connection reads none', async () => {
    const { run } = await worldOf();
    const { code, stderr } = await run('directory', 'takeover');
    expect(code).toBe(2);
    expect(stderr).toContain('default reads no directory: expected --directory KIND');
  });
});

describe('directory groups --compare', () => {
  it('directory groups --compare asks for a key if the connection reads its directory without one', async () => {
    const { run, world } = await worldOf(() =>
      savedWorld({
        directory: {
          kind: 'google',
          administrator: ADMIN,
          federation: { provider: PROVIDER, serviceAccount: SERVICE_ACCOUNT.email },
        },
      }),
    );
    const { code, stderr } = await run('directory', 'groups', '--compare');
    expect(code).toBe(2);
    expect(stderr).toContain(`${world.connection.name} reads its directory without a key`);
    const named = ['--directory', 'google', '--administrator', ADMIN];
    expect((await run('directory', 'takeover', ...named)).stderr).toContain('and --key FILE too');
  });

  it('directory groups --compare prints the changes of a first run in the form of its schema', async () => {
    const { named, world } = await worldOf(() => savedWorld({ adoptExisting: 'byName' }));
    world.platform.addForeign({ name: 'Sales', spokeId: '', users: ['u-x'] });
    const { code, json } = await named('directory', 'groups', '--compare');
    const { groups, totals } = OUTPUT_SCHEMAS['directory groups'].parse(json) as DirectoryComparison;
    expect(code).toBe(0);
    expect(totals).toMatchObject({ adopt: 1, create: 2, unreadable: 1, removed: 1 });
    expect(groups.find((one) => one.group === 'g-all')?.problem).toContain('every user');
  });
});
