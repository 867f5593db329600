import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Simulation } from '../engine/simulation.ts';
import { createWebIdentityKeys, ISSUER, ROLE_ARN, type WebIdentityKeys } from '../engine/web-identity.ts';
import { READ_ALL } from './rights.ts';

export const CLIENT_ID = '11111111-aaaa-4000-8000-000000000001';
/** The audience that Microsoft recommends for federated credentials. */
export const AUDIENCE = 'api://AzureADTokenExchange';
const FIRST_SECRET = 'simulated-client-secret';

/** The Graph host of each cloud ("Microsoft Graph national cloud deployments"). */
export const GRAPH_HOSTS = {
  public: 'https://graph.microsoft.com',
  gccHigh: 'https://graph.microsoft.us',
  dod: 'https://dod-graph.microsoft.us',
  china: 'https://microsoftgraph.chinacloudapi.cn',
} as const;
export type SimulatedCloud = keyof typeof GRAPH_HOSTS;

/** A federated credential. A token must have the same issuer, subject and audience. */
interface Federation {
  issuer: string;
  subject: string;
  audience: string;
  /**
   * The public keys of an issuer outside the simulator. If the list is empty, the simulated AWS account is the issuer.
   */
  issuerKeys: readonly KeyObject[];
}

interface AccessToken {
  readonly roles: readonly string[];
  readonly expiresAtMs: number;
}

export interface Application {
  readonly simulation: Simulation;
  readonly keys: WebIdentityKeys;
  readonly tokens: Map<string, AccessToken>;
  issued: number;
  roles: readonly string[];
  clientSecret: string;
  /** The cloud of the tenant. Tokens are issued only for the Graph host of this cloud. */
  cloud: SimulatedCloud;
  federation: Federation;
}

const firstState = (): Pick<Application, 'roles' | 'clientSecret' | 'cloud' | 'federation'> => ({
  roles: READ_ALL,
  clientSecret: FIRST_SECRET,
  cloud: 'public',
  federation: { issuer: ISSUER, subject: ROLE_ARN, audience: AUDIENCE, issuerKeys: [] },
});

export const createApplication = (simulation: Simulation): Application => ({
  simulation,
  keys: createWebIdentityKeys(),
  tokens: new Map(),
  issued: 0,
  ...firstState(),
});

/** Restores the initial configuration, but keeps the keys. */
export function resetApplication(application: Application): void {
  application.tokens.clear();
  Object.assign(application, firstState());
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Issues an access token with the current roles of the application, in the form of a JWT. */
export function issueToken(application: Application): string {
  const { simulation, tokens, roles, cloud } = application;
  application.issued += 1;
  const nowMs = simulation.clock();
  const expiresAtMs = nowMs + simulation.settings().accessTokenLifetimeSeconds * 1_000;
  const claims = {
    aud: GRAPH_HOSTS[cloud],
    appid: CLIENT_ID,
    tid: simulation.directory().customerId,
    roles,
    exp: Math.floor(expiresAtMs / 1_000),
  };
  const signature = simulation.random(`access-token/${application.issued}`).hex(64);
  const text = `${encode({ typ: 'JWT', alg: 'RS256' })}.${encode(claims)}.${signature}${application.issued}`;
  tokens.set(text, { roles, expiresAtMs });
  return text;
}

/** Returns the roles of the request's access token; undefined without a valid token. */
export function rolesOf(
  { simulation, tokens }: Application,
  { authorization = '' }: IncomingHttpHeaders,
): readonly string[] | undefined {
  const [, text = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  const token = tokens.get(text);
  return token !== undefined && token.expiresAtMs > simulation.clock() ? token.roles : undefined;
}
