import {
  AuthenticationHandler,
  Client,
  type Middleware,
  type PageCollection,
  PageIterator,
} from '@microsoft/microsoft-graph-client';
import { expect, it } from 'vitest';
import type { Settings } from '../../../directory-simulator/engine/settings.ts';
import { REALISTIC_ENTRA_SETTINGS } from '../../../directory-simulator/entra/settings.ts';
import { EVENTUAL, type Item, idsOf, startEntra } from './fixture.ts';

const GRAPH = 'https://graph.microsoft.com';

/** Opens Microsoft's client. The last step of its middleware sends requests for Graph to the simulator. */
async function openClient(settings: Partial<Settings> = {}) {
  const entra = startEntra({ settings });
  entra.clock.ms = Date.now();
  const { url } = await entra.simulator.listen();
  const token = (await entra.signIn()).json.access_token as string;
  const transport: Middleware = {
    async execute(context) {
      const address = String(context.request).replace(GRAPH, url);
      const response = await fetch(address, context.options as RequestInit);
      const text = (await response.text()).replaceAll(url, GRAPH);
      context.response = new Response(text, {
        status: response.status,
        headers: { 'content-type': 'application/json' },
      });
    },
  };
  const authentication = new AuthenticationHandler({ getAccessToken: async () => token });
  authentication.setNext(transport);
  const client = Client.initWithMiddleware({ middleware: authentication });
  return { entra, client };
}

type Opened = Awaited<ReturnType<typeof openClient>>;

/** Reads all pages with the client's own iterator. */
async function readPages({ client }: Opened, path: string, headers: Record<string, string> = {}) {
  const first = (await client.api(path).headers(headers).get()) as PageCollection;
  const items: Item[] = [];
  const iterator = new PageIterator(client, first, (item: Item) => {
    items.push(item);
    return true;
  });
  await iterator.iterate();
  return { items, count: first['@odata.count'] as unknown, deltaLink: iterator.getDeltaLink() ?? '' };
}

it("Microsoft's client reads users, groups and members page by page from a directory with realistic settings", async () => {
  const opened = await openClient({ ...REALISTIC_ENTRA_SETTINGS, failures: 0 });
  expect(idsOf((await readPages(opened, '/users?$top=2')).items)).toEqual([
    'u-ann',
    'u-gus',
    'u-liz',
    'u-sue',
  ]);
  expect(idsOf((await readPages(opened, '/groups?$select=id&$top=2')).items)).toHaveLength(6);
  const members = await readPages(opened, '/groups/g-sales/members?$select=id');
  expect(idsOf(members.items)).toEqual(['d-laptop', 'g-emea', 'u-gus', 'u-liz', 'u-sue']);
});

it("Microsoft's client reads and counts the members of one kind", async () => {
  const opened = await openClient();
  const path = '/groups/g-sales/members/microsoft.graph.user?$count=true&$top=1';
  const { items, count } = await readPages(opened, path, EVENTUAL);
  expect([count, idsOf(items)]).toEqual([3, ['u-gus', 'u-liz', 'u-sue']]);
});

it("Microsoft's client reads changes of groups and users, and continues with the link of the previous round", async () => {
  const opened = await openClient({ pageSizes: 'random', emptyPages: 0.3 });
  const groups = await readPages(opened, '/groups/delta?$select=displayName,members');
  const users = await readPages(opened, '/users/delta');
  await opened.entra.change(
    { kind: 'addMember', group: 'g-none', member: 'u-ann' },
    { kind: 'suspendUser', user: 'u-ann' },
  );
  expect(idsOf(groups.items)).toHaveLength(6);
  expect(idsOf((await readPages(opened, groups.deltaLink)).items)).toEqual(['g-none']);
  expect(idsOf(users.items)).toHaveLength(6);
  expect((await readPages(opened, users.deltaLink)).items).toEqual([]);
});

it("Microsoft's client recognises the errors of Graph", async () => {
  const { client, entra } = await openClient();
  await expect(client.api('/groups/absent').get()).rejects.toMatchObject({
    statusCode: 404,
    code: 'Request_ResourceNotFound',
  });
  await entra.control('faults', [{ error: 'authorizationRequestDenied' }]);
  await expect(client.api('/groups').get()).rejects.toMatchObject({
    statusCode: 403,
    code: 'Authorization_RequestDenied',
    message: 'Insufficient privileges to complete the operation.',
  });
});
