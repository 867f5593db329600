import { CreateQueueCommand, DeleteMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it, vi } from 'vitest';
import { type Backlog, isUnfinished, untilConverged } from '../../local/convergence.ts';
import { groupOf } from './support/parts.ts';
import { startQueue } from './support/queue.ts';

async function start(readGroups: () => Promise<ReturnType<typeof groupOf>[]>) {
  const queues = await startQueue();
  const { client, queueUrl: eventsUrl, countMessages } = queues;
  const { QueueUrl: applyUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: 'apply' }));
  const standings: Backlog[] = [];
  const onLastEvent = vi.fn(async () => undefined);
  let heard: (backlog: Backlog) => void = () => undefined;
  const wait = () =>
    untilConverged({
      countMessages,
      eventsQueueUrl: eventsUrl,
      applyQueueUrl: applyUrl,
      countGroups: async () => {
        const groups = await readGroups();
        return { all: groups.length, unfinished: groups.filter(isUnfinished).length };
      },
      readGroups,
      onLastEvent,
      onBacklog: (backlog) => {
        standings.push(backlog);
        heard(backlog);
      },
      signal: new AbortController().signal,
      pollMs: 5,
    });
  /** Resolves when the wait reports a backlog that satisfies `wanted`. */
  const backlog = (wanted: (backlog: Backlog) => boolean) =>
    new Promise<void>((resolve) => {
      heard = (one) => wanted(one) && resolve();
    });
  return { ...queues, applyUrl, standings, wait, backlog, onLastEvent };
}

it('the wait for convergence ends after two checks in a row find no message in the queues, visible or in flight', async () => {
  const { client, queueUrl, applyUrl, send, take, standings, wait, backlog, onLastEvent } = await start(
    async () => [groupOf('a')],
  );
  await send('event');
  await client.send(new SendMessageCommand({ QueueUrl: applyUrl, MessageBody: 'wake' }));
  const inFlight = await take(queueUrl);
  const waiting = backlog(({ events, apply }) => events === 1 && apply === 1);
  const done = wait();
  await waiting;
  expect(onLastEvent).not.toHaveBeenCalled();
  await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: inFlight?.ReceiptHandle }));
  await backlog(({ events, apply }) => events === 0 && apply === 1);
  const wake = await take(applyUrl);
  await client.send(new DeleteMessageCommand({ QueueUrl: applyUrl, ReceiptHandle: wake?.ReceiptHandle }));
  expect(await done).toMatchObject({ converged: true, groups: [{ id: 'a' }] });
  expect(onLastEvent).toHaveBeenCalledTimes(standings.filter(({ events, apply }) => events < apply).length);
  expect(standings.slice(-3).map(({ groups }) => groups?.all)).toEqual([undefined, 1, 1]);
});

it('the wait for convergence includes dirty groups, but not held, failed or unnamed groups', async () => {
  let reads = 0;
  const { wait, standings } = await start(async () => {
    reads += 1;
    return [groupOf('a', reads < 3 ? 'dirty' : 'held'), groupOf('b', 'failed'), groupOf('c', 'unnamed')];
  });
  expect((await wait()).converged).toBe(true);
  expect(standings.map(({ groups }) => groups?.unfinished)).toEqual([1, 1, 0, 0]);
});
