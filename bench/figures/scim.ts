import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pMap from 'p-map';
import { Agent, type Dispatcher } from 'undici';
import { z } from 'zod';
import { GROUP_SCHEMA } from '../../shared/scim/protocol/schemas/group.ts';
import { NAMED_USER } from '../../shared/scim/protocol/schemas/user.ts';
import { type Figure, PAIRED_RUNS, percentile, showSpread, spreadOf, table } from '../figure.ts';

const USERS = 2_000;
const GROUPS = 100;
const MEMBERS = 200;
const AT_ONCE = 8;
const PER_SECOND = 100;
const SECONDS = 20;
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const LARGE = 20_000;
const REMOVED = 256;
/** Packages of the compared server. They have their own folder, because groupsync does not depend on them. */
const PEER = ['scimmy@1.3.5', 'scimmy-routers@1.3.2', 'express@5.3.0'];
const Started = z.object({ url: z.string(), tokens: z.array(z.string()) });
const Replayed = z.object({ calls: z.number(), ms: z.number() });
const Resource = z.looseObject({ id: z.string() });

async function start(file: string, args: readonly string[] = []) {
  const script = fileURLToPath(new URL(`../emulated/${file}`, import.meta.url));
  const child = fork(script, [...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { url, tokens } = Started.parse(await message(child));
  const { origin, pathname } = new URL(url);
  const agent = new Agent({ connections: 64, headersTimeout: 0, bodyTimeout: 0 });
  let sent = 0;
  const send = async (method: Dispatcher.HttpMethod, path: string, body?: object) => {
    sent += 1;
    const authorization = `Bearer ${tokens[sent % tokens.length]}`;
    const answer = await agent.request({
      origin,
      path: pathname + path,
      method,
      headers: { authorization, 'content-type': 'application/scim+json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path.slice(0, 60)}: ${answer.statusCode}`);
    return text;
  };
  const ask = async (what: 'record' | 'replay') => {
    child.send(what);
    return Replayed.parse(await message(child));
  };
  return { send, ask, cpuMs: () => cpuMsOf(child.pid ?? 0), stop: () => void child.kill() };
}
type Server = Awaited<ReturnType<typeof start>>;

/** Returns the processor time of the first thread of a process in milliseconds; NaN if the system is not Linux. */
function cpuMsOf(pid: number): number {
  try {
    const [runNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(runNs) / 1_000_000;
  } catch {
    return Number.NaN;
  }
}

const message = (child: ChildProcess) =>
  new Promise<unknown>((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });

const user = (name: string) => ({
  schemas: [NAMED_USER.id],
  userName: `${name}@bench.test`,
  externalId: `x-${name}`,
  active: true,
  emails: [{ value: `${name}@bench.test`, type: 'work', primary: true }],
});
const range = (length: number) => Array.from({ length }, (_, n) => n);

/** Creates the same users and groups on each server. Returns the requests of an identity provider by kind. */
async function prepare({ send }: Server) {
  const make = async (path: string, body: object) =>
    Resource.parse(JSON.parse(await send('POST', path, body))).id;
  const people = await pMap(range(USERS), (n) => make('/Users', user(`user-${n}`)), { concurrency: AT_ONCE });
  const memberOf = (n: number) => ({ value: people[n % USERS] });
  const groups = await pMap(
    range(GROUPS),
    (n) => {
      const members = range(MEMBERS).map((m) => memberOf(n * 20 + m));
      return make('/Groups', { schemas: [GROUP_SCHEMA.id], displayName: `Group ${n}`, members });
    },
    { concurrency: AT_ONCE },
  );
  const change = (n: number, op: object) =>
    send('PATCH', `/Groups/${groups[n % GROUPS]}`, { schemas: [PATCH_OP], Operations: [op] });
  /** Returns a person who is not yet in the group. */
  const newcomer = (n: number) => memberOf((n % GROUPS) * 20 + MEMBERS + Math.floor(n / GROUPS));
  const kinds = {
    'filter by userName': (n: number) =>
      send('GET', `/Users?filter=${encodeURIComponent(`userName eq "user-${n % USERS}@bench.test"`)}`),
    'page of 100': (n: number) => send('GET', `/Users?startIndex=${1 + ((n * 100) % USERS)}&count=100`),
    'GET of a group of 200': (n: number) => send('GET', `/Groups/${groups[n % GROUPS]}`),
    'PATCH that adds a member': (n: number) =>
      change(n, { op: 'add', path: 'members', value: [newcomer(n)] }),
    'PATCH that removes a member': (n: number) =>
      change(n, { op: 'remove', path: `members[value eq "${newcomer(n).value}"]` }),
    'filter by e-mail address': (n: number) =>
      send('GET', `/Users?filter=${encodeURIComponent(`emails.value eq "user-${n % USERS}@bench.test"`)}`),
    'filter by externalId': (n: number) =>
      send('GET', `/Users?filter=${encodeURIComponent(`externalId eq "x-user-${n % USERS}"`)}`),
    // This kind is measured last. SCIMMY searches all users, so new users would slow the other kinds.
    'POST of a user': (n: number) => send('POST', '/Users', user(`new-${n}`)),
  };
  return kinds;
}
type Prepared = Awaited<ReturnType<typeof prepare>>;
type Kind = keyof Prepared;
const WRITES: readonly Kind[] = ['POST of a user', 'PATCH that adds a member', 'PATCH that removes a member'];

/** The requests per run of kinds that do not use `COUNT`. A run should take at least 0.1 seconds. */
const COUNTS: Partial<Record<Kind, number>> = { 'page of 100': AT_ONCE, 'POST of a user': 200 };
const COUNT = 48;

interface Measured {
  readonly perSecond: number;
  /** Processor time of the server's first thread per request, in milliseconds. */
  readonly cpuMs: number;
}

async function measure(server: Server, send: (n: number) => Promise<string>, from: number, count: number) {
  const startedCpuMs = server.cpuMs();
  const startedMs = performance.now();
  await pMap(range(count), (n) => send(from + n), { concurrency: AT_ONCE });
  const perSecond = (count * 1_000) / (performance.now() - startedMs);
  return { perSecond, cpuMs: (server.cpuMs() - startedCpuMs) / count } satisfies Measured;
}

/** Measures each kind of request on both servers, and on a bare client that repeats the calls of groupsync. */
async function sideBySide(ours: Server, peer: Server | undefined) {
  const [ourRequests, peerRequests] = [await prepare(ours), peer && (await prepare(peer))];
  const rows: (string | number)[][] = [];
  for (const kind of Object.keys(ourRequests) as Kind[]) {
    const count = COUNTS[kind] ?? COUNT;
    const [runs, peerRuns]: [Measured[], Measured[]] = [[], []];
    const bare: number[] = [];
    let callsPerRequest = 0;
    for (let run = 0; run < PAIRED_RUNS; run += 1) {
      await ours.ask('record');
      const one = await measure(ours, ourRequests[kind], run * count, count);
      const { calls, ms } = await ours.ask('replay');
      runs.push(one);
      bare.push(count / one.perSecond / (ms / 1_000));
      callsPerRequest = calls / count;
      if (peer && peerRequests) peerRuns.push(await measure(peer, peerRequests[kind], run * count, count));
    }
    rows.push([
      kind,
      showSpread(spreadOf(runs.map(({ perSecond }) => perSecond)), 0),
      showSpread(spreadOf(peerRuns.map(({ perSecond }) => perSecond)), 0),
      showSpread(
        spreadOf(runs.map(({ perSecond }, n) => perSecond / (peerRuns[n]?.perSecond ?? Number.NaN))),
      ),
      spreadOf(runs.map(({ cpuMs }) => cpuMs)).median,
      spreadOf(peerRuns.map(({ cpuMs }) => cpuMs)).median,
      callsPerRequest,
      WRITES.includes(kind) ? showSpread(spreadOf(bare)) : '–',
    ]);
  }
  return { prepared: ourRequests, rows };
}

/**
 * Starts the requests of one tenant at fixed times, even if earlier requests have not ended. So slow requests do not
 * reduce the load. Returns percentiles of the latency, a percentile of the delay before a request starts, and the CPU
 * time of the server.
 */
async function steady(kinds: Prepared, { cpuMs }: Server) {
  const filter = kinds['filter by userName'];
  const group = kinds['GET of a group of 200'];
  const add = kinds['PATCH that adds a member'];
  const remove = kinds['PATCH that removes a member'];
  const mix = [filter, add, remove, group, filter, kinds['POST of a user'], filter, add, remove, group];
  const latencies: number[] = [];
  const delays: number[] = [];
  const inFlight: Promise<void>[] = [];
  const startedCpuMs = cpuMs();
  const startedMs = performance.now();
  for (let n = 0; n < PER_SECOND * SECONDS; n += 1) {
    const dueMs = startedMs + (n * 1_000) / PER_SECOND;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    delays.push(performance.now() - dueMs);
    const send = mix[n % mix.length];
    // Each request gets a new number, because names must be unique. A removal gets the number of the previous join.
    const sent = Promise.resolve(send?.(5_000 + n - (send === remove ? 1 : 0)));
    inFlight.push(sent.then(() => void latencies.push(performance.now() - dueMs)));
  }
  await Promise.all(inFlight);
  return [
    ...[0.5, 0.95, 0.99].map((share) => percentile(latencies, share)),
    percentile(delays, 0.95),
    (cpuMs() - startedCpuMs) / latencies.length,
  ];
}

async function large({ send, ask }: Server) {
  const measured = async (what: string, run: () => Promise<string>) => {
    await ask('record');
    const startedMs = performance.now();
    const answer = await run();
    const ms = performance.now() - startedMs;
    const bare = await ask('replay');
    return { answer, row: [what, ms, bare.calls, ms / bare.ms] };
  };
  const ids = range(LARGE).map((n) => `member-${n}`);
  const members = ids.map((value) => ({ value }));
  const made = await measured(`POST of a group of ${LARGE}`, () =>
    send('POST', '/Groups?excludedAttributes=members', {
      schemas: [GROUP_SCHEMA.id],
      displayName: 'Large',
      members,
    }),
  );
  const { id } = Resource.parse(JSON.parse(made.answer));
  const others = range(LARGE).map((n) => ({ value: `other-${n}` }));
  const replaced = await measured('PUT that replaces all members', () =>
    send('PUT', `/Groups/${id}?excludedAttributes=members`, {
      schemas: [GROUP_SCHEMA.id],
      displayName: 'Large',
      members: others,
    }),
  );
  const removals = others
    .slice(0, REMOVED)
    .map(({ value }) => ({ op: 'remove', path: `members[value eq "${value}"]` }));
  const removed = await measured(`PATCH that removes ${REMOVED} members`, () =>
    send('PATCH', `/Groups/${id}`, { schemas: [PATCH_OP], Operations: removals }),
  );
  return [made.row, replaced.row, removed.row];
}

/** @returns the folder of the compared server; undefined if npm cannot install it */
function installPeer(): string | undefined {
  const folder = join(tmpdir(), 'groupsync-bench-peers');
  if (existsSync(join(folder, 'node_modules', 'scimmy-routers'))) return folder;
  console.error(`installing ${PEER.join(', ')} into ${folder} (only once; needs the network)`);
  try {
    const quiet = ['--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...PEER], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return folder;
  } catch {
    console.error('npm could not install the compared server, so only groupsync is measured');
    return undefined;
  }
}

export const scimFigure: Figure = {
  name: 'scim',
  title: 'SCIM',
  async run() {
    const folder = installPeer();
    const servers = [
      await start('scim-server.ts'),
      folder && (await start('scim-peer.mjs', [folder])),
    ] as const;
    const [ours, peer] = servers;
    try {
      const { prepared, rows } = await sideBySide(ours, peer || undefined);
      const percentiles = await steady(prepared, ours);
      return [
        `Requests per second of the local SCIM endpoint and of SCIMMY (${PEER.join(', ')}), with the same ${USERS} users`,
        `and ${GROUPS} groups of ${MEMBERS}. ${AT_ONCE} requests are in flight. Each server is a separate process. The load average was ${loadavg()[0]?.toFixed(1)}.`,
        'The work of the two servers differs. SCIMMY stores its data in memory. groupsync makes conditional writes to an emulated DynamoDB table,',
        'and the thread of this table uses the same cores as the SCIM server. So the columns *CPU ms* show only the CPU time per request',
        'of the main thread of each server. For groupsync, this time includes the emulated queue and the requests to the emulated table. In the',
        'last column, a bare client repeats the same calls to DynamoDB. The value is the time of groupsync divided by the time of this',
        'client (limit: 4). SCIMServer and `scimgateway` were not in the npm registry.',
        '',
        table(
          [
            'requests/s',
            'groupsync',
            'SCIMMY',
            'ratio',
            'CPU ms',
            'CPU ms of SCIMMY',
            'calls',
            '× bare calls',
          ],
          rows,
        ),
        '',
        `One tenant sends ${PER_SECOND} requests/s for ${SECONDS} s: filters, joins, leaves, groups and new users. Each request starts at its planned time, even if`,
        'earlier requests have not ended. Apply does not run. The goal is a p95 of 20 ms on an otherwise idle machine. The client sends some',
        'requests late because it waits for a core. This delay is part of the latency.',
        '',
        table(
          ['', 'p50 ms', 'p95 ms', 'p99 ms', 'p95 of the delay', 'CPU ms'],
          [[`${PER_SECOND} requests/s`, ...percentiles]],
        ),
        '',
        table(
          ['One request with many members', 'ms', 'calls to DynamoDB', '× bare calls'],
          await large(ours),
        ),
      ].join('\n');
    } finally {
      for (const server of servers) if (server) server.stop();
    }
  },
};
