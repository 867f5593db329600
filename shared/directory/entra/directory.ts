import type { EntraCloud } from '../../contract/entra-clouds.ts';
import type { Directory, DirectoryGroup, DirectoryPage, DirectoryUser } from '../../sync/ports/directory.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { firstOf, unlessMissing } from '../steps.ts';
import { changesSince, cursorNow } from './changes.ts';
import { createGraph, type Graph, listPages } from './graph.ts';
import { hostsOf } from './hosts.ts';
import { hasNestedGroup, memberPages, userMemberPages } from './members.ts';
import { GROUP_PROPERTIES, groupOf, MAX_PAGE, USER_PROPERTIES, userOf } from './objects.ts';
import { Group, User } from './schemas.ts';
import { type Credential, createAccessTokens } from './sign-in.ts';

export interface EntraOptions {
  readonly tenant: string;
  readonly clientId: string;
  readonly credential: Credential;
  readonly cloud: EntraCloud;
  /** Base URL of another host with the same APIs, such as a simulator. undefined means Microsoft. */
  readonly baseUrl?: string | undefined;
}

/** The expected maximum delay of lists and changes. Changes of a dynamic group's members can be later. */
const LAG_MS = 10 * 60_000;

/** Returns a directory that reads Entra ID through Microsoft Graph. */
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

export async function* groupPages(graph: Graph): AsyncGenerator<DirectoryPage<DirectoryGroup>> {
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
  const url = graph.url(['users', key], { $select: USER_PROPERTIES });
  return userOf(operation, (await graph.call({ operation, url, body: User })).body);
}

export async function* userPages(graph: Graph): AsyncGenerator<DirectoryPage<DirectoryUser>> {
  const operation = 'users.list';
  const url = graph.url(['users'], { $select: USER_PROPERTIES, $top: '1' });
  for await (const { items, asOfMs } of listPages(graph, { operation, url, item: User })) {
    yield { items: items.map((user) => userOf(operation, user)), asOfMs };
  }
}
