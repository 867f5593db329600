import { generateKeyPairSync } from 'node:crypto';
import { exportJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { assertionOf, type Okta, ORG, proofOf, signIn, startOkta, TOKEN_URL } from './fixture.ts';

const GROUPS = '/api/v1/groups';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Signs in with DPoP: first without a nonce, then with the nonce of the answer. */
async function boundToken(client: Okta) {
  const first = await signIn(client, { proof: await proofOf(client, ['POST', TOKEN_URL]) });
  const nonce = String(first.headers['dpop-nonce']);
  const { json } = await signIn(client, { proof: await proofOf(client, ['POST', TOKEN_URL], { nonce }) });
  return { first, nonce, token: json.access_token as string, json };
}

const call = async (client: Okta, token: string, proof: string, path = GROUPS) =>
  client.send(`GET ${path}`, { headers: { authorization: `DPoP ${token}`, dpop: proof } });

describe('sign-in with a private key', () => {
  it('the sign-in gives a plain token with the granted scopes if the app does not require DPoP', async () => {
    const client = startOkta();
    const { status, json } = await signIn(client, { proof: await proofOf(client, ['POST', TOKEN_URL]) });
    expect([status, json]).toEqual([
      200,
      {
        token_type: 'Bearer',
        expires_in: 3_600,
        access_token: expect.stringMatching(/^eyJ/),
        scope: 'okta.groups.read okta.users.read okta.logs.read',
      },
    ]);
    expect((await client.send(`GET ${GROUPS}`, { headers: bearer(json.access_token) })).status).toBe(200);
  });

  it.each([
    [
      'a wrong audience',
      { aud: `${ORG}/oauth2/default/v1/token` },
      {},
      'The audience claim for client_assertion',
    ],
    ['an expired assertion', { exp: 1 }, {}, 'The client_assertion token is expired.'],
    ['an assertion without expiry', { exp: undefined }, {}, 'expiration claim'],
    ['an assertion that is valid too long', { exp: 4e9 }, {}, 'too far into the future'],
    ['an unknown key id', {}, { kid: 'unknown' }, 'The client_assertion JWT kid is invalid.'],
    ['no key id', {}, { kid: undefined }, 'The client_assertion JWT kid is invalid.'],
    [
      'the id of another client',
      { iss: '0oaother', sub: '0oaother' },
      {},
      "Invalid value for 'client_id' parameter.",
    ],
    ['an issuer that is not the subject', { iss: 'x' }, {}, 'must be the client_id'],
  ])('the sign-in refuses %s with invalid_client', async (_, claims, header, description) => {
    const client = startOkta();
    const { status, json } = await signIn(client, { assertion: await assertionOf(client, claims, header) });
    expect([status, json.error]).toEqual([401, 'invalid_client']);
    expect(json.error_description).toContain(description);
  });

  it('a signature of an unknown key is refused, and accepted after the registration of the key', async () => {
    const client = startOkta();
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const header = { alg: 'ES256', kid: 'kms' };
    const attempt = async () =>
      signIn(client, { assertion: await assertionOf(client, {}, header, privateKey) });
    expect((await attempt()).json.error_description).toBe('The client_assertion JWT kid is invalid.');
    await client.control('keys', { keys: [{ ...(await exportJWK(publicKey)), kid: 'kms' }] });
    expect((await attempt()).status).toBe(200);
    const forged = await signIn(client, {
      assertion: `${(await assertionOf(client, {}, header, privateKey)).slice(0, -9)}AAAAAAAAA`,
    });
    expect(forged.json.error_description).toBe('The client_assertion signature is invalid.');
  });

  it('the sign-in accepts each assertion only once', async () => {
    const client = startOkta();
    const assertion = await assertionOf(client);
    expect((await signIn(client, { assertion })).status).toBe(200);
    const { status, json } = await signIn(client, { assertion });
    expect([status, json.error_description]).toEqual([
      401,
      'The client_assertion token has already been used.',
    ]);
  });

  it.each([
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ client_assertion_type: 'secret' }, 401, 'invalid_client'],
    [{ scope: '' }, 400, 'invalid_scope'],
    [{ scope: 'openid' }, 400, 'invalid_scope'],
    [{ scope: 'okta.apps.read' }, 400, 'consent_required'],
  ])('the token endpoint answers the form %j with %d %s', async (form, status, error) => {
    const answer = await signIn(startOkta(), { form });
    expect([answer.status, answer.json.error]).toEqual([status, error]);
  });

  it('the metadata of the authorization server contains the address of the token endpoint', async () => {
    const { json } = await startOkta().send('GET /.well-known/oauth-authorization-server');
    expect(json).toMatchObject({ issuer: ORG, token_endpoint: TOKEN_URL });
  });
});

describe('sign-in with DPoP', () => {
  const settings = { dpop: 'token' } as const;

  it('the sign-in asks for a proof, then for a nonce, and binds the token to the key of the proof', async () => {
    const client = startOkta({ settings });
    const missing = await signIn(client);
    expect([missing.status, missing.json]).toEqual([
      400,
      { error: 'invalid_dpop_proof', error_description: 'The DPoP proof JWT header is missing.' },
    ]);
    const { first, token, json } = await boundToken(client);
    expect([first.status, first.json.error]).toEqual([400, 'use_dpop_nonce']);
    expect(json.token_type).toBe('DPoP');
    const proof = await proofOf(client, ['GET', `${ORG}${GROUPS}`, token]);
    expect((await call(client, token, proof, `${GROUPS}?limit=1`)).status).toBe(200);
    const plain = await client.send(`GET ${GROUPS}`, { headers: bearer(token) });
    expect([plain.status, plain.json.errorCode]).toEqual([401, 'E0000011']);
  });

  it.each([
    ['another method', { htm: 'POST' }, 'htm'],
    ['another address', { htu: `${ORG}/api/v1/users` }, 'htu'],
    ['an address that contains a query', { htu: `${ORG}${GROUPS}?limit=1` }, 'htu'],
    ['an old time', { iat: 1 }, 'iat'],
    ['the digest of another token', { ath: 'x' }, 'ath'],
    ['no identifier (jti)', { jti: undefined }, 'jti'],
  ])('the API refuses a proof with %s', async (_, claims, named) => {
    const client = startOkta({ settings });
    const { token } = await boundToken(client);
    const { status, text, headers } = await call(
      client,
      token,
      await proofOf(client, ['GET', `${ORG}${GROUPS}`, token], claims),
    );
    expect([status, text]).toEqual([400, '']);
    expect(headers['www-authenticate']).toContain('error="invalid_dpop_proof"');
    expect(headers['www-authenticate']).toContain(`'${named}' claim`);
  });

  it('the API refuses a proof of another key and a used proof', async () => {
    const client = startOkta({ settings });
    const { token } = await boundToken(client);
    const target = ['GET', `${ORG}${GROUPS}`, token] as const;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect((await call(client, token, await proofOf(client, target, {}, privateKey))).status).toBe(400);
    const proof = await proofOf(client, target);
    const statuses = [(await call(client, token, proof)).status, (await call(client, token, proof)).status];
    expect(statuses).toEqual([200, 400]);
  });

  it('the API also asks for a nonce if the setting dpop has the value "everywhere"', async () => {
    const client = startOkta({ settings: { dpop: 'everywhere' } });
    const { token } = await boundToken(client);
    const target = ['GET', `${ORG}${GROUPS}`, token] as const;
    const challenge = await call(client, token, await proofOf(client, target));
    expect([400, 401]).toContain(challenge.status);
    expect(challenge.headers['www-authenticate']).toContain('error="use_dpop_nonce"');
    const nonce = challenge.headers['dpop-nonce'];
    expect((await call(client, token, await proofOf(client, target, { nonce }))).status).toBe(200);
    await client.control('dpop-nonces/expire');
    expect([400, 401]).toContain(
      (await call(client, token, await proofOf(client, target, { nonce }))).status,
    );
  });

  it('the server issues a new nonce after a day, and refuses a nonce three days after its issue', async () => {
    const client = startOkta({ settings });
    const { nonce } = await boundToken(client);
    client.clock.ms += 86_400_000;
    const fresh = await signIn(client, { proof: await proofOf(client, ['POST', TOKEN_URL]) });
    expect(fresh.headers['dpop-nonce']).not.toBe(nonce);
    const withOld = async () =>
      (await signIn(client, { proof: await proofOf(client, ['POST', TOKEN_URL], { nonce }) })).status;
    expect(await withOld()).toBe(200);
    client.clock.ms += 2 * 86_400_000;
    expect(await withOld()).toBe(400);
  });
});

describe('access to the API of the simulated Okta org', () => {
  const tokenOf = async (client: Okta) => (await signIn(client)).json.access_token as string;

  it('the API refuses an unknown, an expired and a revoked token with E0000011', async () => {
    const client = startOkta();
    const token = await tokenOf(client);
    const status = async (headers: Record<string, string>) => {
      const answer = await client.send(`GET ${GROUPS}`, { headers });
      return [answer.status, answer.json.errorCode];
    };
    const refused = [401, 'E0000011'];
    expect(await status({})).toEqual(refused);
    expect(await status({ authorization: 'SSWS 00wrong' })).toEqual(refused);
    client.clock.ms += 3_600_000;
    expect(await status(bearer(token))).toEqual(refused);
    const fresh = await tokenOf(client);
    await client.control('access-tokens/expire');
    expect(await status(bearer(fresh))).toEqual(refused);
    const { apiToken } = (await client.control('client')).json;
    const { token: newer } = (await client.control('api-token')).json;
    expect(await status({ authorization: `SSWS ${apiToken}` })).toEqual(refused);
    expect((await client.send(`GET ${GROUPS}`, { headers: { authorization: `SSWS ${newer}` } })).status).toBe(
      200,
    );
  });

  it('a call without the required scope gets 403 insufficient_scope, and a resource set that lacks the group leads to 404', async () => {
    const client = startOkta();
    const token = await tokenOf(client);
    await client.control('scopes', { scopes: ['okta.users.read'] });
    const lost = await client.send(`GET ${GROUPS}`, { headers: bearer(token) });
    expect([lost.status, lost.json.errorCode]).toEqual([403, 'E0000006']);
    expect(lost.headers['www-authenticate']).toMatch(
      /scope="okta\.groups\.read", error="insufficient_scope"/,
    );
    expect((await client.send('GET /api/v1/users', { headers: bearer(token) })).status).toBe(200);
    expect((await signIn(client)).json.scope).toBe('okta.users.read');
    await client.control('administrator', { resourceSet: ['00gsales'] });
    const hidden = await client.send(`GET ${GROUPS}/00gsales`, { headers: bearer(token) });
    expect([hidden.status, hidden.json.errorCode]).toEqual([404, 'E0000007']);
    await client.control('reset');
    expect((await signIn(client)).json.scope).toContain('okta.groups.read');
  });
});
