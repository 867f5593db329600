import { expect, it } from 'vitest';
import { type OpenedOkta, openOkta } from './reader.ts';
import { openScripted } from './scripted.ts';

const TOKEN_PATH = '/oauth2/v1/token';

const statusesOf = async ({ requests }: OpenedOkta) =>
  (await requests()).filter(({ path }) => path === TOKEN_PATH).map(({ status }) => status);

it.each(['token', 'everywhere'] as const)(
  'the sign-in repeats its request with a proof and a nonce if Okta asks for them (%s)',
  async (dpop) => {
    const okta = await openOkta({ settings: { dpop } });
    expect(await okta.directory.group('00gsales')).toMatchObject({ name: 'Sales' });
    expect(await statusesOf(okta)).toEqual([400, 400, 200]);
    okta.clock.ms += 3_400_000;
    await okta.directory.group('00gsales');
    expect(await statusesOf(okta)).toEqual([400, 400, 200, 200]);
  },
);

it('calls and the sign-in with a KMS key succeed after Okta no longer accepts the old nonce', async () => {
  const okta = await openOkta({ credential: 'kms', settings: { dpop: 'everywhere' } });
  await okta.directory.group('00gsales');
  await okta.control('dpop-nonces/expire');
  expect(await okta.directory.group('00gsales')).toMatchObject({ name: 'Sales' });
  await okta.control('dpop-nonces/expire');
  await okta.control('access-tokens/expire');
  expect(await okta.directory.group('00gsales')).toMatchObject({ name: 'Sales' });
});

it('a call is repeated if only the body of a 400 asks for a nonce', async () => {
  const user = { id: '00uliz', status: 'ACTIVE', profile: { login: 'liz@example.com' } };
  const { directory, paths } = openScripted(
    [
      { body: { access_token: 'bound', token_type: 'DPoP', expires_in: 3_600 } },
      { status: 400, body: { error: 'use_dpop_nonce' }, headers: { 'dpop-nonce': 'new' } },
      { body: user },
    ],
    'application',
  );
  expect(await directory.user('00uliz')).toMatchObject({ id: '00uliz', isActive: true });
  expect(paths).toEqual([TOKEN_PATH, '/api/v1/users/00uliz', '/api/v1/users/00uliz']);
});

it('the sign-in succeeds after an organisation starts or stops requiring proofs', async () => {
  const okta = await openOkta();
  for (const dpop of ['everywhere', 'off', 'token'] as const) {
    await okta.control('settings', { dpop });
    await okta.control('access-tokens/expire');
    expect(await okta.directory.group('00gsales')).toMatchObject({ name: 'Sales' });
  }
});

it('a reader with an API token makes no sign-in', async () => {
  const okta = await openOkta({ credential: 'api token', settings: { dpop: 'everywhere' } });
  expect(await okta.directory.group('00gsales')).toMatchObject({ name: 'Sales' });
  expect(await statusesOf(okta)).toEqual([]);
});

it('a call with a revoked API token is denied', async () => {
  const okta = await openOkta({ credential: 'api token' });
  await okta.control('api-token');
  const failure = await okta.directory.group('00gsales').catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind: 'denied', reason: 'E0000011' });
  expect(String(failure)).not.toContain(okta.credentials.apiToken);
});

it.each([
  ['a key that is not registered', 'keys', { keys: [] }, 'invalid_client'],
  ['a missing scope', 'scopes', { scopes: ['okta.groups.read', 'okta.users.read'] }, 'missing_scope'],
  ['no granted scope', 'scopes', { scopes: [] }, 'consent_required'],
])('the sign-in is denied with %s', async (_, name, body, reason) => {
  const okta = await openOkta();
  await okta.control(name, body);
  const failure = await okta.directory.group('00gsales').catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind: 'denied', reason });
  expect(String(failure)).not.toContain(okta.credentials.key.d);
  expect(String(failure)).not.toContain('eyJ');
});

it('a call without its scope is denied, even if Okta answers 404 because of a resource set', async () => {
  const okta = await openOkta();
  await okta.control('administrator', { resourceSet: ['00gsales'] });
  await okta.directory.group('00gsales');
  await okta.control('scopes', { scopes: ['okta.users.read'] });
  await expect(okta.directory.group('00gsales')).rejects.toMatchObject({
    kind: 'denied',
    reason: 'E0000007',
  });
});
