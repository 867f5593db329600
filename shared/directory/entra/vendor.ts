import { entraCloudOf } from '../../contract/entra-clouds.ts';
import type { DirectoryOf } from '../../contract/settings.ts';
import { DirectoryError, type DirectoryStep, type SelectsGroup } from '../../sync/ports/directory.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { attempt, firstOf, stepOf, withDetail } from '../steps.ts';
import type { ReadSecret, Vendor } from '../vendor.ts';
import { cursorNow } from './changes.ts';
import { createEntraDirectory, type EntraOptions, groupPages, userPages } from './directory.ts';
import { createGraph, type Graph } from './graph.ts';
import { hostsOf } from './hosts.ts';
import { refuseHiddenGroups, userMemberPages } from './members.ts';
import { ClientSecret } from './schemas.ts';
import { type Credential, createAccessTokens } from './sign-in.ts';

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
): Promise<Credential> {
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

/** Tries each step of reading an Entra directory: the calls of the sign-in, and then each right. */
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
