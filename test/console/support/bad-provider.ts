import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export const CLIENT = 'console';

/** The wrong values that the provider puts into the next id token. */
export interface Fault {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the provider does not publish. */
  readonly isForged?: boolean;
  readonly ageSeconds?: number;
  /** How the token endpoint fails: it answers with status 503, closes the connection, or sends no answer. */
  readonly outage?: 'status' | 'closed' | 'silent';
}

/**
 * An OIDC provider that answers each code with an id token. A test can request a wrong token. The code contains the
 * nonce, because the provider stores nothing.
 */
export async function startBadProvider() {
  const [published, other] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const jwk = { ...(await exportJWK(published.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const requests: URLSearchParams[] = [];
  let fault: Fault = {};
  let issuer = '';
  const used = new Set<string>();
  const tokenFor = async (code: string) => {
    const { claims, isForged, ageSeconds = 0 } = fault;
    const at = Math.floor(Date.now() / 1_000) - ageSeconds;
    const payload = {
      iss: issuer,
      sub: 's-1',
      aud: CLIENT,
      nonce: code,
      email: 'ann@acme.test',
      iat: at,
      exp: at + 300,
    };
    return new SignJWT({ ...payload, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .sign(isForged ? other.privateKey : published.privateKey);
  };
  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/.well-known/openid-configuration') {
      return send(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['ES256'],
      });
    }
    if (request.url === '/jwks') return send(200, { keys: [jwk] });
    let body = '';
    for await (const chunk of request) body += chunk;
    const given = new URLSearchParams(body);
    requests.push(given);
    if (fault.outage === 'status') return send(503, {});
    if (fault.outage === 'closed') return request.socket.destroy();
    if (fault.outage === 'silent') return;
    const code = given.get('code') ?? '';
    if (used.has(code)) return send(400, { error: 'invalid_grant' });
    used.add(code);
    return send(200, { access_token: 'a', token_type: 'Bearer', id_token: await tokenFor(code) });
  });
  // A client must not send a request on a connection that the server is closing.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    requests,
    setFault: (next: Fault) => {
      fault = next;
    },
    stop: () => server.close().closeAllConnections(),
  };
}
