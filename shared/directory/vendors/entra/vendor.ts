import type { DirectoryOf } from '../../../contract/directory-settings.ts';
import { type EntraCloud, entraCloudOf } from '../../../contract/entra-clouds.ts';
import { jsonValue } from '../../../contract/json.ts';
import {
  type Directory,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryPage,
  type DirectoryStep,
  type DirectoryUser,
  type SelectsGroup,
} from '../../ports.ts';
import { type AccessTokens, type Issued, keepAccessToken, Token } from '../access-tokens.ts';
import { type DirectoryWorld, exchange } from '../exchange.ts';
import { bodyOf } from '../signed-calls.ts';
import { attempt, firstOf, stepOf, unlessMissing, withDetail } from '../steps.ts';
import type { ReadSecret, Vendor } from '../vendor.ts';
import { changesSince, cursorNow } from './changes.ts';
import { createGraph, type Graph, listPages, tokenRefusal } from './graph.ts';
import { hostsOf } from './hosts.ts';
import {
  GROUP_PROPERTIES,
  groupOf,
  hasNestedGroup,
  MAX_PAGE,
  memberPages,
  refuseHiddenGroups,
  selectedUser,
  userMemberPages,
  userOf,
} from './members.ts';
import { ClientSecret, Group, User } from './schemas.ts';

export interface EntraOptions {
  readonly tenant: string;
  readonly clientId: string;
  readonly credential: EntraCredential;
  readonly cloud: EntraCloud;
  /** Base URL of another host with the same APIs, such as a simulator. undefined means Microsoft. */
  readonly baseUrl?: string | undefined;
}

/** The expected maximum delay of lists and changes. Changes of a dynamic group's members can be later. */
const LAG_MS = 10 * 60_000;

export function createEntraDirectory(options: EntraOptions, world: DirectoryWorld): Directory {
  const { cloud, baseUrl, ...account } = options;
  const { login, scope, graph: graphUrl } = hostsOf(cloud, baseUrl);
  const tokens = createAccessTokens({ ...account, loginUrl: login, scope }, world);
  const graph = createGraph(graphUrl, tokens, world);
  return {
    groups: () => groupPages(graph),
    group: (id) => unlessMissing(() => readGroup(graph, id)),
    membersOf: (group, nested) =>
      nested === 'ignore' ? userMemberPages(graph, group) : memberPages(graph, group),
    hasMember: (group, member) => hasNestedGroup(graph, group, member),
    user: (key) => unlessMissing(() => readUser(graph, key)),
    tryUsers: async () => void (await firstOf(userPages(graph))),
    changesSince: (cursor) => changesSince(graph, cursor),
    cursorAt: () => cursorNow(graph),
    lagMs: LAG_MS,
  };
}

async function* groupPages(graph: Graph): AsyncGenerator<DirectoryPage<DirectoryGroup>> {
  const url = graph.url(['groups'], { $select: GROUP_PROPERTIES, $top: MAX_PAGE });
  for await (const { items, asOfMs } of listPages(graph, { operation: 'groups.list', url, item: Group })) {
    yield { items: items.map(groupOf), asOfMs };
  }
}

async function readGroup(graph: Graph, id: string): Promise<DirectoryGroup> {
  const url = graph.url(['groups', id], { $select: GROUP_PROPERTIES });
  return groupOf((await graph.call({ operation: 'groups.get', url, body: Group })).body);
}

async function readUser(graph: Graph, key: string): Promise<DirectoryUser> {
  const operation = 'users.get';
  const url = graph.url(['users', key], { $select: selectedUser(graph.attributes) });
  return userOf(operation, (await graph.call({ operation, url, body: User })).body, graph.attributes);
}

async function* userPages(graph: Graph): AsyncGenerator<DirectoryPage<DirectoryUser>> {
  const operation = 'users.list';
  const url = graph.url(['users'], { $select: selectedUser(graph.attributes), $top: '1' });
  for await (const { items, asOfMs } of listPages(graph, { operation, url, item: User })) {
    yield { items: items.map((user) => userOf(operation, user, graph.attributes)), asOfMs };
  }
}

export const entra: Vendor<'entra'> = {
  async open(setting, readSecret, world) {
    const credential = await credentialOf(setting, readSecret);
    return createEntraDirectory({ ...setting, credential }, world);
  },

  async examine(setting, readSecret, world, isSelected) {
    const credential = await credentialOf(setting, readSecret);
    return examineEntra({ ...setting, credential }, world, isSelected);
  },
};

async function credentialOf(
  { federation }: DirectoryOf<'entra'>,
  readSecret: ReadSecret,
): Promise<EntraCredential> {
  if (federation !== undefined) return { kind: 'federation', audience: federation.audience };
  const parsed = ClientSecret.safeParse(await readSecret());
  if (parsed.success) return { kind: 'secret', clientSecret: parsed.data.clientSecret };
  throw new DirectoryError('denied', 'expected a stored secret with the field clientSecret');
}

/**
 * For each right, the calls that need this right. Each call reads only the first page of a list, except the check for
 * hidden memberships: without the right to read them, this check lists all groups.
 */
const CALLS = {
  groups: (graph) => firstOf(groupPages(graph)),
  async members(graph, isSelected) {
    const [group] = (await firstOf(groupPages(graph)))?.items ?? [];
    if (group !== undefined) await firstOf(userMemberPages(graph, group.id));
    if (isSelected !== undefined) await refuseHiddenGroups(graph, isSelected);
  },
  users: (graph) => firstOf(userPages(graph)),
  reports: (graph) => cursorNow(graph),
} satisfies Readonly<Record<string, (graph: Graph, isSelected?: SelectsGroup) => Promise<unknown>>>;

export async function examineEntra(
  { cloud, baseUrl, ...account }: EntraOptions,
  world: DirectoryWorld,
  isSelected?: SelectsGroup,
): Promise<readonly DirectoryStep[]> {
  const { login, scope, graph: graphUrl } = hostsOf(cloud, baseUrl);
  const proven = await examineCredential(account.credential, world);
  if (proven.failure !== undefined) return [proven];
  const tokens = createAccessTokens({ ...account, loginUrl: login, scope }, world);
  const signed = withDetail(
    stepOf('token exchange', await attempt(() => tokens.current())),
    `works at ${login}, ${entraCloudOf(cloud).title}, for ${scope}`,
  );
  if (signed.failure !== undefined) return [proven, signed];
  const graph = createGraph(graphUrl, tokens, world);
  const rights = Object.entries(CALLS) as readonly [keyof typeof CALLS, (typeof CALLS)['members']][];
  const steps = rights.map(async ([right, call]) =>
    stepOf(right, await attempt(() => call(graph, isSelected))),
  );
  return [proven, signed, ...(await Promise.all(steps))];
}

/**
 * Tests the AWS token of a federated credential. For a client secret, this step succeeds without a test, because the
 * sign-in tests the secret.
 */
const examineCredential = async (
  credential: EntraOptions['credential'],
  world: DirectoryWorld,
): Promise<DirectoryStep> =>
  credential.kind === 'secret'
    ? { step: 'credential', failure: undefined }
    : stepOf('web identity', await attempt(() => world.webIdentity(credential.audience)));

/** How the application authenticates: with a client secret, or with the AWS role of this process. */
export type EntraCredential =
  | { readonly kind: 'secret'; readonly clientSecret: string }
  | { readonly kind: 'federation'; readonly audience: string };

interface SignInOptions {
  readonly tenant: string;
  readonly clientId: string;
  readonly credential: EntraCredential;
  /** Base URL of the token endpoints. */
  readonly loginUrl: string;
  readonly scope: string;
}

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/**
 * Signs in as an application ("Microsoft identity platform and the OAuth 2.0 client credentials flow"). With a
 * federated credential no secret is stored:
 *
 *     role of the function ──AWS STS──▶ web identity token ──as client assertion──▶ access token
 */
const createAccessTokens = (options: SignInOptions, world: DirectoryWorld): AccessTokens =>
  keepAccessToken(
    async () => requestToken(options, await proofOf(options.credential, world), world),
    world.clock,
  );

type Proof = Readonly<Record<string, string>>;

async function proofOf(credential: EntraCredential, world: DirectoryWorld): Promise<Proof> {
  if (credential.kind === 'secret') return { client_secret: credential.clientSecret };
  const assertion = await world.webIdentity(credential.audience);
  return { client_assertion_type: JWT_BEARER, client_assertion: assertion };
}

/** @throws DirectoryError `denied` if the credential is refused */
async function requestToken(
  { tenant, clientId, loginUrl, scope }: SignInOptions,
  proof: Proof,
  world: DirectoryWorld,
): Promise<Issued> {
  const operation = 'token';
  const url = `${loginUrl}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  const form = { grant_type: 'client_credentials', client_id: clientId, scope, ...proof };
  const body = new URLSearchParams(form).toString();
  const answer = await exchange({ method: 'POST', operation, url, headers: FORM, body }, world);
  if (answer.status === 200) return bodyOf({ operation, body: Token }, answer);
  throw tokenRefusal(operation, answer, jsonValue(answer.text), world.clock());
}
