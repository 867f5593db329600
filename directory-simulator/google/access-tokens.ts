import type { Simulation } from '../engine/simulation.ts';

/** The identity of an access token: a user, the service account itself, or an identity of another cloud. */
interface AccessToken {
  readonly kind: 'user' | 'serviceAccount' | 'federated';
  /** The user's address, the service account's address, or the `sub` of the other cloud's token. */
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number;
}

export interface AccessTokens {
  issue(token: Omit<AccessToken, 'expiresAtMs'>): string;
  /** Returns the token with this text; undefined if it is unknown or has expired. */
  find(text: string): AccessToken | undefined;
  expireAll(): void;
}

export function createAccessTokens(simulation: Simulation): AccessTokens {
  const tokens = new Map<string, AccessToken>();
  let issued = 0;
  return {
    issue(token) {
      issued += 1;
      const text = `ya29.c.${simulation.random(`access-token/${issued}`).hex(40)}${issued}`;
      const lifetimeMs = simulation.settings().accessTokenLifetimeSeconds * 1_000;
      tokens.set(text, { ...token, expiresAtMs: simulation.clock() + lifetimeMs });
      return text;
    },
    find(text) {
      const token = tokens.get(text);
      return token !== undefined && token.expiresAtMs > simulation.clock() ? token : undefined;
    },
    expireAll: () => tokens.clear(),
  };
}
