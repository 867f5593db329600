import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { z } from 'zod';
import { loadParts } from '../../local/load-parts.ts';
import { percentile } from '../figure.ts';
import { createDirectory } from '../memory/directory.ts';
import { startBenchStack } from './world.ts';

/*
 * One measurement of latency over the local stack, pollers and windows included, in a process of its own because the
 * handlers read their environment once:
 *
 *     node --import tsx bench/emulated/steady.ts WINDOW_SECONDS
 *
 * The last line of its output is the result; the lines before it are the handlers' logs.
 */

const PER_SECOND = 50;
const SECONDS = 8;
const GROUPS = 25;
const PEOPLE = 1 + (PER_SECOND * SECONDS) / GROUPS;
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

async function main(coalesceSeconds: number): Promise<void> {
  const { stack, url, stop } = await startBenchStack({ people: PEOPLE, coalesceSeconds, loadParts });
  const directory = createDirectory(Date.now);
  const send = (event: object) =>
    stack.sqs.send(
      new SendMessageCommand({ QueueUrl: stack.address.eventsQueueUrl, MessageBody: JSON.stringify(event) }),
    );
  for (let n = 0; n < GROUPS; n += 1) await send(directory.snapshot(`d${n}`, [0]));
  await untilShown(url, GROUPS);

  const sentAtMs = new Map<string, number>();
  const startedMs = Date.now();
  for (let n = 0; n < PER_SECOND * SECONDS; n += 1) {
    const dueMs = startedMs + (n * 1_000) / PER_SECOND;
    if (dueMs > Date.now()) await sleep(dueMs - Date.now());
    const [group, person] = [`d${n % GROUPS}`, 1 + Math.floor(n / GROUPS)];
    sentAtMs.set(`${group} u${person}`, Date.now());
    void send(directory.added(group, person));
  }
  await untilShown(url, GROUPS + sentAtMs.size);
  const writtenAtMs = await firstWrites(url);
  await stop();
  const latencies = [...sentAtMs].map(([key, ms]) => (writtenAtMs.get(key) ?? Number.NaN) - ms);
  console.log(JSON.stringify([0.5, 0.95, 0.99].map((share) => percentile(latencies, share))));
}

const readJson = async (url: string): Promise<unknown> => (await fetch(url)).json();

async function groupsOf(url: string) {
  return State.parse(await readJson(`${url}/_simulator/state`)).companies.flatMap(({ groups }) => groups);
}

async function untilShown(url: string, memberships: number): Promise<void> {
  const count = async () => (await groupsOf(url)).reduce((sum, { users }) => sum + users.length, 0);
  while ((await count()) < memberships) await sleep(POLL_MS);
}

/** When each member was first written into its group, by the platform's own log. */
async function firstWrites(url: string): Promise<ReadonlyMap<string, number>> {
  const spokeIds = new Map((await groupsOf(url)).map(({ id, spokeId }) => [id, spokeId]));
  const { requests } = Requests.parse(await readJson(`${url}/_simulator/requests?bodies=1`));
  const first = new Map<string, number>();
  for (const { path, at, body } of requests) {
    const group = spokeIds.get(path.split('/').at(-1) ?? '');
    const written = Written.safeParse(body);
    if (group === undefined || !written.success) continue;
    for (const user of written.data.users) {
      if (!first.has(`${group} ${user}`)) first.set(`${group} ${user}`, Date.parse(at));
    }
  }
  return first;
}

await main(Number(process.argv[2]));
process.exit(0);
