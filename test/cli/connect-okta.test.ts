import { expect, it } from 'vitest';
import { oktaWorldOf } from './directory-fixture.ts';

it('with --key, connect shows the number of groups, and stores the key and the setting "directory"', async () => {
  const { connectByKey, stored, setting, okta } = await oktaWorldOf();
  const { code, json, stderr } = await connectByKey();
  expect(stderr).toContain('4 groups in the directory, 4 selected');
  expect(json).toMatchObject({ stored: true, kind: 'okta', listed: 4 });
  expect(code).toBe(0);
  const { clientId, key } = okta.credentials;
  expect(stored).toEqual([key]);
  expect(await setting()).toEqual({ kind: 'okta', orgUrl: okta.url, clientId });
});

it('with --key-arn, the deployed function tests the access, and connect deletes a secret; --secret-stdin stores one', async () => {
  const { connectByKms, connectByToken, stored, setting, okta } = await oktaWorldOf();
  const { code, json } = await connectByKms();
  expect([code, json.stored, json.listed]).toEqual([0, true, 4]);
  expect(stored).toEqual(['removed']);
  expect(await setting()).toMatchObject({ keyArn: okta.credentials.keyArn });
  expect((await connectByToken()).code).toBe(0);
  expect(stored).toEqual(['removed', { apiToken: okta.credentials.apiToken }]);
  expect(await setting()).toEqual({ kind: 'okta', orgUrl: okta.url });
});

it('a wrong API token is not stored, and the output does not show it', async () => {
  const { connectByToken, stored, setting } = await oktaWorldOf();
  const { code, stdout, stderr } = await connectByToken('wrong-one');
  expect(code).toBe(1);
  expect(stderr).toContain('nothing was stored: listGroups: the directory answered 401 (E0000011)');
  expect(stderr).toContain('docs/read-okta.md');
  expect(stdout + stderr).not.toContain('wrong-one');
  expect([stored, await setting()]).toEqual([[], null]);
});

it('connect exits with 2 without the address of the organisation, or without exactly one credential', async () => {
  const { run, connect } = await oktaWorldOf();
  const answers = [
    await run('connect', 'default', '--directory', 'okta', '--client-id', 'id', '--key', 'key.json'),
    await connect('', '--client-id', 'id'),
    await connect('', '--client-id', 'id', '--key', 'key.json', '--key-arn', 'arn'),
    await connect('', '--key', 'key.json'),
  ];
  for (const { code, stderr } of answers) {
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected --directory-url URL')]);
  }
});

it('doctor names a missing scope, the required administrator role, and a public key that Okta does not know', async () => {
  const world = await oktaWorldOf();
  await world.connectByKms();
  const failing = async () => (await world.checks()).filter(({ ok }) => !ok);
  await world.okta.control('scopes', { scopes: ['okta.groups.read', 'okta.users.read'] });
  expect(await failing()).toMatchObject([
    { name: 'default: directory reports', fix: expect.stringContaining('scope okta.logs.read') },
  ]);
  await world.okta.control('scopes', { scopes: ['okta.groups.read', 'okta.users.read', 'okta.logs.read'] });
  await world.okta.control('administrator', { role: 'USER_ADMIN' });
  expect(await failing()).toMatchObject([
    { name: 'default: directory reports', fix: expect.stringContaining('Read-only Administrator') },
  ]);
  await world.okta.control('keys', { keys: [] });
  expect(await failing()).toMatchObject([
    { name: 'default: directory token exchange', fix: expect.stringContaining('public key') },
  ]);
});
