import { generateKeyPairSync } from 'node:crypto';
import { exportJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { PROVIDER } from '../../directory-simulator/google/federation.ts';
import { CLOUD_PLATFORM } from '../../directory-simulator/google/scopes.ts';
import { startEntra, TENANT } from './entra/fixture.ts';
import { type Google, NOW_MS, startGoogle } from './fixture.ts';
import { assertionOf, type Okta, ORG, proofOf, signIn, startOkta, TOKEN_URL } from './okta/fixture.ts';

// The tests of the readers show that a correct sign-in succeeds. Here, the simulators refuse each incorrect one.
const NOW_SECONDS = NOW_MS / 1_000;

describe('sign-in to the simulated Google directory', () => {
  it.each([
    ['no scope', { scope: '' }, 400, 'invalid_scope'],
    ['a scope that does not exist', { scope: 'everything' }, 400, 'invalid_scope'],
    ['a wrong audience', { aud: 'https://example.com/token' }, 400, 'invalid_grant'],
    ['an unknown account', { iss: 'other@example.com' }, 400, 'invalid_grant'],
    ['a lifetime of more than an hour', { exp: NOW_SECONDS + 3_601 }, 400, 'invalid_grant'],
    ['an expired assertion', { iat: NOW_SECONDS - 3_600, exp: NOW_SECONDS }, 400, 'invalid_grant'],
    ['an issue time in the future', { iat: NOW_SECONDS + 301, exp: NOW_SECONDS + 600 }, 400, 'invalid_grant'],
  ])('the sign-in refuses %s', async (_, claims, status, error) => {
    const answer = await startGoogle().signIn(claims);
    expect([answer.status, answer.json]).toEqual([status, { error, error_description: expect.any(String) }]);
  });

  const exchange = async (google: Google, identity: object, changed: object = {}) =>
    google.send('POST /v1/token', {
      body: {
        grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
        audience: PROVIDER,
        scope: CLOUD_PLATFORM,
        requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
        subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
        subjectToken: (await google.control('web-identity', identity)).json.token,
        ...changed,
      },
    });

  it.each([
    ['a web identity for another audience', { audience: 'sts.example' }, {}, 'invalid_grant'],
    ['an incomplete request', {}, { subjectTokenType: undefined }, 'invalid_request'],
  ])('the token exchange refuses %s', async (_, identity, changed, error) => {
    const { status, json } = await exchange(startGoogle(), identity, changed);
    expect([status, json.error]).toEqual([400, error]);
  });

  it('a federated token cannot read the directory', async () => {
    const google = startGoogle();
    const token = (await exchange(google, {})).json.access_token;
    expect((await google.send('GET /admin/directory/v1/groups/g-sales', { token })).status).toBe(403);
  });
});

describe('sign-in to the simulated Entra ID', () => {
  it.each([
    [{ client_secret: undefined }, TENANT, 401, 'invalid_client', 7_000_218],
    [{ scope: 'User.Read.All' }, TENANT, 400, 'invalid_scope', 1_002_012],
    [{ scope: undefined }, TENANT, 400, 'invalid_request', 900_144],
    [{ grant_type: 'password' }, TENANT, 400, 'unsupported_grant_type', 70_003],
  ])(
    'the request %j to the tenant %s is refused with %i %s AADSTS%i',
    async (changed, tenant, ...refusal) => {
      const { status, json } = await startEntra().signIn(changed, tenant);
      expect([status, json.error, ...json.error_codes]).toEqual(refusal);
      expect(json.error_description).toMatch(new RegExp(`^AADSTS${refusal[2]}: .+ Trace ID: .+`));
    },
  );

  it.each([[{ algorithm: 'ES384' }, 700_027]])(
    'a web identity token with %j is refused with AADSTS%i',
    async (identity, code) => {
      const entra = startEntra();
      const { status, json } = await entra.signIn({
        client_secret: undefined,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: (await entra.control('web-identity', identity)).json.token,
      });
      expect([status, json.error, json.error_codes]).toEqual([401, 'invalid_client', [code]]);
    },
  );
});

describe('sign-in to the simulated Okta org', () => {
  it.each([
    ['a wrong audience', { aud: `${ORG}/oauth2/default/v1/token` }, {}, 'The audience claim'],
    ['an expired assertion', { exp: 1 }, {}, 'The client_assertion token is expired.'],
    ['an assertion without expiry', { exp: undefined }, {}, 'expiration claim'],
    ['an assertion that is valid too long', { exp: 4e9 }, {}, 'too far into the future'],
    ['no key id', {}, { kid: undefined }, 'The client_assertion JWT kid is invalid.'],
    ['the id of another client', { iss: '0oaother', sub: '0oaother' }, {}, "Invalid value for 'client_id'"],
    ['an issuer that is not the subject', { iss: 'x' }, {}, 'must be the client_id'],
  ])('the sign-in refuses %s with invalid_client', async (_, claims, header, description) => {
    const client = startOkta();
    const { status, json } = await signIn(client, { assertion: await assertionOf(client, claims, header) });
    expect([status, json.error]).toEqual([401, 'invalid_client']);
    expect(json.error_description).toContain(description);
  });

  it('the sign-in accepts a correct assertion once, and no forged signature', async () => {
    const client = startOkta();
    const assertion = await assertionOf(client);
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await client.control('keys', { keys: [{ ...(await exportJWK(publicKey)), kid: 'kms' }] });
    const signed = await assertionOf(client, {}, { alg: 'ES256', kid: 'kms' }, privateKey);
    const forged = await signIn(client, { assertion: `${signed.slice(0, -9)}AAAAAAAAA` });
    expect(forged.json.error_description).toBe('The client_assertion signature is invalid.');
    await client.control('reset');
    const statuses = [await signIn(client, { assertion }), await signIn(client, { assertion })];
    expect(statuses.map(({ status }) => status)).toEqual([200, 401]);
  });

  it.each([
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ client_assertion_type: 'secret' }, 401, 'invalid_client'],
    [{ scope: '' }, 400, 'invalid_scope'],
    [{ scope: 'openid' }, 400, 'invalid_scope'],
  ])('the token endpoint answers the form %j with %d %s', async (form, status, error) => {
    const answer = await signIn(startOkta(), { form });
    expect([answer.status, answer.json.error]).toEqual([status, error]);
  });
});

describe('proofs of the simulated Okta org (DPoP)', () => {
  const GROUPS = '/api/v1/groups';

  async function boundToken(client: Okta) {
    const first = await signIn(client, { proof: await proofOf(client, ['POST', TOKEN_URL]) });
    const nonce = String(first.headers['dpop-nonce']);
    const proof = await proofOf(client, ['POST', TOKEN_URL], { nonce });
    return (await signIn(client, { proof })).json.access_token as string;
  }
  const call = async (client: Okta, token: string, proof: string) =>
    client.send(`GET ${GROUPS}`, { headers: { authorization: `DPoP ${token}`, dpop: proof } });

  it.each([
    ['another method', { htm: 'POST' }, 'htm'],
    ['another address', { htu: `${ORG}/api/v1/users` }, 'htu'],
    ['an address that contains a query', { htu: `${ORG}${GROUPS}?limit=1` }, 'htu'],
    ['an old time', { iat: 1 }, 'iat'],
    ['the digest of another token', { ath: 'x' }, 'ath'],
    ['no identifier (jti)', { jti: undefined }, 'jti'],
  ])('the API refuses a proof with %s', async (_, claims, named) => {
    const client = startOkta({ settings: { dpop: 'token' } });
    const token = await boundToken(client);
    const proof = await proofOf(client, ['GET', `${ORG}${GROUPS}`, token], claims);
    const { status, text, headers } = await call(client, token, proof);
    expect([status, text]).toEqual([400, '']);
    expect(headers['www-authenticate']).toContain(`'${named}' claim`);
  });

  it('the API refuses a bound token without a proof, a proof of another key, and a used proof', async () => {
    const client = startOkta({ settings: { dpop: 'token' } });
    const token = await boundToken(client);
    const target = ['GET', `${ORG}${GROUPS}`, token] as const;
    const plain = await client.send(`GET ${GROUPS}`, { headers: { authorization: `Bearer ${token}` } });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const other = await call(client, token, await proofOf(client, target, {}, privateKey));
    const proof = await proofOf(client, target);
    const answers = [plain, other, await call(client, token, proof), await call(client, token, proof)];
    expect(answers.map(({ status }) => status)).toEqual([401, 400, 200, 400]);
  });
});
