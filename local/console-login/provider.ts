import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import type { Context } from 'oidc-provider';
import { randomHex } from '../../shared/runtime/clock.ts';
import { listenOnLoopback } from './listen.ts';

/** An account of the local provider. Every password is accepted, because only this machine can reach the provider. */
export interface Account {
  readonly groups: readonly string[];
}

export const CLIENT_ID = 'groupsync-console';
const SCOPES = ['openid', 'email', 'profile', 'groups'];

/** Starts an OIDC provider (npm `oidc-provider`) on this machine, with a page that asks for the account. */
export async function startLoginProvider(options: {
  readonly redirectUri: string;
  readonly clientSecret: string;
  /** The accounts by name. A change of the map takes effect at the next sign-in. */
  readonly accounts: ReadonlyMap<string, Account>;
}) {
  const { default: Provider } = await import('oidc-provider');
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const server = createServer();
  const issuer = await listenOnLoopback(server, 0);
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: options.clientSecret,
        redirect_uris: [options.redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomHex(32)] },
    scopes: SCOPES,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    // The value false puts the claims into the id token, as most providers do.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: async (_: unknown, name: string) => {
      const account = options.accounts.get(name);
      const claims = async () => ({
        sub: name,
        email: `${name}@acme.example`,
        email_verified: true,
        name,
        groups: account?.groups,
      });
      return account && { accountId: name, claims };
    },
    // Without this function, the provider would ask each person for consent to the sign-in.
    async loadExistingGrant({ oidc: { client, session } }: Context) {
      const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
      grant.addOIDCScope(SCOPES.join(' '));
      await grant.save();
      return grant;
    },
  });
  server.on('request', provider.callback());
  return { issuer, stop: () => void server.close().closeAllConnections() };
}
