import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  None,
  ResponseBodyError,
} from 'openid-client';
import type { ConsoleSignIn } from '../../shared/contract/console.ts';
import type { Claims } from '../server/roles.ts';

export interface SignInAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The provider or the browser sent an answer that does not belong to the attempt, or the person was refused. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
}

export interface Provider {
  authorizationUrl(attempt: SignInAttempt): Promise<URL>;
  /**
   * Exchanges the code for an id token, and checks the state, signature, issuer, audience, nonce and times.
   * @throws SignInRefused, and another error if the provider is unavailable
   */
  claimsOf(callback: URL, attempt: SignInAttempt): Promise<Claims>;
}

interface ProviderOptions {
  readonly settings: ConsoleSignIn;
  readonly redirectUri: string;
  /** Returns undefined for a client without a secret. */
  readonly clientSecret: () => Promise<string | undefined>;
  readonly clock: () => number;
  readonly timeoutSeconds?: number;
}

/** The endpoints of the provider are read again after this time, because the provider may change them. */
const CONFIGURATION_MS = 3_600_000;

/** The company's OIDC provider: the authorization code flow with PKCE (OpenID Connect Core section 3.1, RFC 7636). */
export function createProvider(options: ProviderOptions): Provider {
  const { settings, redirectUri, clock } = options;
  let known: { readonly configuration: Promise<Configuration>; readonly untilMs: number } | undefined;
  const configuration = async () => {
    if (known === undefined || clock() >= known.untilMs) {
      const reading = { configuration: discover(options), untilMs: clock() + CONFIGURATION_MS };
      reading.configuration.catch(() => {
        if (known === reading) known = undefined;
      });
      known = reading;
    }
    return known.configuration;
  };
  return {
    async authorizationUrl({ state, nonce, verifier }) {
      return buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },

    async claimsOf(callback, { state, nonce, verifier }) {
      const provider = await configuration();
      try {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
        const tokens = await authorizationCodeGrant(provider, callback, checks);
        return tokens.claims() ?? {};
      } catch (error) {
        if (isUnavailable(error)) throw error;
        throw new SignInRefused(`the sign-in was refused: ${codeOf(error)}`, { cause: error });
      }
    },
  };
}

async function discover(options: ProviderOptions): Promise<Configuration> {
  const { settings, clientSecret, timeoutSeconds = 5 } = options;
  const { issuer, clientId } = settings;
  const secret = await clientSecret();
  const isLoopback = issuer.startsWith('http:');
  const execute = [enableNonRepudiationChecks, ...(isLoopback ? [allowInsecureRequests] : [])];
  const client = { execute, timeout: timeoutSeconds };
  return secret === undefined
    ? discovery(new URL(issuer), clientId, undefined, None(), client)
    : discovery(new URL(issuer), clientId, secret, undefined, client);
}

/** Returns true if the provider sent no answer in time, or reported a failure or too many requests. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  if (!(error instanceof ClientError)) return false;
  if (error.code === 'OAUTH_TIMEOUT') return true;
  return error.cause instanceof Response && (error.cause.status >= 500 || error.cause.status === 429);
}

/** Returns only codes, because other parts of an answer may contain personal data. */
function codeOf(error: unknown): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return shown(error.error);
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? shown(code) : 'invalid_response';
}

const shown = (code: string) => (/^\w{1,60}$/.test(code) ? code : 'other');
