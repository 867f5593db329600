import type { Dialect, OpenDialect } from '../engine/dialect.ts';
import { admit, createAccess } from './access.ts';
import { createAccessTokens } from './access-tokens.ts';
import type { Org } from './api.ts';
import { atStart, createClient, privateJwk } from './client.ts';
import { oktaControls } from './controls.ts';
import { createDpop } from './dpop.ts';
import { notFound, OKTA_ERRORS, RANDOM_FAILURES, validationFailed } from './errors.ts';
import { groupEndpoints } from './groups.ts';
import { logEndpoints } from './logs.ts';
import { createRateLimits } from './rate-limits.ts';
import { type SignIn, tokenEndpoints } from './sign-in.ts';
import { userEndpoints } from './users.ts';

interface OktaOptions {
  /** The private key of the client as PEM. The simulator creates a missing key. */
  readonly clientKey?: string | undefined;
  /** The address of the org in links and tokens. The default is the host that the client names. */
  readonly orgUrl?: string | undefined;
}

/** Returns the dialect of Okta: Groups API, Users API, System Log API, and the org authorization server. */
export const okta =
  ({ clientKey, orgUrl }: OktaOptions = {}): OpenDialect =>
  (simulation) => {
    const org: Org = { simulation, orgUrl: (url) => orgUrl ?? new URL(url).origin };
    const client = createClient(simulation, clientKey);
    const signIn: SignIn = {
      org,
      client,
      tokens: createAccessTokens(simulation, client),
      dpop: createDpop(simulation),
      usedAssertions: new Set(),
    };
    const access = createAccess(signIn);
    const limits = createRateLimits(simulation);
    let answers = 0;
    return {
      name: 'okta',
      endpoints: [
        ...groupEndpoints(org, access),
        ...userEndpoints(org, access),
        ...logEndpoints(org),
        ...tokenEndpoints(signIn),
      ],
      controls: oktaControls(signIn),
      errors: OKTA_ERRORS,
      randomFailures: RANDOM_FAILURES,
      admit: (endpoint, headers, url) => admit(signIn, limits, { endpoint, headers, url }),
      answerHeaders(endpoint, status) {
        answers += 1;
        const requestId = simulation.random(`request-id/${answers}`).hex(27);
        return { 'x-okta-request-id': requestId, ...limits.headers(endpoint, status) };
      },
      invalidInput: (message) => validationFailed(message.split(':', 1)[0] ?? '', message),
      noSuchEndpoint: () => notFound('Path', 'the endpoint'),
      describeCredentials: () => [
        `client id ${client.id}`,
        `api token ${client.apiToken}`,
        `client key ${JSON.stringify(privateJwk(client))}`,
      ],
      reset() {
        signIn.tokens.expireAll();
        signIn.usedAssertions.clear();
        Object.assign(client, atStart());
      },
    } satisfies Dialect;
  };
