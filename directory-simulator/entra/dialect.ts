import { createPublicKey, type JsonWebKey } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import type { Dialect, DialectControl, Endpoint, OpenDialect } from '../engine/dialect.ts';
import { createQuota, type Quota } from '../engine/quota.ts';
import { webIdentityRequest, webIdentityToken } from '../engine/web-identity.ts';
import {
  type Application,
  AUDIENCE,
  CLIENT_ID,
  createApplication,
  GRAPH_HOSTS,
  issueToken,
  resetApplication,
  rolesOf,
  type SimulatedCloud,
} from './application.ts';
import { createDeltaState, type DeltaState, deltaMethods } from './delta.ts';
import {
  badRequest,
  ENTRA_ERRORS,
  invalidToken,
  noSuchSegment,
  RANDOM_FAILURES,
  requestDenied,
  tooManyRequests,
} from './errors.ts';
import { groupMethods } from './groups.ts';
import { memberMethods } from './members.ts';
import { tokenEndpoint } from './sign-in.ts';
import { userMethods } from './users.ts';

/** Returns the dialect of Entra ID: the directory part of Microsoft Graph v1.0, and the token endpoint. */
export const entra = (): OpenDialect => (simulation) => {
  const application = createApplication(simulation);
  const delta = createDeltaState();
  const quota = createQuota(simulation, tooManyRequests);
  return {
    name: 'entra',
    endpoints: [
      ...deltaMethods(application, delta),
      ...groupMethods(simulation),
      ...memberMethods(application),
      ...userMethods(simulation),
      tokenEndpoint(application),
    ],
    controls: controlsOf(application, delta),
    errors: ENTRA_ERRORS,
    randomFailures: RANDOM_FAILURES,
    changeRules: { allowsCycles: true, keepsMemberships: true },
    admit: (endpoint, headers) => admit({ application, quota }, endpoint, headers),
    invalidInput: badRequest,
    noSuchEndpoint: noSuchSegment,
    describeCredentials: () => [
      `tenant ${simulation.directory().customerId}`,
      `client id ${CLIENT_ID}`,
      `client secret ${application.clientSecret}`,
      `access token ${issueToken(application)}`,
    ],
    reset() {
      resetApplication(application);
      Object.assign(delta, { ...createDeltaState(), generation: delta.generation + 1 });
    },
  } satisfies Dialect;
};

interface Gate {
  readonly application: Application;
  readonly quota: Quota;
}

function admit({ application, quota }: Gate, endpoint: Endpoint, headers: IncomingHttpHeaders): void {
  if (endpoint.scopes === undefined) return;
  if (headers.authorization === undefined) throw invalidToken('Access token is empty.');
  const roles = rolesOf(application, headers);
  if (roles === undefined) throw invalidToken();
  if (!roles.some((role) => endpoint.scopes?.includes(role))) throw requestDenied();
  quota(CLIENT_ID);
}

const Rights = z.strictObject({ roles: z.array(z.string()) });
const Cloud = z.strictObject({ cloud: z.enum(Object.keys(GRAPH_HOSTS) as SimulatedCloud[]) });
const Secret = z.strictObject({ secret: z.string().min(1) });
const Expiry = z.strictObject({
  error: z.enum(['syncStateNotFound', 'resyncRequired']).default('syncStateNotFound'),
});
const WebIdentity = webIdentityRequest({ audience: AUDIENCE, algorithm: 'RS256' });
const Federation = z.strictObject({
  issuer: z.string().optional(),
  subject: z.string().optional(),
  audience: z.string().optional(),
  keys: z.array(z.record(z.string(), z.unknown())).optional().describe('Public keys as JSON Web Keys.'),
});

const controlsOf = (application: Application, delta: DeltaState): readonly DialectControl[] => [
  {
    name: 'rights',
    body: Rights,
    /** Changes the granted rights. All earlier tokens become invalid, so that the change takes effect at once. */
    handle(body) {
      application.roles = Rights.parse(body).roles;
      application.tokens.clear();
      return { roles: application.roles };
    },
  },
  {
    name: 'client-secret',
    body: Secret,
    handle(body) {
      application.clientSecret = Secret.parse(body).secret;
      return { ok: true };
    },
  },
  {
    name: 'cloud',
    body: Cloud,
    /** Moves the tenant to another cloud, whose Graph accepts no token of the previous cloud. */
    handle(body) {
      const { cloud } = Cloud.parse(body);
      if (cloud !== application.cloud) application.tokens.clear();
      application.cloud = cloud;
      return { cloud };
    },
  },
  {
    name: 'access-tokens/expire',
    body: z.unknown(),
    handle() {
      application.tokens.clear();
      return { ok: true };
    },
  },
  {
    name: 'delta-tokens/expire',
    body: Expiry,
    handle(body) {
      delta.generation += 1;
      delta.expiredWith = Expiry.parse(body).error;
      return { ok: true };
    },
  },
  {
    name: 'web-identity',
    body: WebIdentity,
    handle(body) {
      const issuing = { issuer: application.federation.issuer, nowMs: application.simulation.clock() };
      return { token: webIdentityToken(application.keys, { ...WebIdentity.parse(body), ...issuing }) };
    },
  },
  {
    name: 'federation',
    body: Federation,
    handle(body) {
      const { keys, ...changed } = Federation.parse(body);
      const { federation } = application;
      federation.issuer = changed.issuer ?? federation.issuer;
      federation.subject = changed.subject ?? federation.subject;
      federation.audience = changed.audience ?? federation.audience;
      if (keys !== undefined) {
        federation.issuerKeys = keys.map((key) => createPublicKey({ key: key as JsonWebKey, format: 'jwk' }));
      }
      const { issuer, subject, audience } = federation;
      return { issuer, subject, audience };
    },
  },
];
