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

const WITHOUT_KEY = [
  ...['--directory', 'google', '--administrator', ADMIN],
  ...['--provider', PROVIDER, '--service-account', SERVICE_ACCOUNT.email],
];

describe('directory that is read without a key', () => {
  it('directory groups --compare shows the same with and without a key', async () => {
    const saved = () => savedWorld({ adoptExisting: 'byName', nested: 'flatten' });
    const { named, run, google, asked, world } = await worldOf(saved);
    world.platform.addForeign({ name: 'Sales', spokeId: '', users: ['u-x'] });
    const url = ['--directory-url', google.url, '--json'];
    const withKey = await named('directory', 'groups', '--compare');
    const without = await run('directory', 'groups', '--compare', ...WITHOUT_KEY, ...url);
    expect(without.json).toEqual(withKey.json);
    expect(without.code).toBe(0);
    // One question for the members of several groups.
    const questions = asked.filter((question) => 'membersOf' in question);
    expect(questions.length).toBeLessThan(without.json.groups.length);
  });

  it('directory takeover shows the same groups with and without a key', async () => {
    const { named, run, google } = await worldOf(sixInSync);
    const url = ['--directory-url', google.url, '--json'];
    const withKey = await named('directory', 'takeover', '--dry-run');
    const without = await run('directory', 'takeover', '--dry-run', ...WITHOUT_KEY, ...url);
    expect(without.json).toEqual(withKey.json);
  });

  it('directory groups --compare asks the function about the directory that the connection reads', async () => {
    const federation = { provider: PROVIDER, serviceAccount: SERVICE_ACCOUNT.email };
    const base = { kind: 'google', administrator: ADMIN, federation };
    const { run, google, world } = await worldOf();
    const setting = JSON.stringify({ ...base, baseUrl: google.url });
    expect(
      (await run('connections', 'set', world.connection.name, `directory=${setting}`, '--yes')).code,
    ).toBe(0);
    const { code, json } = await run('directory', 'groups', '--compare', '--json');
    expect([code, json.totals.create]).toEqual([0, 3]);
  });

  it('a refused sign-in changes nothing, and the message names the failed call', async () => {
    const { run, google } = await worldOf();
    await google.control('federation', { allowedSubjects: [] });
    const url = ['--directory-url', google.url];
    const { code, stderr } = await run('directory', 'takeover', ...WITHOUT_KEY, ...url);
    expect(code).toBe(1);
    expect(stderr).toContain('nothing was changed: signJwt: the directory answered 403 (PERMISSION_DENIED)');
    expect(stderr).toContain('groupsync doctor');
  });
});
