import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { localTarget } from '../../cli/local-file.ts';
import { hashOf } from '../../console/sign-in/attempt.ts';
import { type ConsoleLogin, roleAccounts, startConsoleLogin } from '../../local/console-login/start.ts';
import { parseWorld } from '../../local/platform/state/world.ts';
import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { noticeOf } from '../../shared/plan/notice.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { wireTool } from '../../shared/runtime/wire-tool.ts';
import { createConsoleSessionStore } from '../../shared/store/console-session-store.ts';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import type { ConsoleSessions } from '../../shared/sync/ports/bundles.ts';
import { companyOf, memberOf } from '../local/support/numbered-company.ts';
import { nativeEvent } from '../support/events.ts';
import { startLocalStack } from '../support/local-stack.ts';
import { openBrowser } from './support/browser.ts';
import { expectAccessible } from './support/stage.ts';

/* The function of the console behind a gateway, with the provider oidc-provider and a real browser. */

const accounts = roleAccounts();
let sessions: ConsoleSessions;
let local: Awaited<ReturnType<typeof startLocalStack>>;
let login: ConsoleLogin;
let browser: Browser;
let tool: Awaited<ReturnType<typeof wireTool>>;

const people = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ ...memberOf(from + n), name: `Person ${from + n}` }));
const snapshot = (to: number) =>
  nativeEvent('group.snapshot', { group: { id: 'g1', name: 'Engineering' }, members: people(0, to) });

beforeAll(async () => {
  local = await startLocalStack({
    world: parseWorld(companyOf(10)),
    settings: [['guard', { minSize: 3, maxRemovedShare: 0.5, maxRemovedCount: 100, perHourCount: 500 }]],
    pumpSeconds: 1,
    batchingWindowSeconds: 0,
  });
  login = await startConsoleLogin('groupsync', { accounts });
  tool = await wireTool({ ...localTarget(local.stack.address), user: 'ada' });
  sessions = createConsoleSessionStore(
    createDynamoTable(new DynamoDBClient({}), { tableName: 'groupsync-state', sleep }),
  );
  browser = await openBrowser();
  await local.send([snapshot(10)]);
  await local.converge();
  await local.send([snapshot(3)]);
  await local.converge();
});
afterAll(async () => {
  await browser?.close();
  login?.stop();
  await tool?.close();
  await local?.stop();
});

/** Opens a path of the console in a browser without cookies, and signs in at the provider. */
async function signIn(account: string, path: string): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext();
  // An open page keeps sending requests to the server.
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`${new URL(login.url).origin}${path}`);
  expect(page.url()).toContain(login.issuer);
  await page.locator('input[name=login]').fill(account);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.waitForURL(`${new URL(login.url).origin}/**`);
  return { context, page };
}

const statusOf = (page: Page, path: string, method = 'GET', headers: object = { 'x-groupsync-token': '' }) =>
  page.evaluate(
    ([path, method, headers]) =>
      fetch(path as string, { method, headers } as RequestInit).then(({ status }) => status),
    [path, method, headers] as const,
  );

it('an approver without AWS credentials opens a hold from a link and approves a part of it', async () => {
  const { page } = await signIn('approver', '/c/default/holds/g1');
  expect(new URL(page.url()).pathname).toBe('/c/default/holds/g1');
  await page.getByText('approver@acme.example').waitFor();
  await page.getByText('approver', { exact: true }).waitFor();
  await page.getByRole('checkbox', { name: 'Select Person 9' }).check();
  await page.getByRole('button', { name: 'Approve 1 removal' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByLabel('Reason').fill('has left');
  await page.keyboard.press('Enter');
  await page.getByText('6 of 9 people would be removed from Engineering on the platform.').waitFor();
  expect(await statusOf(page, '/api/pause?connection=default', 'POST')).toBe(403);
  await page.goto(new URL('/c/default/groups/g1', page.url()).href);
  const pause = page.getByRole('button', {
    name: /^Pause .*needs the role operator; your role is approver/,
  });
  await pause.focus();
  await page.keyboard.press('Enter');
  expect(await page.getByRole('dialog').count()).toBe(0);
  const entries = [];
  for await (const found of tool.ports.audit.read({ connection: DEFAULT_CONNECTION, group: 'g1' as never }))
    entries.push(...found);
  expect(entries.find(({ action }) => action === 'holds_approve')?.actor).toEqual({
    kind: 'operator',
    id: 'console:approver@acme.example',
  });
});

it('a user with roles for several connections sees the items of all of them on one page, and can switch', async () => {
  const { find, save } = tool.ports.connections;
  const known = await find(DEFAULT_CONNECTION);
  if (known === undefined) throw new Error('no connection');
  await save({ ...known, name: connectionName('other') });
  const { page } = await signIn('approver', '/');
  await page.getByRole('heading', { name: '1 item needs attention' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Review removals: 6 people would leave Engineering' }).click();
  await page.getByRole('heading', { name: 'Hold of Engineering' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/c/default/holds/g1');
  await page.getByRole('combobox', { name: 'Connection' }).selectOption('other');
  await page.getByRole('heading', { name: 'No event received from the directory yet.' }).waitFor();
  await page.getByRole('combobox', { name: 'Connection' }).selectOption('All connections');
  await page.getByRole('link', { name: 'Open other' }).waitFor();
  await page.setViewportSize({ width: 1_280, height: 900 });
  await page.getByRole('combobox', { name: 'Connection' }).selectOption('default');
  const boxOf = (name: RegExp) => page.getByRole('navigation').getByRole('link', { name }).boundingBox();
  const [first, last] = [await boxOf(/^Home/), await boxOf(/^Connection/)];
  expect(last?.y).toBe(first?.y);
  await expectAccessible(page);
  await page.getByRole('combobox', { name: 'Connection' }).selectOption('All connections');
  await tool.ports.connections.remove(connectionName('other'));
  await page.waitForURL('**/c/default');
});

it('the link of a notification leads to the hold, and approving takes two clicks after the sign-in', async () => {
  const { origin } = new URL(login.url);
  const held = { subject: 'hold', count: 1, sinceMs: 0, names: ['Engineering'], groups: ['g1'] } as const;
  const link = noticeOf(held, { prefix: 'groupsync', consoleUrl: origin }, DEFAULT_CONNECTION).at(-1) ?? '';
  const { page } = await signIn('approver', link.slice(origin.length));
  expect(page.url()).toBe(link);
  await page.evaluate('window.clicks = 0; addEventListener("click", () => (clicks += 1))');
  await page.getByRole('button', { name: 'Approve all 6 removals' }).click();
  await page.getByRole('dialog').getByLabel('Reason').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('has left');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve all 6 removals' }).click();
  await page.getByText('No removals of this group are held.').waitFor();
  expect(await page.evaluate('clicks')).toBe(2);
});

it('after the session has ended, the page keeps its content, and the next sign-in reads the current roles', async () => {
  const { context, page } = await signIn('operator', '/c/default/groups');
  await page.getByRole('link', { name: 'Engineering' }).waitFor();
  const session = (await context.cookies()).find(({ name }) => name.endsWith('groupsync-session'));
  expect(session).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' });
  expect(await statusOf(page, '/api/resume?connection=default', 'POST')).toBe(400);
  accounts.set('operator', { groups: ['groupsync-viewer'] });
  await sessions.end(hashOf(session?.value ?? ''));
  expect(await statusOf(page, '/api/home?connection=default')).toBe(401);
  await page.getByRole('searchbox').fill('eng');
  await page.getByRole('alert').getByText('Your sign-in has ended.').waitFor();
  await page.getByRole('link', { name: 'Sign in again' }).click();
  await page.getByText('operator@acme.example').waitFor();
  expect(new URL(page.url()).pathname).toBe('/c/default/groups');
  expect(await statusOf(page, '/api/resume?connection=default', 'POST')).toBe(403);
});

it('an administrator sees who is signed in, and ends all sessions of a person', async () => {
  const viewers = [await signIn('viewer', '/c/default'), await signIn('viewer', '/c/default/connection')];
  const [first, second] = viewers.map(({ page }) => page) as [Page, Page];
  await second.getByRole('heading', { name: 'Connection default' }).waitFor();
  expect(await second.getByText('People who are signed in').count()).toBe(0);
  expect(await statusOf(second, '/api/sessions?connection=default')).toBe(403);
  const { page } = await signIn('administrator', '/c/default/connection');
  await page.getByRole('heading', { name: 'People who are signed in' }).waitFor();
  await page.getByText('administrator@acme.example (you)').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'End sessions: viewer@acme.example' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'End all sessions of viewer@acme.example?' });
  await dialog.getByRole('button', { name: 'End sessions' }).click();
  await page.getByText('Ended.', { exact: true }).waitFor();
  await page.getByText('viewer@acme.example', { exact: true }).first().waitFor({ state: 'detached' });
  for (const ended of [first, second])
    expect(await statusOf(ended, '/api/home?connection=default')).toBe(401);
});

it('a check that the console cannot run is shown as not run, with the reason', async () => {
  const { page } = await signIn('administrator', '/c/default/connection');
  await page.getByRole('button', { name: 'Run checks' }).click();
  await page.getByText(/ 1 check not run\.$/).waitFor();
  const left = page.getByRole('listitem').filter({ hasText: 'not run: only a person with AWS credentials' });
  expect(await left.locator('b').allTextContents()).toEqual(['deployment']);
  expect(await page.locator('details').getByText('AWS credentials').count()).toBe(0);
});
