import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import { localSettings } from '../../local/connection.ts';
import { createTable } from '../../local/emulators/dynamodb.ts';
import { startFrontThread } from '../../local/emulators/front-thread.ts';
import { createQueues, startSqs } from '../../local/emulators/sqs.ts';
import { functionEnvironment, setEnvironment } from '../../local/environment.ts';
import { loadParts } from '../../local/load-parts.ts';
import { DEFAULT_CONNECTION, tableName } from '../../shared/contract/names.ts';
import { randomHex } from '../../shared/runtime/clock.ts';
import { wireScim } from '../../shared/runtime/wire-scim.ts';
import { createToken } from '../../shared/scim/tokens/tokens.ts';
import { CREDENTIALS as credentials, REGION as region } from '../memory/sdk-wire.ts';
import { type AwsCall, startRecording } from './recorder.ts';

/*
 * Runs the SCIM endpoint of the local stack and its emulators in a separate process. Apply does not run, because in a
 * deployed stage apply is a different function. The process sends its URL and tokens to the parent. The parent may send
 * `record` and then `replay`.
 */

const PREFIX = 'bench';
/** The number of tokens. The benchmark sends more requests than one token permits. */
const TOKENS = 40;

const front = await startFrontThread({ port: 0, services: [] });
const sqs = await startSqs(0);
const queueUrls = await createQueues(new SQSClient({ region, credentials, endpoint: sqs.url }), {
  prefix: PREFIX,
});
const dynamodb = new DynamoDBClient({ region, credentials, endpoint: front.url, cacheMiddleware: true });
await createTable(dynamodb, tableName(PREFIX));
const otherEndpoints = { secretsManager: front.url, lambda: front.url, scheduler: front.url };
const endpoints = { ...otherEndpoints, dynamodb: front.url, sqs: sqs.url };
setEnvironment(
  functionEnvironment({ prefix: PREFIX, coalesceSeconds: 5, endpoints, queueUrls, hasWebhook: false }),
);
const parts = await loadParts();
const settings = localSettings('http://127.0.0.1:9', []);
await parts.putConnection({ name: DEFAULT_CONNECTION, company: PREFIX, settings });
const { url, token } = await parts.startScim(DEFAULT_CONNECTION);
const tokens = [token];
const { ports } = wireScim();
while (tokens.length < TOKENS) {
  tokens.push((await createToken(DEFAULT_CONNECTION, { ...ports, randomHex })).token);
}

/** Repeats the recorded calls with a bare client and the same concurrency. Returns the duration in milliseconds. */
async function replay(calls: readonly AwsCall[]): Promise<number> {
  const startedMs = performance.now();
  // The items already exist, so conditions may fail. The emulator does the same work for a failed condition.
  const send = ({ make, input }: AwsCall) =>
    dynamodb.send(new make(input as never) as never).catch(() => undefined);
  await pMap(calls, send, { concurrency: 8 });
  return performance.now() - startedMs;
}

let recording: ReturnType<typeof startRecording> | undefined;
process.on('message', async (asked) => {
  if (asked === 'record') recording = startRecording();
  const isReplay = asked === 'replay';
  if (isReplay) recording?.stop();
  const calls = isReplay ? (recording?.calls ?? []).filter((call) => call.to === 'dynamodb') : [];
  process.send?.({ calls: calls.length, ms: await replay(calls as readonly AwsCall[]) });
});
process.send?.({ url, tokens });
