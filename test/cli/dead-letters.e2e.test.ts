import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { OUTPUT_SCHEMAS } from '../../cli/schemas.ts';
import { startCliStack } from '../support/cli/stack.ts';

/*
 * Five hundred dead letters of six causes, one of which is mended, and a replay that is killed. Every message must end
 * applied or as a dead letter again.
 */

const TOKEN = 'a-token-that-nobody-may-see';
const WORLD = {
  companies: [
    {
      id: 'acme',
      name: 'Acme',
      employees: [{ id: 'r1', userId: 'u1', name: 'Ann', workEmail: 'ann@acme.test' }],
      groups: [],
    },
  ],
  credentials: [{ token: TOKEN, kind: 'oauth_app' as const, company: 'acme' }],
};
const GROUPS = 10;
const MEMBERS = 190;
const OF_EACH_OTHER = 60;

let on: Awaited<ReturnType<typeof startCliStack>>;
const shown: string[] = [];

beforeAll(async () => {
  on = await startCliStack(WORLD);
});
afterAll(() => on.stop());

async function cli(args: readonly string[], around = {}) {
  const ran = await on.cli(args, around);
  shown.push(ran.stdout, ran.stderr);
  return ran;
}

const eventually = (look: () => Promise<boolean>) => vi.waitUntil(look, { timeout: 30_000, interval: 100 });

async function causes(): Promise<Record<string, number>> {
  const { json } = await cli(['dlq', 'list', '--json']);
  expect(OUTPUT_SCHEMAS['dlq list'].safeParse(json).error?.issues ?? []).toEqual([]);
  return Object.fromEntries(
    json.causes.map(({ code, count }: { code: string; count: number }) => [code, count]),
  );
}

const dead = async (): Promise<number> => (await cli(['status', '--json'])).json.queues.eventsDlq;

/** How many members the groups of the connection have, whoever they are. */
async function wanted(): Promise<number> {
  const { json } = await cli(['groups', '--connection', 'later', '--json']);
  const counts = json.groups.map((group: { wanted: number }) => group.wanted);
  return counts.reduce((sum: number, count: number) => sum + count, 0);
}

const event = (id: string, type: string, data: unknown, extra: object = {}) =>
  JSON.stringify({
    specversion: '1.0',
    id,
    source: 'test',
    type: `directory.${type}`,
    time: new Date().toISOString(),
    data,
    ...extra,
  });
const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

function fiveHundred(): string[] {
  const group = (at: number) => ({ group: { id: `g${at % GROUPS}`, name: `Group ${at % GROUPS}` } });
  const later = { connection: 'later' };
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  return [
    ...times(GROUPS, (at) => event(`u${at}`, 'group.upserted', group(at), later)),
    ...times(MEMBERS, (at) =>
      event(`a${at}`, 'group.member.added', { ...group(at), members: [{ id: `m${at}` }] }, later),
    ),
    ...times(OF_EACH_OTHER, (at) => `{broken ${at}`),
    ...times(OF_EACH_OTHER, (at) => event(`i${at}`, 'group.upserted', { group: {} })),
    ...times(OF_EACH_OTHER, (at) => event(`t${at}`, 'group.frobbed', group(at))),
    ...times(OF_EACH_OTHER, (at) => event(`f${at}`, 'group.upserted', group(at), { time: inAnHour })),
    ...times(OF_EACH_OTHER, (at) =>
      event(`o${at}`, 'group.upserted', group(at), { time: '2020-01-01T00:00:00Z' }),
    ),
  ];
}

const OTHERS = {
  invalid_json: OF_EACH_OTHER,
  invalid_event: OF_EACH_OTHER,
  unknown_type: OF_EACH_OTHER,
  time_in_future: OF_EACH_OTHER,
  too_old: OF_EACH_OTHER,
};

it('loses no dead letter to a kill -9 in the middle of a replay', { timeout: 120_000 }, async () => {
  await on.publish(fiveHundred());
  await eventually(async () => (await dead()) === 500);
  expect(await causes()).toEqual({ unknown_connection: 200, ...OTHERS });

  const { json: list } = await cli(['dlq', 'list', '--code', 'unknown_connection', '--limit', '1', '--json']);
  const { stdout: letter, stderr: next } = await cli(['dlq', 'show', list.messages[0].id]);
  expect(letter).toContain('unknown_connection: there is no connection later');
  expect(next).toMatch(/groupsync --local-file \S+ connect later\nnext: groupsync .* dlq replay/);

  const connect = on.spawn([
    'connect',
    'later',
    '--base-url',
    on.stack.address.platform,
    '--token-stdin',
    '--yes',
  ]);
  const seen = watch(connect.pid);
  for (const stream of [connect.stdout, connect.stderr])
    stream?.on('data', (chunk) => shown.push(String(chunk)));
  connect.stdin?.end(`${TOKEN}\n`);
  expect(await new Promise((resolve) => connect.on('close', resolve))).toBe(0);
  expect(seen().length > 0 || !existsSync('/proc')).toBe(true);
  shown.push(...seen());

  const replay = ['dlq', 'replay', '--code', 'unknown_connection', '--yes'];
  const killed = on.spawn([...replay, '--rate', '60']);
  const ended = new Promise((resolve) => killed.on('close', resolve));
  await eventually(async () => (await dead()) < 470 || killed.exitCode !== null);
  killed.kill('SIGKILL');
  await ended;
  const left = await dead();
  expect(left).toBeGreaterThan(300);
  expect(left).toBeLessThan(500);

  on.endHolds();
  const again = await cli([...replay, '--json']);
  expect(again).toMatchObject({ code: 0, json: { failed: 0, remaining: 0, cancelled: false } });
  await eventually(async () => (await wanted()) === MEMBERS);
  expect(await causes()).toEqual(OTHERS);

  // Nobody has mended these: each comes back, and none is lost or counted twice.
  const unmended = await cli(['dlq', 'replay', '--code', 'time_in_future', '--yes', '--json']);
  expect(unmended.json).toMatchObject({ replayed: OF_EACH_OTHER, failed: 0 });
  await eventually(async () => (await dead()) === 300);
  expect(await causes()).toEqual(OTHERS);
});

it('shows no secret: not in the process list, not in logs, not in what is printed', async () => {
  const { json } = await on.cli(['scim', 'token', 'create', '--connection', 'later', '--json']);
  const { token, url } = json;
  expect(url).toBe(on.stack.address.scim);
  const answer = await fetch(`${url}/Users`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  for (const args of [['scim', 'token', 'list'], ['connections', 'show', 'later'], ['doctor'], ['audit']]) {
    await cli(args);
    await cli([...args, '--json']);
  }
  const secret = token.slice('gsync_scim_12345678_'.length);
  expect(secret).toHaveLength(64);
  const everything = [...shown, ...on.logs].join('\n');
  expect(everything).toContain('"ingested"');
  expect(everything).not.toContain(TOKEN);
  expect(everything).not.toContain(secret);
});

/** What everybody on the machine may see of a process while it runs. @returns what was seen so far */
function watch(pid: number | undefined): () => readonly string[] {
  const seen = new Set<string>();
  const look = setInterval(() => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (line !== '') seen.add(line);
    } catch {
      clearInterval(look);
    }
  }, 20);
  return () => {
    clearInterval(look);
    return [...seen];
  };
}
