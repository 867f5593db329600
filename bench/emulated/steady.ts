import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { z } from 'zod';
import { loadParts } from '../../local/load-parts.ts';
import { percentile } from '../figure.ts';
import { createDirectory } from '../memory/directory.ts';
import { startBenchStack } from './world.ts';

/*
 * One measurement of latency on the local stack, including pollers and coalescing windows. It runs in its own process,
 * because the handlers read their environment only once:
 *
 *     node --import tsx bench/emulated/steady.ts WINDOW_SECONDS PACE
 *
 * The last line of the output is the result: percentiles of the latency of joins and of leaves. The earlier lines are
 * the logs of the handlers.
 */

const GROUPS = 25;
/** One person joins each group, one group after the other. With `leave`, the person leaves again 10 s later. */
const PACES = {
  alone: { changes: 100, perSecond: 2.5, leave: true },
  steady: { changes: 400, perSecond: 50, leave: false },
};
type Pace = keyof typeof PACES;
const POLL_MS = 500;

const State = z.object({
  companies: z.array(
    z.object({
      groups: z.array(z.object({ id: z.string(), spokeId: z.string(), users: z.array(z.string()) })),
    }),
  ),
});
const Requests = z.object({
  requests: z.array(
    z.object({ method: z.string(), path: z.string(), at: z.string(), body: z.unknown().optional() }),
  ),
});
const Written = z.object({ users: z.array(z.string()) });

interface Change {
  readonly group: string;
  readonly person: number;
  readonly joins: boolean;
  readonly sentAtMs: number;
}

async function main(coalesceSeconds: number, pace: Pace): Promise<void> {
  const { changes: count, perSecond, leave } = PACES[pace];
  const people = 1 + count / GROUPS;
  const { stack, url, stop } = await startBenchStack({ people, coalesceSeconds, loadParts });
  const directory = createDirectory(Date.now);
  const send = (event: object) =>
    stack.sqs.send(
      new SendMessageCommand({ QueueUrl: stack.address.eventsQueueUrl, MessageBody: JSON.stringify(event) }),
    );
  for (let n = 0; n < GROUPS; n += 1) await send(directory.snapshot(`d${n}`, [0]));
  while ((await groupsOf(url)).length < GROUPS) await sleep(POLL_MS);
  await sleep(2_000 * coalesceSeconds);

  const changes: Change[] = [];
  const startedMs = Date.now();
  for (let n = 0; n < count; n += 1) {
    const dueMs = startedMs + (n * 1_000) / perSecond;
    if (dueMs > Date.now()) await sleep(dueMs - Date.now());
    const turn = Math.floor(n / GROUPS);
    const joins = !leave || turn % 2 === 0;
    const [group, person] = [`d${n % GROUPS}`, joins ? 1 + turn : turn];
    changes.push({ group, person, joins, sentAtMs: Date.now() });
    void send(directory[joins ? 'added' : 'removed'](group, person));
  }
  const latencies = await latenciesOf(changes, url);
  await stop();
  const percentiles = (leave ? [true, false] : [true]).map((joins) => {
    const all = latencies.filter((one) => one.joins === joins).map(({ ms }) => ms);
    return [0.5, 0.95, 0.99].map((share) => percentile(all, share));
  });
  console.log(JSON.stringify(percentiles));
}

/** Waits until the platform has received a write with each change, and returns the latencies. */
async function latenciesOf(changes: readonly Change[], url: string) {
  for (;;) {
    const writes = await writesOf(url);
    const shown = changes.flatMap(({ group, person, joins, sentAtMs }) => {
      const since = writes.filter((one) => one.group === group && one.atMs >= sentAtMs);
      const first = since.find(({ users }) => users.includes(`u${person}`) === joins);
      return first === undefined ? [] : [{ joins, ms: first.atMs - sentAtMs }];
    });
    if (shown.length === changes.length) return shown;
    await sleep(POLL_MS);
  }
}

const readJson = async (url: string): Promise<unknown> => (await fetch(url)).json();

async function groupsOf(url: string) {
  return State.parse(await readJson(`${url}/_simulator/state`)).companies.flatMap(({ groups }) => groups);
}

/** Returns the writes in the platform's request log that contain all members of a group. */
async function writesOf(url: string) {
  const spokeIds = new Map((await groupsOf(url)).map(({ id, spokeId }) => [id, spokeId]));
  const { requests } = Requests.parse(await readJson(`${url}/_simulator/requests?bodies=1`));
  return requests.flatMap(({ path, at, body }) => {
    const group = spokeIds.get(path.split('/').at(-1) ?? '');
    const { data } = Written.safeParse(body);
    return group === undefined || data === undefined ? [] : [{ group, ...data, atMs: Date.parse(at) }];
  });
}

await main(Number(process.argv[2]), process.argv[3] as Pace);
process.exit(0);
