import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { READ_ALL, READ_GROUPS } from '../../../directory-simulator/google/scopes.ts';
import { JWT_BEARER, serviceAccountAssertion } from '../assertion.ts';
import { ADMIN, type Google, NOW_MS, startGoogle } from '../fixture.ts';

const otherKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 1_024 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
const NOW_SECONDS = NOW_MS / 1_000;
const exchange = (google: Google, assertion: string, grantType = JWT_BEARER) =>
  google.send('POST /token', {
    body: new URLSearchParams({ grant_type: grantType, assertion }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

describe('sign-in with the key of a service account', () => {
  it('the sign-in gives an access token that is valid for an hour in the name of an administrator', async () => {
    const { status, json } = await startGoogle().signIn();
    expect([status, json]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^ya29\./),
        expires_in: 3_600,
        scope: READ_ALL.join(' '),
        token_type: 'Bearer',
      },
    ]);
  });

  it('the token endpoint accepts its own address as the audience', async () => {
    expect((await startGoogle().signIn({ aud: 'http://127.0.0.1:40913/token' })).status).toBe(200);
  });

  it.each([
    [
      'a scope that is not delegated',
      { scope: 'https://www.googleapis.com/auth/admin.directory.user' },
      401,
      'unauthorized_client',
    ],
    ['a scope that does not exist', { scope: 'everything' }, 400, 'invalid_scope'],
    ['no scope', { scope: '' }, 400, 'invalid_scope'],
    ['an unknown administrator', { sub: 'absent@example.com' }, 400, 'invalid_grant'],
    ['a suspended administrator', { sub: 'sue@example.com' }, 400, 'invalid_grant'],
    ['a wrong audience', { aud: 'https://example.com/token' }, 400, 'invalid_grant'],
    ['an unknown account', { iss: 'other@example.com' }, 400, 'invalid_grant'],
    ['a lifetime of more than an hour', { exp: NOW_SECONDS + 3_601 }, 400, 'invalid_grant'],
    ['an expired assertion', { iat: NOW_SECONDS - 3_600, exp: NOW_SECONDS }, 400, 'invalid_grant'],
    ['an issue time in the future', { iat: NOW_SECONDS + 301, exp: NOW_SECONDS + 600 }, 400, 'invalid_grant'],
  ])('the sign-in refuses %s', async (_, claims, status, error) => {
    const answer = await startGoogle().signIn(claims);
    expect([answer.status, answer.json]).toEqual([status, { error, error_description: expect.any(String) }]);
  });

  it('a sign-in is refused for a signature of another key, text that is not a token, and an unknown grant type', async () => {
    const google = startGoogle();
    const claims = { sub: ADMIN, scope: READ_GROUPS };
    const answers = [
      await exchange(google, serviceAccountAssertion(NOW_MS, claims, otherKey())),
      await exchange(google, 'a.b.c'),
      await exchange(google, 'text'),
      await exchange(google, serviceAccountAssertion(NOW_MS, claims), 'password'),
    ];
    expect(answers.map(({ status, json }) => [status, json.error])).toEqual([
      [400, 'invalid_grant'],
      [400, 'invalid_grant'],
      [400, 'invalid_grant'],
      [400, 'unsupported_grant_type'],
    ]);
  });

  it('a token loses the scopes that the administrator removes, even if the token was issued before', async () => {
    const google = startGoogle();
    await google.get('groups/g-sales');
    await google.control('delegation', { scopes: [READ_GROUPS] });
    expect((await google.get('groups/g-sales')).status).toBe(401);
    expect((await google.signIn()).json.error).toBe('unauthorized_client');
    expect((await google.signIn({ scope: READ_GROUPS })).status).toBe(200);
  });

  it('a call is refused if the administrator was suspended after the sign-in', async () => {
    const google = startGoogle();
    await google.get('groups/g-sales');
    await google.control('changes', { kind: 'suspendUser', user: ADMIN });
    expect((await google.get('groups/g-sales')).status).toBe(403);
  });
});
