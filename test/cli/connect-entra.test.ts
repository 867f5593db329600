import { expect, it, vi } from 'vitest';
import { CLIENT_ID } from '../../directory-simulator/entra/application.ts';
import { SECRET, TENANT } from '../directory-simulator/entra/fixture.ts';
import { sixInSync } from '../support/operate/world.ts';
import { entraWorldOf } from './directory-fixture.ts';

it('with --secret-stdin, connect shows the number of groups, and stores the client secret and the setting "directory"', async () => {
  const { connect, stored, setting, entra } = await entraWorldOf();
  const { code, json, stderr } = await connect(`${SECRET}\n`, '--secret-stdin');
  expect(stderr).toContain('6 groups in the directory, 6 selected');
  expect(json).toMatchObject({ stored: true, kind: 'entra', listed: 6 });
  expect(code).toBe(0);
  expect(stored).toEqual([{ clientSecret: SECRET }]);
  expect(await setting()).toEqual({
    kind: 'entra',
    tenant: TENANT,
    clientId: CLIENT_ID,
    cloud: 'public',
    baseUrl: entra.url,
  });
});

it('with --federated, the deployed function tests the access to the directory, and connect deletes an earlier secret', async () => {
  const { connect, stored, setting } = await entraWorldOf();
  const { code, json } = await connect('', '--federated');
  expect([code, json.stored, json.listed]).toEqual([0, true, 6]);
  expect(stored).toEqual(['removed']);
  expect(await setting()).toMatchObject({ federation: { audience: 'api://AzureADTokenExchange' } });
});

it('with --cloud, connect reads a tenant of this cloud, and recommends the audience of this cloud', async () => {
  const { connect, setting, entra } = await entraWorldOf();
  const federation = { audience: 'api://AzureADTokenExchangeUSGov' };
  await entra.control('federation', federation);
  await entra.control('cloud', { cloud: 'gccHigh' });
  expect((await connect('', '--federated')).stderr).toMatch(
    /nothing was stored: .*AADSTS500011.* the cloud of the tenant: --cloud public, gccHigh/,
  );
  const { code, json } = await connect('', '--federated', '--cloud', 'gccHigh');
  expect([code, json.listed]).toEqual([0, 6]);
  expect(await setting()).toMatchObject({ cloud: 'gccHigh', federation });
});

it('connect stores nothing if a permission is missing, and names the permission', async () => {
  const { connect, stored, entra } = await entraWorldOf();
  await entra.control('rights', { roles: ['GroupMember.Read.All'] });
  const { code, stderr } = await connect('', '--federated');
  expect(code).toBe(1);
  expect(stderr).toContain('User.Read.All');
  expect(stored).toEqual([]);
});

it('connect exits with 2 without tenant and client id, or without exactly one credential', async () => {
  const { run, connect } = await entraWorldOf();
  const without = await run('connect', 'default', '--directory', 'entra', '--tenant', TENANT, '--federated');
  const both = await connect(SECRET, '--federated', '--secret-stdin');
  for (const { code, stderr } of [without, both]) {
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected --tenant ID and --client-id ID')]);
  }
  const piped = await connect('');
  expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining('--secret-stdin')]);
});

type Saved = Parameters<typeof entraWorldOf>[0];

/** Creates a world whose connection reads the directory with a client secret, and with these settings. */
async function readingWorld(saved?: Saved, changed: object = {}) {
  const world = await entraWorldOf(saved);
  const directory = { kind: 'entra', tenant: TENANT, clientId: CLIENT_ID, baseUrl: world.entra.url };
  const value = JSON.stringify({ ...directory, ...changed });
  const { code } = await world.run('connections', 'set', 'default', `directory=${value}`, '--yes');
  expect(code).toBe(0);
  return world;
}

it('connect replaces the secret even if another source owns groups, and keeps the setting "directory"', async () => {
  const { connect, stored, setting } = await readingWorld(sixInSync, { corrects: true });
  const before = await setting();
  const { code, json } = await connect(SECRET, '--secret-stdin');
  expect([code, json]).toMatchObject([0, { stored: true, others: ['g'] }]);
  expect(stored).toEqual([{ clientSecret: SECRET }]);
  expect(await setting()).toEqual(before);
});

it.each([{ tenant: 'other' }, { cloud: 'dod' }])(
  'a reader of %j is not connected to another tenant or cloud while another source owns groups',
  async (other) => {
    const { connect, stored, setting } = await readingWorld(sixInSync, { ...other, corrects: true });
    const { code, json } = await connect(SECRET, '--secret-stdin', '--cloud', 'public');
    expect([code, json]).toMatchObject([1, { stored: false, others: ['g'] }]);
    expect([stored, await setting()]).toMatchObject([[], other]);
  },
);

it('connect keeps the stored baseUrl, cloud and audience if the command line does not name these values', async () => {
  const audience = 'api://own';
  const { run, entra, setting } = await readingWorld(undefined, { cloud: 'dod', federation: { audience } });
  await entra.control('federation', { audience });
  await entra.control('cloud', { cloud: 'dod' });
  const before = await setting();
  const application = ['--tenant', TENANT, '--client-id', CLIENT_ID];
  const { code } = await run(
    ...['connect', 'default', '--directory', 'entra', ...application],
    ...['--federated', '--yes', '--json'],
  );
  expect(code).toBe(0);
  expect(await setting()).toEqual(before);
});

it('connect keeps the earlier secret if the setting cannot be stored', async () => {
  const { connect, world, stored, setting } = await readingWorld();
  const failing = vi.spyOn(world.ports.connections, 'replace');
  failing.mockRejectedValue(new Error('the table cannot be written'));
  expect((await connect('', '--federated')).code).not.toBe(0);
  expect(stored).toEqual([]);
  expect(await setting()).not.toHaveProperty('federation');
});

it('if the platform does not answer, connect --directory lets a new reader only observe', async () => {
  const { connect, world } = await entraWorldOf();
  world.platform.listing = () => 503;
  const { code, json } = await connect(SECRET, '--secret-stdin');
  expect([code, json]).toMatchObject([0, { stored: true, adoptable: null, observing: true }]);
});

it('doctor names the cloud and its scope, and reports a tenant that is not in this cloud', async () => {
  const world = await entraWorldOf();
  await world.connect(SECRET, '--secret-stdin');
  const exchangeOf = async () => (await world.checks()).find(({ name }) => name.endsWith('exchange'));
  const at = `works at ${world.entra.url}, public cloud, for https://graph.microsoft.com/.default`;
  expect(await exchangeOf()).toMatchObject({ ok: true, detail: at });
  await world.entra.control('cloud', { cloud: 'china' });
  expect(await exchangeOf()).toMatchObject({
    ok: false,
    detail: expect.stringContaining('AADSTS500011'),
    fix: expect.stringContaining(
      `no tenant ${TENANT} in the cloud public (public cloud: ${world.entra.url})`,
    ),
  });
});

it('doctor names a missing permission, and the role that the federated credential must trust', async () => {
  const world = await entraWorldOf();
  await world.connect('', '--federated');
  await world.entra.control('rights', { roles: ['User.Read.All'] });
  const [groups] = (await world.checks()).filter(({ ok }) => !ok);
  expect(groups).toMatchObject({
    name: 'default: directory groups',
    fix: expect.stringContaining('permission GroupMember.Read.All'),
  });
  await world.entra.control('rights', { roles: ['GroupMember.Read.All', 'User.Read.All'] });
  const [members] = (await world.checks()).filter(({ ok }) => !ok);
  expect(members).toMatchObject({
    name: 'default: directory members',
    detail: expect.stringContaining('hidden: g-hidden:'),
    fix: expect.stringContaining('permission Member.Read.Hidden'),
  });
  await world.entra.control('federation', { subject: 'arn:aws:iam::111122223333:role/other' });
  const [exchange] = (await world.checks()).filter(({ ok }) => !ok);
  expect(exchange?.fix).toMatch(/^docs\/read-entra\.md, step 1: .* DirectoryRoleArn/);
});
