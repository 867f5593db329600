import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { LocalFile } from '../local/local-file.ts';
import { seededRandom } from '../local/platform/seeded-random.ts';

/**
 * Moves groups of the local stack from events to SCIM and back. Meanwhile, `kill -9` ends the stack and the command at
 * random times. Fails unless the platform then has the same groups with the same ids, names and members.
 */
const { values } = parseArgs({
  options: {
    groups: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '10' },
    seed: { type: 'string', default: 'takeover' },
  },
});
const [groups, kills] = [Number(values.groups), Number(values.kills)];
const random = seededRandom(values.seed);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'takeover-check-'));
const at = (name: string) => join(folder, name);
const PEOPLE = Array.from({ length: 20 }, (_, n) => n);
const GROUPS = Array.from({ length: groups }, (_, n) => n);
const mailOf = (person: number) => `p${person}@acme.test`;
const membersOf = (group: number) => [0, 1, 2].map((n) => (group + n * 7) % PEOPLE.length);

const employees = PEOPLE.map((n) => ({ id: `r${n}`, userId: `u${n}`, name: `P ${n}`, workEmail: mailOf(n) }));
const credentials = [{ token: 'token-of-acme', kind: 'oauth_app', company: 'acme' }];
const companies = [{ id: 'acme', name: 'Acme', employees }];
writeFileSync(at('world.json'), JSON.stringify({ companies, credentials }));
const events = GROUPS.map((n) => ({
  specversion: '1.0',
  id: `e${n}`,
  source: 'check',
  type: 'directory.group.snapshot',
  time: new Date(Date.now() - 60_000).toISOString(),
  data: {
    group: { id: `okta-${n}`, name: `Group ${n}` },
    members: membersOf(n).map((person) => ({ id: `m${person}`, email: mailOf(person) })),
  },
}));
writeFileSync(at('events.jsonl'), events.map((event) => JSON.stringify(event)).join('\n'));

function start(args: readonly string[], text = '') {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk;
  });
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { exit, kill: () => child.kill('SIGKILL'), errors: () => `${text} ${errors}` };
}

async function startStack(more: readonly string[] = ['--empty']) {
  rmSync(at('local.json'), { force: true });
  const files = ['--world', at('world.json'), '--data', at('data'), '--local-file', at('local.json')];
  const stack = start(['scripts/start.mjs', '--no-console', '--setting', 'guard=null', ...files, ...more]);
  while (!existsSync(at('local.json'))) await wait(50);
  return stack;
}

const local = (): LocalFile => JSON.parse(readFileSync(at('local.json'), 'utf8'));
const command = (...args: readonly string[]) =>
  start(['cli/groupsync.mjs', '--local-file', at('local.json'), ...args, '--yes'], args.join(' '));

interface PlatformGroup {
  readonly id: string;
  readonly name: string;
  readonly spokeId: string | null;
  readonly users: readonly string[];
}

async function platformGroups(): Promise<readonly PlatformGroup[]> {
  const state = await (await fetch(`${local().platform}/_simulator/state`)).json();
  return (state as { companies: { groups: PlatformGroup[] }[] }).companies[0]?.groups ?? [];
}

const shown = (all: readonly PlatformGroup[]) =>
  JSON.stringify(all.map(({ id, name, users }) => [id, name, [...users].sort()]).sort());

async function until(isDone: (all: readonly PlatformGroup[]) => boolean, what: string): Promise<void> {
  for (let second = 0; second < 3_600; second += 1) {
    if (isDone(await platformGroups())) return;
    await wait(1_000);
  }
  throw new Error(`${what}: not reached within an hour`);
}

async function send(path: string, body: unknown): Promise<string> {
  const headers = { authorization: `Bearer ${local().scimToken}`, 'content-type': 'application/scim+json' };
  const answer = await fetch(`${local().scim}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: expected 201, got ${answer.status} ${await answer.text()}`);
  return String(((await answer.json()) as { id: string }).id);
}

/** Runs the takeover with kills, and then until no group is left to move. */
async function takeOver(to: string, stack: Awaited<ReturnType<typeof startStack>>) {
  let running = stack;
  for (let kill = 0; kill < kills; kill += 1) {
    const taking = command('directory', 'takeover', '--to', to);
    await wait(500 + random.below(3_000));
    if (kill % 3 !== 0) taking.kill();
    if (kill % 3 !== 1) {
      running.kill();
      await running.exit;
      running = await startStack();
    }
    taking.kill();
    await taking.exit;
  }
  for (;;) {
    const taking = command('directory', 'takeover', '--to', to);
    if ((await taking.exit) === 0) break;
    console.log(taking.errors());
    await wait(5_000);
  }
  for (;;) {
    const resuming = command('resume', '--no-wait');
    if ((await resuming.exit) === 0) return running;
    console.log(resuming.errors());
    await wait(5_000);
  }
}

let stack = await startStack(['--events', at('events.jsonl')]);
try {
  await until((all) => all.length === groups && all.every(({ users }) => users.length === 3), 'first load');
  const before = shown(await platformGroups());
  // A worker may decide about a creation with a list that is a minute old.
  await wait(70_000);
  const users: string[] = [];
  for (const n of PEOPLE)
    users.push(await send('/Users', { userName: mailOf(n), emails: [{ value: mailOf(n), primary: true }] }));
  for (const n of GROUPS) {
    const members = membersOf(n).map((person) => ({ value: users[person] }));
    await send('/Groups', { displayName: `Group ${n}`, members });
  }
  for (const to of ['scim', 'events']) {
    stack = await takeOver(to, stack);
    const isOfNew = ({ spokeId }: PlatformGroup) => spokeId?.startsWith('okta-') === (to === 'events');
    await until((all) => all.every(isOfNew), `external ids after the takeover to ${to}`);
    if (shown(await platformGroups()) !== before)
      throw new Error(
        `the takeover to ${to} changed the platform groups:\n${before.slice(0, 900)}\n${shown(await platformGroups()).slice(0, 900)}`,
      );
    console.log(`${groups} groups moved to ${to}: same ids, names and members`);
  }
} finally {
  stack.kill();
  rmSync(folder, { recursive: true, force: true });
}
