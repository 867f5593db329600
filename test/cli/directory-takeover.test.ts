import { expect, it } from 'vitest';
import { PROVIDER } from '../../directory-simulator/google/federation.ts';
import { SERVICE_ACCOUNT } from '../../directory-simulator/google/sign-in.ts';
import type { DirectoryComparison } from '../../shared/contract/answers/directory.ts';
import { NO_GROUP } from '../../shared/domain/group.ts';
import { READER_SOURCE } from '../../shared/domain/source.ts';
import { makeStamp } from '../../shared/domain/stamp.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import { ADMIN } from '../directory-simulator/fixture.ts';
import { temporaryFile } from '../support/folder.ts';
import { group, savedWorld, sixInSync } from '../support/operate/world.ts';
import { worldOf } from './directory-fixture.ts';

/** Creates a company with these groups, which all have the name EMEA. */
async function withGroups(...ids: readonly string[]) {
  const world = await sixInSync();
  await world.deliver('g', ...ids.map((id) => group(id, 'EMEA')));
  return world;
}

it('directory takeover shows the groups, and changes nothing with --dry-run', async () => {
  const { named, connection } = await worldOf(() => withGroups('g'));
  const { code, json } = await named('directory', 'takeover', '--dry-run');
  expect(json).toEqual({
    connection: 'default',
    observing: false,
    to: 'directory',
    groups: [{ group: 'g', name: 'EMEA', target: 'g-emea', targetName: 'EMEA', by: 'name' }],
    unmapped: [],
    busy: [],
  });
  expect(code).toBe(0);
  expect((await connection())?.observing).toBe(false);
});

it('directory takeover --to scim needs no directory, and shows groups that no SCIM client has', async () => {
  const { run } = await worldOf(sixInSync);
  const { code, json } = await run('directory', 'takeover', '--to', 'scim', '--yes', '--json');
  expect(json).toMatchObject({
    to: 'scim',
    groups: [],
    unmapped: [{ group: 'g', name: 'Group g', reason: 'not_found', target: null }],
  });
  expect(code).toBe(3);
  const { stdout } = await run('directory', 'takeover', '--to', 'scim', '--dry-run');
  expect(stdout).toContain('groupsync release g\nassign the group to the SCIM application');
});

it('directory takeover says how to name the group if several groups have its name', async () => {
  const { named, plain } = await worldOf(() => withGroups('g', 'h'));
  const { json } = await named('directory', 'takeover', '--dry-run');
  expect(json.unmapped).toMatchObject([{ reason: 'not_unique' }, { reason: 'not_unique' }]);
  const { stdout } = await plain('directory', 'takeover', '--dry-run');
  expect(stdout).toContain('put the line "h,ID" into the file of --map');
});

it.each([
  ['g,nothing', 'g: expected a group of the new source, got nothing'],
  ['h,g-emea', 'h: expected a group of another source'],
  ['g,g-emea,more', 'line 1: expected two columns: group,target'],
  ['group,target\ng,g-emea\ng,g-sales', 'line 3: expected each group once, got g again'],
])('directory takeover --map refuses a file with %j', async (text, message) => {
  const { named, connection } = await worldOf(sixInSync);
  const file = temporaryFile('groups.csv', text);
  const { code, stderr } = await named('directory', 'takeover', '--map', file, '--yes');
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect((await connection())?.observing).toBe(false);
});

it('directory takeover --map moves a group to a group of the directory that has another name', async () => {
  const { named } = await worldOf(sixInSync);
  const file = temporaryFile('groups.csv', 'group,target\ng,g-emea');
  const { json } = await named('directory', 'takeover', '--map', file, '--dry-run');
  expect(json.groups).toMatchObject([{ group: 'g', target: 'g-emea', by: 'file' }]);
});

it.each([
  [[], 'default reads no directory: expected --directory KIND'],
  [['--to', 'scim', '--same-ids'], '--same-ids: expected --to events, got --to scim'],
  [['--to', 'events', '--directory', 'google'], '--directory: expected --to directory, got --to events'],
])('directory takeover refuses the options %j', async (options, message) => {
  const { run } = await worldOf(sixInSync);
  const { code, stderr } = await run('directory', 'takeover', ...options);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it('directory disconnect ends the reading and deletes the credential', async () => {
  const { connect, run, setting, stored } = await worldOf();
  await connect();
  const { code, json } = await run('directory', 'disconnect', '--yes', '--json');
  expect(json).toEqual({
    connection: 'default',
    kind: 'google',
  });
  expect([code, await setting(), stored.at(-1)]).toEqual([0, null, 'removed']);
  expect((await run('directory', 'disconnect', '--json')).json).toEqual({
    connection: 'default',
    kind: null,
  });
});

it('while the reader owns a group, directory disconnect and the setting directory=null are refused', async () => {
  const { connect, run, setting, stored, world } = await worldOf();
  await connect();
  const upserted = makeStamp({ time: '2026-11-20T10:00:00Z', id: 'e', source: READER_SOURCE });
  await world.ports.desired.markDirty(world.refOf('g-emea'), dirtyNow(world.ports), {
    ...NO_GROUP,
    upserted,
  });
  const { code, stderr } = await run('directory', 'disconnect', '--yes');
  expect([code, stderr]).toEqual([2, expect.stringContaining('the reader owns 1 group (g-emea)')]);
  expect(stderr).toContain('groupsync directory takeover --to scim');
  const set = await run('connections', 'set', 'default', 'directory=null', '--yes');
  expect([set.code, set.stderr]).toEqual([2, expect.stringContaining('the reader owns 1 group')]);
  expect([await setting(), stored.at(-1)]).toEqual([expect.anything(), expect.anything()]);
  await world.ports.groups.release(world.refOf('g-emea'), dirtyNow(world.ports));
  expect((await run('directory', 'disconnect', '--yes')).code).toBe(0);
});

it('directory groups --compare prints the changes of a first run in the form of its schema', async () => {
  const { named, world } = await worldOf(() => savedWorld());
  world.platform.addForeign({ name: 'Sales', spokeId: 'g-sales', users: ['u-x'] });
  const { code, json } = await named('directory', 'groups', '--compare');
  const { groups, totals } = json as DirectoryComparison;
  expect(code).toBe(0);
  expect(totals).toMatchObject({ adopt: 1, create: 2, unreadable: 1, removed: 1 });
  expect(groups.find((one) => one.group === 'g-all')?.problem).toContain('every user');
});

const WITHOUT_KEY = [
  ...['--directory', 'google', '--administrator', ADMIN],
  ...['--provider', PROVIDER, '--service-account', SERVICE_ACCOUNT.email],
];

it('directory groups --compare shows the same groups with and without a key', async () => {
  const saved = () => savedWorld({ nested: 'flatten' });
  const { named, run, google, asked, world } = await worldOf(saved);
  world.platform.addForeign({ name: 'Sales', spokeId: 'g-sales', users: ['u-x'] });
  const url = ['--directory-url', google.url, '--json'];
  const withKey = await named('directory', 'groups', '--compare');
  const without = await run('directory', 'groups', '--compare', ...WITHOUT_KEY, ...url);
  expect(without.json).toEqual(withKey.json);
  expect(without.code).toBe(0);
  // One request asks for the members of several groups.
  const questions = asked.filter((question) => 'membersOf' in question);
  expect(questions.length).toBeLessThan(without.json.groups.length);
});

it('without options, directory groups --compare lets the deployed function read the directory of the connection', async () => {
  const federation = { provider: PROVIDER, serviceAccount: SERVICE_ACCOUNT.email };
  const base = { kind: 'google', administrator: ADMIN, federation };
  const { run, google, world } = await worldOf();
  const setting = JSON.stringify({ ...base, baseUrl: google.url });
  expect((await run('connections', 'set', world.connection.name, `directory=${setting}`, '--yes')).code).toBe(
    0,
  );
  const { code, json } = await run('directory', 'groups', '--compare', '--json');
  expect([code, json.totals.create]).toEqual([0, 3]);
});

it('directory takeover changes nothing if the sign-in is refused, and names the failed call', async () => {
  const { run, google } = await worldOf();
  await google.control('federation', { allowedSubjects: [] });
  const url = ['--directory-url', google.url];
  const { code, stderr } = await run('directory', 'takeover', ...WITHOUT_KEY, ...url);
  expect(code).toBe(1);
  expect(stderr).toContain('nothing was changed: signJwt: the directory answered 403 (PERMISSION_DENIED)');
  expect(stderr).toContain('groupsync doctor');
});
