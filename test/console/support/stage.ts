import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished, vi } from 'vitest';
import { describeError } from '../../../cli/describe-error.ts';
import { localTarget } from '../../../cli/local-file.ts';
import { loadPage } from '../../../console/local/page.ts';
import { serveConsole } from '../../../console/local/serve.ts';
import { createHandle } from '../../../console/server/handle.ts';
import { wireTool } from '../../../shared/runtime/wire-tool.ts';
import { type LocalStackOptions, startLocalStack } from '../../support/local-stack.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { openBrowser } from './browser.ts';

const TOKEN = 'a-token-for-the-page';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Starts the local stack and the console, and a browser that opens the console's pages. */
export async function openStage(options: Pick<LocalStackOptions, 'world' | 'settings'>) {
  const local = await startLocalStack({ ...options, pumpSeconds: 1, batchingWindowSeconds: 0 });
  const tool = await wireTool({ ...localTarget(local.stack.address), user: 'ada' });
  const describe = (error: unknown) => describeError(error).text;
  const handle = createHandle({
    prefix: 'groupsync',
    ports: tool.ports,
    describe,
    formatCommands: (text) => `${text} (pasted)`,
  });
  const serve = async (port: number) =>
    serveConsole({ port, token: TOKEN, code: TOKEN, page: await loadPage(), handle });
  let served = await serve(0);
  const port = Number(new URL(served.urlOf('default')).port);
  const browser: Browser = await openBrowser();
  return {
    ...local,
    port,
    ports: tool.ports,
    /** Returns the sorted user ids of the platform's group with this name. */
    async platformUsers(name: string): Promise<readonly string[]> {
      type State = { companies: { groups: { name: string; users: string[] }[] }[] };
      const { companies } = (await local.control('state')) as State;
      return [...(companies[0]?.groups.find((group) => group.name === name)?.users ?? [])].sort();
    },
    open: (path: string, context: BrowserContextOptions = {}) =>
      openPage(browser, `http://127.0.0.1:${port}/c/default${path}`, context),
    restart: async () => {
      served = await serve(port);
    },
    stopServer: () => served.close(),
    async stop() {
      await browser.close();
      await served.close();
      await tool.close();
      await local.stop();
    },
  };
}

async function openPage(browser: Browser, url: string, context: BrowserContextOptions) {
  const opened = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context });
  // Close the page first, because an open page keeps sending requests to the server.
  onTestFinished(() => opened.close());
  const page = await opened.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.setDefaultTimeout(PATIENCE_MS);
  // With the code in its address, the page would load twice (see address.e2e.test.ts).
  await page.addInitScript(`localStorage.setItem('token', '${TOKEN}')`);
  await page.goto(url);
  await page.locator('h1').first().waitFor();
  return { page, errors };
}

/** Expects no accessibility violation that axe finds, and no content wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  // A page that is still loading has no heading.
  await page.locator('h1').first().waitFor({ state: 'attached' });
  // The page's policy allows only its own scripts, so the test runs axe through the debugger.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  const violations = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  );
  expect(violations).toEqual([]);
  await expectFitting(page);
}

/** Expects no content wider than the window. After a change of the window's size, rows are drawn again. */
export const expectFitting = (page: Page) =>
  expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    .toBeLessThanOrEqual(0);

export const eventually = (look: () => Promise<boolean>) =>
  vi.waitUntil(look, { timeout: PATIENCE_MS, interval: 100 });
