import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import type { WorldInput } from '../../../directory-simulator/engine/world.ts';
import { okta } from '../../../directory-simulator/okta/dialect.ts';
import { CUSTOMER_KEY } from '../keys.ts';
import { NOW_MS, type Options, startSimulated } from '../simulated.ts';

export { NOW_MS } from '../simulated.ts';

const HOST = '127.0.0.1:8080';
export const ORG = `http://${HOST}`;
export const TOKEN_URL = `${ORG}/oauth2/v1/token`;
const CREATED = { createdAtMs: Date.UTC(2024, 0, 1) };

/** An org with a user of each status and a group of each type. The group Sales contains all these users. */
const WORLD: WorldInput = {
  users: [
    { id: '00uliz', primaryEmail: 'liz@example.com', givenName: 'Liz', familyName: 'Ng', isAdmin: true },
    { id: '00ustaged', primaryEmail: 'staged@example.com', vendorFields: { status: 'STAGED' } },
    { id: '00uprov', primaryEmail: 'prov@example.com', vendorFields: { status: 'PROVISIONED' } },
    { id: '00urec', primaryEmail: 'rec@example.com', vendorFields: { status: 'RECOVERY' } },
    { id: '00ulock', primaryEmail: 'lock@example.com', vendorFields: { status: 'LOCKED_OUT' } },
    { id: '00uexp', primaryEmail: 'exp@example.com', vendorFields: { status: 'PASSWORD_EXPIRED' } },
    { id: '00usus', primaryEmail: 'sus@example.com', suspended: true },
    { id: '00udep', primaryEmail: 'dep@example.com', archived: true },
    { id: '00uann', primaryEmail: 'ann@example.com', vendorFields: { login: 'ann@login.example' } },
    { id: '00udel', primaryEmail: 'del@example.com', deletedAtMs: NOW_MS - 3_600_000 },
  ].map((user) => ({ ...user, ...CREATED })),
  groups: [
    {
      id: '00gsales',
      name: 'Sales',
      description: 'People who sell',
      members: [
        ...['00uliz', '00ustaged', '00uprov', '00urec', '00ulock', '00uexp', '00usus', '00udep'].map(
          (member) => ({ member }),
        ),
      ],
    },
    {
      id: '00gapp',
      name: 'Engineering Users',
      vendorFields: { type: 'APP_GROUP' },
      members: [{ member: '00uann' }],
    },
    { id: '00gnone', name: 'Empty' },
    {
      id: '00gall',
      name: 'Everyone',
      vendorFields: { type: 'BUILT_IN' },
      members: [{ member: 'all', kind: 'everyone' as const }],
    },
    { id: '00ggone', name: 'Gone', deletedAtMs: NOW_MS - 1_000 },
  ].map((group) => ({ ...group, email: `${group.id}@group.example`, ...CREATED })),
};

/** Starts an Okta org. */
export function startOkta({
  world = WORLD,
  orgUrl,
  ...options
}: Options & { readonly orgUrl?: string } = {}) {
  const simulated = startSimulated(okta({ clientKey: CUSTOMER_KEY, orgUrl }), { world, ...options }, HOST);
  const lines = simulated.simulator.dialect.describeCredentials(ORG);
  const clientId = lines[0]?.replace('client id ', '') ?? '';
  return { ...simulated, clientId };
}

export type Okta = ReturnType<typeof startOkta>;

const CLIENT_KEY = createPrivateKey(CUSTOMER_KEY);
const PROOF_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Returns a client assertion. `claims` and `header` override default values. */
export async function assertionOf(
  { clientId, clock }: Okta,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  key = CLIENT_KEY,
): Promise<string> {
  const kid = await calculateJwkThumbprint(await exportJWK(createPublicKey(CLIENT_KEY)));
  const iat = Math.floor(clock.ms / 1_000);
  const usual = { iss: clientId, sub: clientId, aud: TOKEN_URL, iat, exp: iat + 300, jti: randomUUID() };
  return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(key);
}

/** Returns a DPoP proof for an address. `claims` overrides default claims. */
export async function proofOf(
  { clock }: Okta,
  [method, url, token]: readonly [string, string, string?],
  claims: Record<string, unknown> = {},
  key = PROOF_KEY,
): Promise<string> {
  const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') };
  const iat = Math.floor(clock.ms / 1_000);
  return new SignJWT({ htm: method, htu: url, iat, jti: randomUUID(), ...ath, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(createPublicKey(key)) })
    .sign(key);
}

interface SignInOptions {
  readonly assertion?: string;
  readonly proof?: string;
  readonly form?: Record<string, string>;
}

/** Sends a request to the token endpoint. */
export async function signIn(client: Okta, { assertion, proof, form = {} }: SignInOptions = {}) {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'okta.groups.read okta.users.read okta.logs.read',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion ?? (await assertionOf(client)),
    ...form,
  }).toString();
  return client.send('POST /oauth2/v1/token', {
    body,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(proof === undefined ? {} : { dpop: proof }),
    },
  });
}
