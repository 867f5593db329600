import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Entry, GroupLine, HeldPerson, Home } from '../../console/answers.ts';
import { loadPage } from '../../console/local/page.ts';
import { serveConsole } from '../../console/local/serve.ts';
import { groupId } from '../../shared/domain/ids.ts';
import { openBrowser } from './support/browser.ts';

/* The page shows more data than any company has. The server answers immediately, so only the page can be slow. */

const GROUPS = 10_000;
const LEAVERS = 5_000;
const LINES = 100_000;
const LONGEST_TASK_MS = 100;
/** The limit allows for other load on the machine. A page that renders every row takes seconds. */
const LONGEST_UNDER_LOAD_MS = 400;
const at = new Date(0).toISOString();

const group = (n: number): GroupLine => ({
  ...{ id: groupId(`g${n}`), name: `Group ${n}`, state: 'in_sync', held: false, waitingSince: null },
  ...{
    wanted: n,
    platform: n,
    pending: 0,
    lastWriteAt: at,
    lastError: null,
    waiting: null,
    source: 'events',
  },
});
const leaver = (n: number): HeldPerson => ({
  ...{ id: `m${n}`, name: `Person ${n}`, email: `p${n}@acme.test`, user: `u${n}`, department: null },
  cause: 0,
});
const LONG_NAMED = {
  id: 'm1',
  name: 'Maximiliana Wolfeschlegelsteinhausenbergerdorff von und zu Hohenzollern-Sigmaringen',
  email: null,
};
const line = (n: number): Entry => ({
  ...{ id: `${at}#${n}`, part: 0, at },
  actor: { kind: 'groupsync', id: 'groupsync', name: null, arn: null },
  action: 'patch',
  ...{ group: `g${n}`, groupName: `Group ${n}`, cause: 'event', outcome: 'written', version: null },
  changes: ['m1', 'm2', 'm3', 'm4'].map((member) => ({
    ...{ kind: 'remove_member', member, before: member, after: null, reason: 'the directory took them out' },
    ...{ cause: `event e${n} of hr`, event: { id: `e${n}`, at }, approved: null },
    actor: { kind: 'directory', id: 'hr-import', name: null, arn: null },
  })),
  ...{ changeCount: 4, waitedMs: null },
  people: { m1: LONG_NAMED, m2: { ...LONG_NAMED, id: 'm2' } },
});
const many = <Item>(count: number, one: (n: number) => Item, from = 0): Item[] =>
  Array.from({ length: count }, (_, n) => one(from + n));
const DRIFT = {
  kind: 'members_added',
  initiator: 'ROLE',
  actor: undefined,
  detectedAt: at,
  name: null,
} as const;
const HOLD = {
  group: 'g1',
  removes: LEAVERS,
  keeps: 1,
  share: 1,
  digest: 'd',
  rule: 'count',
  decision: 'waiting',
  createdAt: at,
  expiresAt: at,
  by: null,
  reason: null,
};

const HOME: Home = {
  at,
  company: 'Acme',
  observing: false,
  status: {
    groups: { in_sync: GROUPS, held: 40, failed: 4 },
    gate: { state: 'open', reason: null },
    backlog: 0,
    failingCalls: [],
    credential: { failure: null },
  } as never,
  holds: many(40, (n) => ({
    ...HOLD,
    rule: 'count',
    decision: 'waiting',
    group: `g${n}`,
    name: null,
    removes: 10,
  })),
  failed: many(4, group),
  causes: [],
  drift: many(6, (n) => ({ ...DRIFT, group: `g${n % 2}` })),
  unmatched: [],
  unmatchedTotal: 0,
  acknowledged: [],
  activity: [{ ...line(1), cause: 'event e1 of okta', version: 'v-secret' }],
  charts: {
    writes: many(24, (n) => n),
    lag: many(96, (n) => n),
    trends: { waiting: [], held: [], failed: [], pending: [] },
  },
};

let shownHome = HOME;
const ANSWERS: Readonly<Record<string, (from: number, count: number) => unknown>> = {
  groups: (from, count) => ({
    rows: many(Math.min(count, GROUPS - from), group, from),
    found: GROUPS,
    total: GROUPS,
    states: { in_sync: GROUPS },
  }),
  hold: () => ({
    group: 'g1',
    name: 'Everyone',
    hold: HOLD,
    others: [],
    decided: [],
    causes: [
      {
        because: 'a later snapshot of the group does not list them',
        count: LEAVERS,
        event: 'e1',
        source: 'test',
        at,
        by: null,
      },
    ],
    leaving: many(LEAVERS, leaver),
    staying: [],
  }),
  activity: (from, count) => ({ entries: many(count, line, from), found: LINES, isCut: false }),
  home: () => shownHome,
};

async function handle(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (request.method === 'POST') return new Response('{}');
  if (pathname === '/api/live') return new Response(': here\n\n');
  const span = [Number(searchParams.get('from')), Number(searchParams.get('count') ?? 100)] as const;
  return Response.json(ANSWERS[pathname.replace('/api/', '')]?.(...span));
}

let served: Awaited<ReturnType<typeof serveConsole>>;
let browser: Awaited<ReturnType<typeof openBrowser>>;
beforeAll(async () => {
  served = await serveConsole({ port: 0, token: 't', code: 'c', page: await loadPage(), handle });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await served.close();
});

type Tab = Awaited<ReturnType<typeof browser.newPage>>;

/**
 * Returns the longest time for which the page was busy. The smallest value of several tries counts, because other load
 * on the machine slows single tries.
 */
async function longestTask(path: string, act: (page: Tab) => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && least >= LONGEST_TASK_MS; tries += 1) {
    least = Math.min(least, await longestOnce(path, act));
  }
  return least;
}

async function longestOnce(path: string, act: (page: Tab) => Promise<void>): Promise<number> {
  const page = await browser.newPage();
  await page.addInitScript(
    `window.longest = 0;
     new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => {
       window.longest = Math.max(window.longest, duration);
     })).observe({ type: 'longtask', buffered: true });`,
  );
  const url = new URL(served.urlOf('default'));
  await page.goto(`${url.origin}/c/default${path}${url.hash}`);
  await act(page);
  const longest = await page.evaluate('window.longest');
  await page.close();
  return Number(longest);
}

const toTheEnd = 'scrollTo(0, document.documentElement.scrollHeight)';

async function opened(path: string): Promise<Tab> {
  const page = await browser.newPage();
  const url = new URL(served.urlOf('default'));
  await page.goto(`${url.origin}/c/default${path}${url.hash}`);
  return page;
}

it('Home shows many items of one kind as one row with their number, and ids only behind Details', async () => {
  const page = await opened('');
  await page.getByRole('link', { name: 'View holds: 40 holds wait for a decision' }).waitFor();
  await page.getByText('400 removals in all.').waitFor();
  expect(await page.getByRole('link', { name: /was changed on the platform and left as is/ }).count()).toBe(
    2,
  );
  const failed = page.getByRole('link', {
    name: /^View groups: The platform refused the writes of 4 groups/,
  });
  expect(await failed.getAttribute('href')).toContain('/groups?state=failed');
  await page.getByRole('img', { name: '276 writes, at most 23 in one hour' }).waitFor();
  expect(await page.getByText('v-secret').count()).toBe(0);
  await page.getByRole('button', { name: /^View details: Group 1/ }).click();
  await page.getByText('v-secret').waitFor();
  await page.close();
});

it('while the platform is down, Home shows what waits and when it is tried again, and hours without data are gaps', async () => {
  const until = new Date(Date.now() + 10 * 60_000).toISOString();
  const gate = { state: 'backoff', reason: '503', contact: null, until };
  const status = { ...HOME.status, gate, backlog: 7, oldestUnappliedMs: 600_000 } as never;
  const charts = { ...HOME.charts, writes: many(24, (n) => (n < 20 ? n : null)) };
  shownHome = { ...HOME, status, charts };
  const page = await opened('');
  const outage = page.getByRole('status').filter({ hasText: '7 groups wait for the platform' });
  await outage.getByText('7 groups wait for the platform, the oldest for 10 min.').waitFor();
  await outage.getByText(/groupsync tries again in .*10 min/).waitFor();
  const writes = page.getByRole('img', { name: '190 writes, at most 19 in one hour' });
  expect(await writes.locator('.gap').count()).toBe(4);
  await page.close();
  shownHome = HOME;
});

it.each(['', '/activity'])('at a width of 390 px, a line on the page “%s” shows its verb', async (path) => {
  const page = await opened(path);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByText('left').first().waitFor();
  const [sentence, verb] = (await page.evaluate(
    `(() => {
         const line = [...document.querySelectorAll('.entry > p, .sentence')].find((one) => / left /.test(one.textContent));
         const range = document.createRange();
         const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT, (node) =>
           node.data.includes('left') ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
         const node = walker.nextNode();
         const from = node.data.indexOf('left');
         range.setStart(node, from);
         range.setEnd(node, from + 4);
         return [line, range].map((one) => { const { bottom, right } = one.getBoundingClientRect(); return { bottom, right }; });
       })()`,
  )) as { bottom: number; right: number }[];
  expect(verb?.bottom).toBeLessThanOrEqual((sentence?.bottom ?? 0) + 1);
  expect(verb?.right).toBeLessThanOrEqual(390);
  await page.close();
});

it('a list keeps its place when the operator opens a row and goes back', async () => {
  const page = await opened('/groups');
  await page.getByRole('link', { name: 'Group 1', exact: true }).waitFor();
  await page.evaluate('scrollTo(0, 20_000)');
  await page.getByRole('link', { name: 'Group 410', exact: true }).click();
  await page.getByRole('heading', { level: 1 }).waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('link', { name: 'Group 410', exact: true }).waitFor();
  expect(await page.evaluate('scrollY')).toBe(20_000);
  await page.close();
});

it('the page is at most 100 KB, compressed', async () => {
  const files = Object.values(await loadPage()).map(({ body }) => gzipSync(body).byteLength);
  expect(files.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(100_000);
});

it('a list of 10,000 groups scrolls to its end without a pause', async () => {
  const longest = await longestTask('/groups', async (page) => {
    await page.getByText('Group 0', { exact: true }).waitFor();
    await page.evaluate(toTheEnd);
    await page.getByText('Group 9999', { exact: true }).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(100);
  });
  expect(longest).toBeLessThan(LONGEST_UNDER_LOAD_MS);
});

it('a hold of 5,000 people is searched without a pause', async () => {
  const longest = await longestTask('/holds/g1', async (page) => {
    await page.getByText('Person 0', { exact: true }).waitFor();
    await page.getByRole('searchbox').first().fill('p4999@');
    await page.getByText('Person 4999', { exact: true }).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(100);
  });
  expect(longest).toBeLessThan(LONGEST_UNDER_LOAD_MS);
});

it('100,000 entries of activity are read to the end without a pause', async () => {
  const longest = await longestTask('/activity', async (page) => {
    await page.getByText('100,000 entries').waitFor();
    await page.evaluate(toTheEnd);
    await page.getByText('Group 99999', { exact: true }).waitFor();
  });
  expect(longest).toBeLessThan(LONGEST_UNDER_LOAD_MS);
});

it('an address with invalid percent-encoding opens the page Not found', async () => {
  const page = await opened('/%E0%A4%A');
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.close();
});
