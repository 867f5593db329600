import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import type { Dialect, DialectControl, Endpoint, OpenDialect } from '../engine/dialect.ts';
import { createQuota, type Quota } from '../engine/quota.ts';
import {
  authError,
  forbidden,
  GOOGLE_ERRORS,
  insufficientScopes,
  invalidInput,
  notFound,
  RANDOM_FAILURES,
  userRateLimitExceeded,
} from './errors.ts';
import {
  createFederation,
  exchangeEndpoint,
  type Federation,
  federationControls,
  permissionDenied,
  signJwtEndpoint,
} from './federation.ts';
import { groupMethods } from './groups.ts';
import type { GivenKeys } from './keys.ts';
import { memberMethods } from './members.ts';
import { reportMethods } from './reports.ts';
import { READ_ALL } from './scopes.ts';
import { serviceAccountKey } from './service-account-key.ts';
import { createSignIn, type SignIn, tokenEndpoint } from './sign-in.ts';
import { userMethods } from './users.ts';

/** Returns the dialect of Google Workspace: Directory API, Reports API, and the sign-in of service accounts. */
export const google =
  (given: GivenKeys = {}): OpenDialect =>
  (simulation) => {
    const signIn = createSignIn(simulation, given);
    const federation = createFederation();
    const quota = createQuota(simulation, userRateLimitExceeded);
    const endpoints = [
      ...userMethods(simulation),
      ...groupMethods(simulation),
      ...memberMethods(simulation),
      ...reportMethods(simulation),
      tokenEndpoint(signIn),
      exchangeEndpoint(signIn, federation),
      signJwtEndpoint(signIn),
    ];
    return {
      name: 'google',
      endpoints,
      controls: [...signInControls(signIn), ...federationControls(signIn, federation)],
      errors: GOOGLE_ERRORS,
      randomFailures: RANDOM_FAILURES,
      admit: (endpoint, headers) => admit({ signIn, federation, quota }, endpoint, headers),
      invalidInput,
      noSuchEndpoint: () => notFound('the method'),
      describeCredentials: (url) => describeCredentials(signIn, url),
      reset() {
        signIn.tokens.expireAll();
        signIn.delegatedScopes = READ_ALL;
        Object.assign(federation, createFederation());
      },
    } satisfies Dialect;
  };

interface Gate {
  readonly signIn: SignIn;
  readonly federation: Federation;
  readonly quota: Quota;
}

function admit({ signIn, federation, quota }: Gate, endpoint: Endpoint, headers: IncomingHttpHeaders): void {
  if (endpoint.scopes === undefined) return;
  const [, text] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  const token = text === undefined ? undefined : signIn.tokens.find(text);
  if (token === undefined) throw authError();
  if (!token.scopes.some((scope) => endpoint.scopes?.includes(scope))) {
    throw insufficientScopes(endpoint.operation);
  }
  if (endpoint.operation.startsWith('iamcredentials.')) {
    const isAllowed = token.kind === 'federated' && federation.allowedSubjects.includes(token.subject);
    if (!isAllowed) throw permissionDenied();
    return;
  }
  const { directory, clock } = signIn.simulation;
  const user = token.kind === 'user' ? directory().viewAt(clock()).user(token.subject) : undefined;
  if (user === undefined || user.suspended || !user.isAdmin) throw forbidden();
  quota(user.id);
}

const Delegation = z.strictObject({ scopes: z.array(z.string()) });

const signInControls = (signIn: SignIn): readonly DialectControl[] => [
  {
    name: 'delegation',
    body: Delegation,
    /** Changes the delegated scopes. All earlier tokens become invalid, as after a change in the admin console. */
    handle(body) {
      signIn.delegatedScopes = Delegation.parse(body).scopes;
      signIn.tokens.expireAll();
      return { scopes: signIn.delegatedScopes };
    },
  },
  {
    name: 'access-tokens/expire',
    body: z.unknown(),
    handle() {
      signIn.tokens.expireAll();
      return { ok: true };
    },
  },
  {
    name: 'service-account-key',
    body: z.strictObject({ url: z.string().default('http://127.0.0.1') }),
    handle: (body) => serviceAccountKey(signIn.keys, (body as { url: string }).url),
  },
];

function describeCredentials(signIn: SignIn, url: string): readonly string[] {
  const { directory, clock } = signIn.simulation;
  const administrator = directory()
    .viewAt(clock())
    .users()
    .find((user) => user.isAdmin && !user.suspended);
  if (administrator === undefined) return [];
  const subject = administrator.primaryEmail;
  return [
    `administrator ${subject}`,
    `access token ${signIn.tokens.issue({ kind: 'user', subject, scopes: READ_ALL })}`,
    `service account key ${JSON.stringify(serviceAccountKey(signIn.keys, url))}`,
  ];
}
