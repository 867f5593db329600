import { signJwt } from '../engine/jwt.ts';
import type { Simulation } from '../engine/simulation.ts';
import type { Client } from './client.ts';

export interface AccessToken {
  readonly scopes: readonly string[];
  readonly expiresAtMs: number;
  /** The thumbprint of the key to which the token is bound; undefined for a plain token. */
  readonly boundTo: string | undefined;
}

export interface AccessTokens {
  issue(token: Omit<AccessToken, 'expiresAtMs'>, issuer: string): string;
  find(text: string): AccessToken | undefined;
  expireAll(): void;
}

export function createAccessTokens(simulation: Simulation, client: Client): AccessTokens {
  const tokens = new Map<string, AccessToken>();
  let issued = 0;
  return {
    issue(token, issuer) {
      issued += 1;
      const lifetimeSeconds = simulation.settings().accessTokenLifetimeSeconds;
      const nowMs = simulation.clock();
      const iat = Math.floor(nowMs / 1_000);
      const claims = {
        ver: 1,
        jti: `AT.${simulation.random(`access-token/${issued}`).hex(40)}`,
        iss: issuer,
        aud: issuer,
        sub: client.id,
        cid: client.id,
        iat,
        exp: iat + lifetimeSeconds,
        scp: token.scopes,
        ...(token.boundTo === undefined ? {} : { cnf: { jkt: token.boundTo } }),
      };
      // The simulator compares the whole text of a token and never checks its signature.
      const key = { id: 'simulated', algorithm: 'RS256', privateKey: client.privateKey() } as const;
      const text = signJwt(key, claims, 'application/okta-internal-at+jwt');
      tokens.set(text, { ...token, expiresAtMs: nowMs + lifetimeSeconds * 1_000 });
      return text;
    },
    find(text) {
      const token = tokens.get(text);
      return token !== undefined && token.expiresAtMs > simulation.clock() ? token : undefined;
    },
    expireAll: () => tokens.clear(),
  };
}
