import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signJwt } from '../../../directory-simulator/engine/jwt.ts';
import { ROLE_ARN } from '../../../directory-simulator/engine/web-identity.ts';
import { PROVIDER } from '../../../directory-simulator/google/federation.ts';
import { CLOUD_PLATFORM, READ_ALL } from '../../../directory-simulator/google/scopes.ts';
import { SERVICE_ACCOUNT } from '../../../directory-simulator/google/sign-in.ts';
import { JWT_BEARER } from '../assertion.ts';
import { ADMIN, type Google, NOW_MS, startGoogle } from '../fixture.ts';

const NOW_SECONDS = NOW_MS / 1_000;
const EXCHANGE = {
  grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
  audience: PROVIDER,
  scope: CLOUD_PLATFORM,
  requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
  subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
};

const webIdentity = async (google: Google, body = {}) =>
  (await google.control('web-identity', body)).json.token as string;
const exchange = (google: Google, subjectToken: string, changed = {}) =>
  google.send('POST /v1/token', { body: { ...EXCHANGE, subjectToken, ...changed } });
const sign = (google: Google, token: string, claims: unknown, account: string = SERVICE_ACCOUNT.email) =>
  google.send(`POST /v1/projects/-/serviceAccounts/${account}:signJwt`, {
    token,
    body: { payload: JSON.stringify(claims) },
  });
const assertion = {
  iss: SERVICE_ACCOUNT.email,
  sub: ADMIN,
  aud: 'https://oauth2.googleapis.com/token',
  scope: READ_ALL.join(' '),
  iat: NOW_SECONDS,
  exp: NOW_SECONDS + 3_600,
};

describe('sign-in without a stored secret', () => {
  it.each(['RS256', 'ES384'])(
    'a web identity token (%s) can be exchanged for a token that reads the directory',
    async (algorithm) => {
      const google = startGoogle();
      const exchanged = await exchange(google, await webIdentity(google, { algorithm }));
      expect(exchanged.json).toEqual({
        access_token: expect.any(String),
        issued_token_type: EXCHANGE.requestedTokenType,
        token_type: 'Bearer',
        expires_in: 3_600,
      });
      const signed = await sign(google, exchanged.json.access_token, assertion);
      expect(signed.json).toEqual({ keyId: expect.any(String), signedJwt: expect.any(String) });
      const token = await google.send('POST /token', {
        body: { grant_type: JWT_BEARER, assertion: signed.json.signedJwt },
      });
      const read = await google.send('GET /admin/directory/v1/groups/g-sales', {
        token: token.json.access_token,
      });
      expect(read.status).toBe(200);
    },
  );

  it('a token exchange can be a form with the names of RFC 8693', async () => {
    const google = startGoogle();
    const form = new URLSearchParams({
      grant_type: EXCHANGE.grantType,
      audience: PROVIDER,
      scope: CLOUD_PLATFORM,
      requested_token_type: EXCHANGE.requestedTokenType,
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      subject_token: await webIdentity(google),
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' };
    expect((await google.send('POST /v1/token', { body: form.toString(), headers })).status).toBe(200);
  });

  it('the token exchange refuses tokens for another audience and expired tokens', async () => {
    const google = startGoogle();
    const other = await exchange(google, await webIdentity(google, { audience: 'sts.example' }));
    expect([other.status, other.json.error]).toEqual([400, 'invalid_grant']);
    const token = await webIdentity(google, { durationSeconds: 60 });
    google.clock.ms += 60_000;
    expect((await exchange(google, token)).json.error).toBe('invalid_grant');
  });

  it('the token exchange refuses a request that is incomplete, names another provider, or has an Authorization header', async () => {
    const google = startGoogle();
    const token = await webIdentity(google);
    const body = { ...EXCHANGE, subjectToken: token };
    const refused = [
      await exchange(google, token, { scope: undefined }),
      await exchange(google, token, { audience: '//iam.googleapis.com/other' }),
      await google.send('POST /v1/token', { body, token: 'any' }),
    ];
    expect(refused.map(({ status, json }) => [status, json.error])).toEqual([
      [400, 'invalid_request'],
      [400, 'invalid_target'],
      [400, 'invalid_request'],
    ]);
  });

  it('only a role with the right to sign can sign for the service account', async () => {
    const google = startGoogle();
    const federated = async (body = {}) =>
      (await exchange(google, await webIdentity(google, body))).json.access_token;
    const other = await sign(google, await federated({ subject: `${ROLE_ARN}-other` }), assertion);
    expect([other.status, other.json.error.status]).toEqual([403, 'PERMISSION_DENIED']);
    const unknown = await sign(google, await federated(), assertion, 'other@example.com');
    expect(unknown.status).toBe(403);
    expect((await sign(google, (await google.signIn()).json.access_token, assertion)).status).toBe(403);
  });

  it('signJwt refuses a token that is valid for more than twelve hours, and a payload that is not a JSON object', async () => {
    const google = startGoogle();
    const token = (await exchange(google, await webIdentity(google))).json.access_token;
    const tooLong = { ...assertion, exp: NOW_SECONDS + 12 * 3_600 + 1 };
    expect((await sign(google, token, tooLong)).json.error.status).toBe('INVALID_ARGUMENT');
    expect((await sign(google, token, ['text'])).json.error.status).toBe('INVALID_ARGUMENT');
  });

  it('a federated token cannot read the directory', async () => {
    const google = startGoogle();
    const token = (await exchange(google, await webIdentity(google), { scope: READ_ALL.join(' ') })).json;
    const path = 'GET /admin/directory/v1/groups/g-sales';
    expect((await google.send(path, { token: token.access_token })).status).toBe(403);
  });

  it('a control adds keys of an issuer outside the simulator, whose tokens are then accepted', async () => {
    const google = startGoogle();
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const issuer = 'https://sts.test';
    await google.control('federation', {
      issuer,
      keys: [publicKey.export({ format: 'jwk' })],
      allowedSubjects: ['role'],
    });
    const claims = { iss: issuer, sub: 'role', aud: PROVIDER, iat: NOW_SECONDS, exp: NOW_SECONDS + 60 };
    const subjectToken = signJwt({ id: 'k', algorithm: 'ES384', privateKey }, claims);
    const token = (await exchange(google, subjectToken)).json.access_token;
    expect((await sign(google, token, assertion)).status).toBe(200);
  });
});
