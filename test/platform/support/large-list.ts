import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Agent, type Dispatcher } from 'undici';
import { createRig } from '../../../bench/memory/rig.ts';
import { sweep } from '../../../shared/sync/reconcile/sweep.ts';

/*
 * Measures a sweep over a list of groups that a process of its own sends while it creates it:
 *
 *   node --max-old-space-size=921 --import tsx test/platform/support/large-list.ts 3000000
 *
 * The argument is the number of memberships. Each group has 100 users of 500,000, and ids as long as those of the
 * specification's examples. V8 gets nine tenths of the memory of the function `reconcile`.
 */

const USERS_OF_A_GROUP = 100;
const USERS = 500_000;
const ID_DIGITS = 24;

const idOf = (n: number) => (n % USERS).toString(16).padStart(ID_DIGITS, '6');

function* listOf(memberships: number) {
  for (let n = 0; n < memberships / USERS_OF_A_GROUP; n += 1) {
    const users = Array.from({ length: USERS_OF_A_GROUP }, (_, at) => idOf(n * 131 + at * 7_919));
    const group = { id: `g${n}`, name: `Group ${n}`, spokeId: `d${n}`, users, version: `v${n}` };
    yield `${n === 0 ? '[' : ','}${JSON.stringify(group)}`;
  }
  yield ']';
}

function serve(memberships: number): void {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    pipeline(listOf(memberships), response).catch(() => {});
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function measure(memberships: number): Promise<void> {
  const server = fork(fileURLToPath(import.meta.url), [`${memberships}`, 'serve'], {
    execArgv: ['--import', 'tsx'],
  });
  const [port] = await once(server, 'message');
  const rig = await createRig({ coalesceSeconds: 5, people: 1 });
  const agent = new Agent();
  const { dispatcher } = rig.platform;
  const inMemory = dispatcher.request.bind(dispatcher);
  // Only the list comes from the server. The platform in memory answers all other requests.
  const request = (sent: Dispatcher.RequestOptions) =>
    sent.path === '/platform/api/groups'
      ? agent.request({ ...sent, origin: `http://127.0.0.1:${port}` })
      : inMemory(sent);
  Object.assign(dispatcher, { request });
  const startedMs = performance.now();
  const before = process.cpuUsage();
  const { report } = await sweep(rig.connection, rig.ports);
  const { user, system } = process.cpuUsage(before);
  const figures = {
    memberships,
    seconds: (performance.now() - startedMs) / 1_000,
    processorSeconds: (user + system) / 1e6,
    peakMb: process.resourceUsage().maxRSS / 1_024,
    unsearchedUsers: report.unsearchedUsers,
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  server.kill();
  await agent.close();
}

const [memberships = '3000000', role] = process.argv.slice(2);
if (role === 'serve') serve(Number(memberships));
else await measure(Number(memberships));
