import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import * as z from 'zod';
import { AwsFault, type AwsReply, type AwsRequest } from './exchange.ts';
import { type AwsFront, startAwsFront } from './front.ts';
import { type FromWorker, startExchange, type ToWorker } from './front-messages.ts';

/*
 * The thread that serves DynamoDB. It is a separate thread, because DynamoDB's work takes as much time as all handlers
 * together. Requests for other services go to the main thread, where the functions and the schedules run.
 */

const Options = z.object({ port: z.number(), dataPath: z.string().optional() });

const main = parentPort as MessagePort;
const post = (message: FromWorker) => main.postMessage(message);
let front: AwsFront | undefined;
const { ask } = startExchange(main, async (request) => front?.ask(request).catch(() => undefined));

function sendToMain(request: AwsRequest): Promise<AwsReply> | undefined {
  const target = request.headers['x-amz-target'];
  if (typeof target === 'string' && target.startsWith('DynamoDB_')) return undefined;
  return ask(request).then((reply) => {
    if (reply !== undefined) return reply;
    throw new AwsFault('UnknownOperationException', 'no local service accepts this request', 404);
  });
}

try {
  front = await startAwsFront({ ...Options.parse(workerData), services: [sendToMain] });
  main.on('message', (message: ToWorker) => {
    if (message.kind === 'close') void front?.close().then(() => main.close());
  });
  post({ kind: 'listening', url: front.url });
} catch (error) {
  post({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  main.close();
}
