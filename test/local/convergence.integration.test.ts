import { DeleteMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { type Standing, untilConverged } from '../../local/convergence.ts';
import { groupOf } from './support/parts.ts';
import { startQueue } from './support/queue.ts';

async function start(readGroups: () => Promise<ReturnType<typeof groupOf>[]>, signal?: AbortSignal) {
  const events = await startQueue();
  const apply = await startQueue();
  const standings: Standing[] = [];
  let heard: (standing: Standing) => void = () => undefined;
  const wait = () =>
    untilConverged({
      // Both emulators find a queue by its name, whatever host its URL has.
      client: new Proxy(events.client, {
        get: (client, key) =>
          key === 'send'
            ? (command: { input: { QueueUrl?: string } }) =>
                (command.input.QueueUrl === apply.queueUrl ? apply.client : client).send(command as never)
            : Reflect.get(client, key),
      }),
      eventsQueueUrl: events.queueUrl,
      applyQueueUrl: apply.queueUrl,
      readGroups,
      onStanding: (standing) => {
        standings.push(standing);
        heard(standing);
      },
      signal: signal ?? new AbortController().signal,
      pollMs: 5,
    });
  /** Resolves at the next standing of this kind. */
  const standing = (wanted: (standing: Standing) => boolean) =>
    new Promise<void>((resolve) => {
      heard = (one) => wanted(one) && resolve();
    });
  return { events, apply, standings, wait, standing };
}

it('waits for messages that wait, are in flight or belong to apply, and is sure only the second time', async () => {
  const { events, apply, standings, wait, standing } = await start(async () => [groupOf('a')]);
  await events.send('event');
  await apply.send('wake');
  const inFlight = await events.take(events.queueUrl);
  const waiting = standing(({ events, apply }) => events === 1 && apply === 1);
  const done = wait();
  await waiting;
  const delivered = { QueueUrl: events.queueUrl, ReceiptHandle: inFlight?.ReceiptHandle ?? '' };
  await events.client.send(new DeleteMessageCommand(delivered));
  await standing(({ events, apply }) => events === 0 && apply === 1);
  const wake = await apply.take(apply.queueUrl);
  await apply.client.send(
    new DeleteMessageCommand({ QueueUrl: apply.queueUrl, ReceiptHandle: wake?.ReceiptHandle ?? '' }),
  );
  expect(await done).toMatchObject({ converged: true, groups: [{ id: 'a' }] });
  expect(standings.slice(-3).map(({ groups }) => groups?.length)).toEqual([undefined, 1, 1]);
});

it('waits for dirty groups, not for held, failed or unnamed ones', async () => {
  let reads = 0;
  const { wait, standings } = await start(async () => {
    reads += 1;
    return [groupOf('a', reads < 3 ? 'dirty' : 'held'), groupOf('b', 'failed'), groupOf('c', 'unnamed')];
  });
  expect((await wait()).converged).toBe(true);
  expect(standings.map(({ dirty }) => dirty)).toEqual([1, 1, 0, 0]);
});

it('says how things stand where it is told to end', async () => {
  const { wait } = await start(async () => [groupOf('a', 'dirty')], AbortSignal.timeout(30));
  expect(await wait()).toMatchObject({ converged: false, groups: [{ state: 'dirty' }] });
});
