import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { loadPage } from '../../console/local/page.ts';
import { serveConsole } from '../../console/local/serve.ts';
import { openBrowser } from './support/browser.ts';

const TOKEN = 'the-token-of-this-console';
const CODE = 'the-code-of-the-address';
const NO_CODE = 'The address has no valid code';

let served: Awaited<ReturnType<typeof serveConsole>>;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let context: BrowserContext;
let tab: Page;

async function handle(request: Request): Promise<Response> {
  if (request.url.includes('/api/live')) return new Response(': here\n\n');
  return Response.json({ groups: [], found: 0, total: 0, states: {} });
}

beforeAll(async () => {
  const page = await loadPage();
  served = await serveConsole({ port: 0, token: TOKEN, code: CODE, page, handle, clock: Date.now });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await served.close();
});
beforeEach(async () => {
  context = await browser.newContext();
  tab = await context.newPage();
  return () => context.close();
});

const printed = () => served.urlOf('default');
const groups = () => new URL('/c/default/groups', printed()).href;
const isOpen = (page: Page) => page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();

/** Returns all addresses in the browser's history of a tab. */
async function historyOf(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  return entries.flatMap(({ url, userTypedURL }) => [url, userTypedURL]);
}

it('the page removes the code from its address, and no link or entry of the history has the code or the token', async () => {
  await tab.goto(`${groups()}#${CODE}`);
  await isOpen(tab);
  await tab.getByRole('link', { name: 'Groups', exact: true }).click();
  await tab.goto(`${groups()}?state=failed#${CODE}`);
  await isOpen(tab);
  await tab.goBack();
  await isOpen(tab);
  expect(new URL(tab.url()).hash).toBe('');
  const links = await tab
    .getByRole('link')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links.length).toBeGreaterThan(5);
  for (const address of [...(await historyOf(tab)), ...links]) {
    expect(address).not.toContain(TOKEN);
    expect(address).not.toContain(CODE);
  }
});

it('a reload, a second tab and an address without the code work only in the browser that used the code', async () => {
  await tab.goto(`${groups()}#${CODE}`);
  await isOpen(tab);
  await tab.reload();
  await isOpen(tab);
  const second = await context.newPage();
  await second.goto(groups());
  await isOpen(second);
  // This token belongs to a console that no longer runs.
  await second.evaluate("localStorage.setItem('token', 'old')");
  await second.reload();
  await second.getByText(NO_CODE).waitFor();
  const other = await browser.newContext();
  const stranger = await other.newPage();
  await stranger.goto(groups());
  await stranger.getByText(NO_CODE).waitFor();
  await other.close();
});

it('the printed address can be pasted into an open tab, and the page removes the code from it', async () => {
  await tab.goto(`${groups()}#${CODE}`);
  await isOpen(tab);
  await tab.goto(`${groups()}#${CODE}`);
  await isOpen(tab);
  await expect.poll(() => new URL(tab.url()).hash).toBe('');
  expect((await historyOf(tab)).filter((address) => address.includes(CODE))).toEqual([]);
});
