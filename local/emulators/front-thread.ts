import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type AwsService, answerOf } from './exchange.ts';
import type { AwsFront } from './front.ts';
import { type FromWorker, startExchange, type ToWorker } from './front-messages.ts';
import { bypassTcp } from './tcp-bypass.ts';

const WORKER = new URL('./front-worker.mjs', import.meta.url);
/** Maximum time for the end of the thread. It includes the wait for requests in flight (`DRAIN_MS`). */
const CLOSE_MS = 2000;

/** Starts the front in its own thread, so that DynamoDB and the handlers use two cores. */
export async function startFrontThread(options: {
  port: number;
  dataPath?: string | undefined;
  services: readonly AwsService[];
}): Promise<Omit<AwsFront, 'ask'>> {
  const { services, ...workerData } = options;
  const worker = new Worker(WORKER, { workerData, execArgv: [] });
  const post = (message: ToWorker) => worker.postMessage(message);
  const { ask, end } = startExchange(worker, (request) => answerOf(services, request));
  worker.once('exit', end);
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    worker.once('error', reject);
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'listening') resolve(message.url);
      else if (message.kind === 'failed') reject(new Error(message.reason));
    });
  });
  const endBypass = bypassTcp(url, ask);
  let isClosing = false;
  worker.on('error', (error) => {
    // The stack cannot work without its table, so an error ends the stack. While the stack stops, errors are ignored.
    if (!isClosing) throw error;
  });
  return {
    url,
    async close() {
      isClosing = true;
      endBypass();
      post({ kind: 'close' });
      await Promise.race([ended, delay(CLOSE_MS, undefined, { ref: false })]);
      await worker.terminate();
    },
  };
}
