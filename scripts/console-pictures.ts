import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { LocalFile } from '../local/local-file.ts';
import { openBrowser } from '../test/console/support/browser.ts';

/**
 * Takes the screenshots of docs/console.md from the example company on the local stack (`npm run docs:pictures`). With
 * --all, the script also takes each page at widths of 390 and 1,280 pixels, in light and dark colours.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, '.groupsync', 'pictures');
const isAll = process.argv.includes('--all');
const TARGET = join(ROOT, isAll ? '.groupsync/pictures/shown' : 'docs/pictures');

const GROUP = '00g7acme574';
const PERSON = '00u7acme0020';
const PAGES = {
  home: '',
  ...(isAll && { holds: '/holds', people: '/people' }),
  'platform-groups': '/platform-groups',
  hold: `/holds/${GROUP}`,
  groups: '/groups',
  group: '/groups/00g7acme452',
  person: `/people/${PERSON}`,
  activity: '/activity',
  'dead-letters': '/dead-letters',
  connection: '/connection',
} as const;

let count = 0;
function event(type: string, data: object): string {
  count += 1;
  const time = new Date().toISOString();
  const named = { id: `okta-${4_700 + count}`, source: 'okta/acme', sequence: String(count) };
  return JSON.stringify({ specversion: '1.0', ...named, type: `directory.${type}`, time, data });
}

async function send(file: LocalFile, bodies: readonly string[]): Promise<void> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const sqs = new SQSClient({ region: file.region, endpoint: file.sqs, credentials });
  const Entries = bodies.map((MessageBody, n) => ({ Id: String(n), MessageBody }));
  await sqs.send(new SendMessageBatchCommand({ QueueUrl: file.eventsQueueUrl, Entries }));
  sqs.destroy();
}

const JSON_TYPE = { 'content-type': 'application/json' };
const UNWRITTEN = { id: '00g7acme900', name: 'Fire wardens' };

/** Creates unmanaged platform groups, and a paused directory group with the name of one of them. */
async function makeUnmanaged(file: LocalFile): Promise<void> {
  const headers = { ...JSON_TYPE, authorization: `Bearer ${file.platformToken}` };
  for (const name of [UNWRITTEN.name, 'Board of directors', 'Interns 2025']) {
    const body = JSON.stringify({ name, users: [] });
    await fetch(`${file.platform}/platform/api/groups`, { method: 'POST', headers, body });
  }
  const member = { id: '00u7acme0003' };
  await send(file, [event('group.member.added', { group: { id: UNWRITTEN.id }, members: [member] })]);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const pause = [
    '--local-file',
    relative(ROOT, localFile),
    'pause',
    UNWRITTEN.id,
    '--reason',
    'adopt first',
    '--yes',
  ];
  spawnSync(process.execPath, ['cli/groupsync.mjs', ...pause], { cwd: ROOT, stdio: 'inherit' });
  await send(file, [event('group.upserted', { group: UNWRITTEN })]);
}

async function started(args: readonly string[], pattern: RegExp) {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        if (pattern.test(output)) resolve();
      });
    }
    child.on('close', () => reject(new Error(output)));
  });
  return { output, stop: () => void child.kill() };
}

/** The pattern does not match the addresses in Node's warnings. */
const ADDRESS = /http:\/\/127\S+/;

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
mkdirSync(TARGET, { recursive: true });
const localFile = join(FOLDER, 'local.json');
const start = ['--import', 'tsx', 'local/start.ts', '--local-file', localFile, '--no-console'];
const stack = await started(start, /Ctrl-C/);
const file = LocalFile.parse(JSON.parse(readFileSync(localFile, 'utf8')));
const page = await started(
  ['cli/groupsync.mjs', '--local-file', relative(ROOT, localFile), 'console', '--no-open'],
  ADDRESS,
);
const [url = ''] = ADDRESS.exec(page.output) ?? [];
await makeUnmanaged(file);
await new Promise((resolve) => setTimeout(resolve, 5_000));
const browser = await openBrowser();
const sizes = isAll ? [390, 1_280] : [1_280];
for (const width of sizes) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      viewport: { width, height: width < 600 ? 900 : 860 },
      colorScheme,
    });
    const tab = await context.newPage();
    for (const [name, path] of Object.entries(PAGES)) {
      if (!isAll && colorScheme === 'dark' && name !== 'home') continue;
      const [origin, token] = url.split('#');
      await tab.goto(`${origin}${path}#${token}`);
      await tab.getByRole('heading', { level: 1 }).waitFor();
      if (name === 'connection') {
        await tab.getByRole('button', { name: 'Run checks' }).click();
        await tab.getByRole('button', { name: 'Run checks again' }).waitFor();
      }
      if (name === 'person')
        await tab
          .getByRole('button', { name: /^Explain/ })
          .first()
          .click();
      await tab.waitForTimeout(1_500);
      // On a busy machine, a part of the page may still be loading.
      for (const part of await tab.locator('.skeleton').all()) await part.waitFor({ state: 'detached' });
      const darkSuffix = colorScheme === 'dark' ? '-dark' : '';
      const suffix = isAll ? `-${width}-${colorScheme}` : darkSuffix;
      await tab.screenshot({ path: join(TARGET, `${name}${suffix}.png`) });
    }
    await context.close();
  }
}
await browser.close();
page.stop();
stack.stop();
console.log(`pictures are in ${TARGET}`);
process.exit();
