import { expect, it } from 'vitest';
import { PROVIDER } from '../../directory-simulator/google/federation.ts';
import { READ_ALL } from '../../directory-simulator/google/scopes.ts';
import { SERVICE_ACCOUNT } from '../../directory-simulator/google/sign-in.ts';
import { journalOf } from '../../shared/operate/journal.ts';
import { ADMIN } from '../directory-simulator/fixture.ts';
import { allOf } from '../support/engine/test-engine.ts';
import { employee, savedWorld, sixInSync } from '../support/operate/world.ts';
import { worldOf } from './directory-fixture.ts';

it('connect --directory google shows the number of groups, and stores the key and the setting "directory"', async () => {
  const { connect, stored, setting, google, world } = await worldOf();
  await world.ports.people.save(world.connection.name, employee('ann', 'ann@example.com'), undefined);
  const { code, json, stderr } = await connect();
  expect(json).toMatchObject({
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
    matched: 1,
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
  ['the service account has no scope', { scopes: [] }],
])('connect --directory stores nothing if %s', async (_, delegation) => {
  const { connect, stored, setting, google } = await worldOf();
  await google.control('delegation', delegation);
  const { code, stderr } = await connect();
  expect(code).toBe(1);
  expect(stderr).toContain('nothing was stored: token: the directory answered 401 (unauthorized_client)');
  expect(stderr).toContain('docs/read-google.md, step 2: delegate to the client id');
  expect([stored, await setting()]).toEqual([[], null]);
});

it('connect --directory stores nothing while another source owns groups, and names the command that changes their source', async () => {
  const { connect, stored, setting } = await worldOf(sixInSync);
  const { code, json, stderr } = await connect();
  expect(code).toBe(1);
  expect(json).toMatchObject({ stored: false, others: ['g'] });
  expect(stderr).toContain('next: groupsync directory takeover --directory google');
  expect([stored, await setting()]).toEqual([[], null]);
});

it('connect --directory stores nothing if the members of a group must not be read', async () => {
  const { connect, stored, google } = await worldOf();
  await google.control('faults', [
    { match: { path: '*/groups/g-emea/members' }, times: 30, error: 'insufficientPermissions' },
  ]);
  expect((await connect()).code).toBe(1);
  expect(stored).toEqual([]);
});

it('if platform groups would be adopted, connect --directory lets the connection only observe', async () => {
  const { connect, world, connection } = await worldOf(() => savedWorld());
  world.platform.addForeign({ name: 'Sales', spokeId: 'g-sales', users: ['u-x'] });
  const { json, stderr } = await connect();
  expect(json).toMatchObject({ stored: true, adoptable: 1, observing: true });
  expect(stderr).toContain('next: groupsync directory groups --compare');
  expect((await connection())?.observing).toBe(true);
  const entries = await allOf(world.ports.audit.read(journalOf(world.connection.name)));
  expect(entries.flatMap(({ changes }) => changes)).toContainEqual(
    expect.objectContaining({ kind: 'set_observing', after: 'true' }),
  );
});

it('connect --directory google exits with 2 without exactly one complete credential', async () => {
  const { connect, run } = await worldOf();
  const none = await run('connect', 'default', '--directory', 'google');
  const needs = 'expected --administrator ADDRESS, and --key FILE or --provider NAME with --service-account';
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining(needs)]);
  const both = await connect('--provider', PROVIDER, '--service-account', SERVICE_ACCOUNT.email);
  const half = await run(...WITHOUT_KEY, '--provider', PROVIDER);
  for (const { code, stderr } of [both, half]) {
    expect([code, stderr]).toEqual([2, expect.stringContaining('--provider NAME with --service-account')]);
  }
});

const WITHOUT_KEY = ['connect', 'default', '--directory', 'google', '--administrator', ADMIN];

/** Creates a connection whose function signs in with its AWS role. */
async function keylessWorld(saved?: Parameters<typeof worldOf>[0]) {
  const world = await worldOf(saved);
  const { google, run } = world;
  const federated = [
    ...['--provider', PROVIDER, '--service-account', SERVICE_ACCOUNT.email],
    ...['--directory-url', google.url, '--yes'],
  ];
  return { ...world, connect: () => run(...WITHOUT_KEY, ...federated, '--json') };
}

it('without a key, the deployed function tests the access, and connect stores the setting and deletes an earlier key', async () => {
  const { connect, stored, setting, google } = await keylessWorld();
  const { code, json, stderr } = await connect();
  expect(stderr).toContain('4 groups in the directory, 4 selected');
  expect([code, json.stored, json.listed]).toEqual([0, true, 4]);
  expect(stored).toEqual(['removed']);
  expect(await setting()).toEqual({
    kind: 'google',
    administrator: ADMIN,
    federation: { provider: PROVIDER, serviceAccount: SERVICE_ACCOUNT.email },
    baseUrl: google.url,
  });
});

it('connect --directory without a key stores nothing if a step of the sign-in fails, and names the fix', async () => {
  const { connect, stored, setting, google } = await keylessWorld();
  await google.control('federation', { allowedSubjects: [] });
  const { code, stderr } = await connect();
  expect(code).toBe(1);
  expect(stderr).toContain('nothing was stored: signJwt: the directory answered 403 (PERMISSION_DENIED)');
  expect(stderr).toContain(`token creator of ${SERVICE_ACCOUNT.email}`);
  expect([stored, await setting()]).toEqual([[], null]);
});

it('doctor has a check for each step of reading Google Workspace', async () => {
  const world = await keylessWorld();
  await world.connect();
  expect((await world.checks()).map(({ name, ok }) => [name, ok])).toEqual(
    [
      ...['web identity', 'token exchange', 'signature', 'administrator'],
      ...['groups', 'members', 'users', 'reports'],
    ].map((step) => [`default: directory ${step}`, true]),
  );
});

it('doctor prints the missing scope in a form that can be pasted', async () => {
  const world = await keylessWorld();
  await world.connect();
  await world.google.control('delegation', { scopes: READ_ALL.slice(0, 3) });
  expect((await world.checks()).filter(({ ok }) => !ok)).toEqual([
    {
      name: 'default: directory reports',
      ok: false,
      detail: 'token: the directory answered 401 (unauthorized_client)',
      fix: expect.stringMatching(/^docs\/read-google\.md.*\nhttps:\S+admin\.reports\.audit\.readonly$/),
    },
  ]);
});
