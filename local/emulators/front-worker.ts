import { parentPort, workerData } from 'node:worker_threads';
import * as z from 'zod';
import { AwsFault, type AwsReply, type AwsRequest } from './exchange.ts';
import { startAwsFront } from './front.ts';
import { type FromWorker, type ToWorker, toWire } from './front-messages.ts';

/*
 * The thread that serves DynamoDB: encoding, decoding and storing take as much time as all handlers together. What is
 * meant for another service is answered by the main thread, which has the functions and the schedules.
 */

const Options = z.object({ port: z.number(), dataPath: z.string().optional() });

const waiting = new Map<number, (reply: AwsReply | undefined) => void>();
let requests = 0;

function askMain(request: AwsRequest): Promise<AwsReply> | undefined {
  const target = request.headers['x-amz-target'];
  if (typeof target === 'string' && target.startsWith('DynamoDB_')) return undefined;
  requests += 1;
  const id = requests;
  return new Promise((resolve, reject) => {
    waiting.set(id, (reply) => {
      waiting.delete(id);
      if (reply !== undefined) resolve(reply);
      else reject(new AwsFault('UnknownOperationException', 'no service here takes this request', 404));
    });
    tell({ kind: 'request', id, request: toWire(request) });
  });
}

const tell = (message: FromWorker) => parentPort?.postMessage(message);

try {
  const front = await startAwsFront({ ...Options.parse(workerData), services: [askMain] });
  parentPort?.on('message', (message: ToWorker) => {
    if (message.kind === 'reply') waiting.get(message.id)?.(message.reply);
    else void front.close().then(() => parentPort?.close());
  });
  tell({ kind: 'listening', url: front.url });
} catch (error) {
  tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  parentPort?.close();
}
