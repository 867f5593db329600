import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signJwt } from '../../../directory-simulator/engine/jwt.ts';
import { ROLE_ARN } from '../../../directory-simulator/engine/web-identity.ts';
import { AUDIENCE } from '../../../directory-simulator/entra/application.ts';
import { type Entra, NOW_MS, startEntra, TENANT } from './fixture.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const webIdentity = async (entra: Entra, body = {}) =>
  (await entra.control('web-identity', body)).json.token as string;
const assert = (entra: Entra, client_assertion: string) =>
  entra.signIn({ client_secret: undefined, client_assertion_type: ASSERTION_TYPE, client_assertion });

describe('token endpoint of Entra ID', () => {
  it('a client secret gives an access token, which expires', async () => {
    const entra = startEntra();
    const { json } = await entra.signIn();
    expect(json).toEqual({
      token_type: 'Bearer',
      expires_in: 3_599,
      ext_expires_in: 3_599,
      access_token: expect.any(String),
    });
    const read = () => entra.send('GET /v1.0/groups', { token: json.access_token });
    expect((await read()).status).toBe(200);
    entra.clock.ms += 3_600_000;
    expect((await read()).json.error.code).toBe('InvalidAuthenticationToken');
  });

  it('the domain of the customer can name the tenant', async () => {
    expect((await startEntra().signIn({}, 'contoso.example')).status).toBe(200);
  });

  it.each([
    [{ client_secret: 'wrong' }, TENANT, 401, 'invalid_client', 7_000_215],
    [{ client_secret: undefined }, TENANT, 401, 'invalid_client', 7_000_218],
    [{ client_id: 'other' }, TENANT, 400, 'unauthorized_client', 700_016],
    [{ scope: 'User.Read.All' }, TENANT, 400, 'invalid_scope', 1_002_012],
    [{ scope: 'https://graph.microsoft.us/.default' }, TENANT, 400, 'invalid_resource', 500_011],
    [{ scope: undefined }, TENANT, 400, 'invalid_request', 900_144],
    [{ grant_type: 'password' }, TENANT, 400, 'unsupported_grant_type', 70_003],
    [{}, 'other.example', 400, 'invalid_request', 90_002],
  ])(
    'the request %j to the tenant %s is refused with %i %s AADSTS%i',
    async (changed, tenant, status, error, code) => {
      const answer = await startEntra().signIn(changed, tenant);
      expect(answer.status).toBe(status);
      expect(answer.json).toEqual({
        error,
        error_description: expect.stringMatching(
          new RegExp(`^AADSTS${code}: .+ Trace ID: .+ Correlation ID: .+`),
        ),
        error_codes: [code],
        timestamp: expect.any(String),
        trace_id: expect.any(String),
        correlation_id: expect.any(String),
        error_uri: expect.any(String),
      });
    },
  );

  it('a control changes the client secret', async () => {
    const entra = startEntra();
    await entra.control('client-secret', { secret: 'rotated' });
    expect((await entra.signIn()).json.error_codes).toEqual([7_000_215]);
    expect((await entra.signIn({ client_secret: 'rotated' })).status).toBe(200);
  });
});

describe('sign-in to Entra ID without a stored secret', () => {
  it('a web identity token of the trusted role gives an access token', async () => {
    const entra = startEntra();
    const { json } = await assert(entra, await webIdentity(entra));
    expect((await entra.send('GET /v1.0/groups', { token: json.access_token })).status).toBe(200);
  });

  it.each([
    [{ subject: `${ROLE_ARN}-other` }, 700_213],
    [{ audience: 'https://graph.microsoft.com' }, 700_212],
    [{ algorithm: 'ES384' }, 700_027],
  ])('a web identity token with %j is refused with AADSTS%i', async (body, code) => {
    const entra = startEntra();
    const { status, json } = await assert(entra, await webIdentity(entra, body));
    expect([status, json.error, json.error_codes]).toEqual([401, 'invalid_client', [code]]);
  });

  it('a web identity token is refused if it has expired or has another issuer', async () => {
    const entra = startEntra();
    const token = await webIdentity(entra);
    await entra.control('federation', { issuer: 'https://sts.test' });
    expect((await assert(entra, token)).json.error_codes).toEqual([700_211]);
    await entra.control('reset');
    entra.clock.ms += 300_000;
    expect((await assert(entra, token)).json.error_codes).toEqual([700_024]);
  });

  it('a control adds keys of an issuer outside the simulator, whose tokens are then accepted', async () => {
    const entra = startEntra();
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const issuer = 'https://sts.test';
    const keys = [publicKey.export({ format: 'jwk' })];
    await entra.control('federation', { issuer, subject: 'role', keys });
    const iat = NOW_MS / 1_000;
    const claims = { iss: issuer, sub: 'role', aud: AUDIENCE, iat, exp: iat + 60 };
    const token = signJwt({ id: 'k', algorithm: 'RS256', privateKey }, claims);
    expect((await assert(entra, token)).status).toBe(200);
  });
});
