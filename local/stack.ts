import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import {
  DEFAULT_CONNECTION,
  directorySecretName,
  type FunctionKey,
  functionName,
  notifySecretName,
  type QueueKey,
  type ScheduleKey,
  secretName,
  tableName,
} from '../shared/contract/names.ts';
import { EVENT_SOURCES } from '../shared/contract/topology.ts';
import { localSettings, storeSecret } from './connection.ts';
import type { OpenDirectory } from './directory/open-directory.ts';
import { createTable } from './emulators/dynamodb.ts';
import { startFrontThread } from './emulators/front-thread.ts';
import { createLambda } from './emulators/lambda.ts';
import { createScheduler } from './emulators/scheduler.ts';
import { createSecretsManager } from './emulators/secrets-manager.ts';
import { createQueues, startSqs } from './emulators/sqs.ts';
import { type Endpoints, functionEnvironment, REGION, setEnvironment } from './environment.ts';
import type { LocalFunction } from './invocation.ts';
import type { LocalFile } from './local-file.ts';
import type { LoadParts, StackParts } from './parts.ts';
import type { Schedule } from './schedules.ts';
import { startWebhook } from './webhook.ts';
import { type ManualWork, startWork } from './work.ts';

export interface StackOptions {
  readonly prefix: string;
  readonly coalesceSeconds: number;
  readonly ports: { readonly aws: number; readonly sqs: number };
  /** Folder of the tables; undefined keeps the tables in memory. */
  readonly tables: string | undefined;
  /** File of the secrets; undefined keeps the secrets in memory. */
  readonly secrets: string | undefined;
  readonly platform: { readonly url: string; readonly token: string; readonly company: string };
  readonly settings: readonly (readonly [key: string, value: unknown])[];
  readonly directory?: OpenDirectory | undefined;
  readonly everySeconds: Readonly<Record<ScheduleKey, number>>;
  /** Batching window of ingest in seconds; undefined means the deployed value. */
  readonly batchingWindowSeconds?: number | undefined;
  readonly loadParts: LoadParts;
  readonly onError: (message: string) => void;
  /** Called when all parts listen, before the handlers run. */
  readonly onListening?: (address: LocalFile) => Promise<void>;
  /** Called after the first read of the people, before the pollers and schedules start. */
  readonly beforePolling?: ((work: ManualWork) => Promise<void>) | undefined;
  /** Receives notifications. Without this function, no notifications are sent. */
  readonly onNotification?: (text: string) => void;
}

export interface Stack {
  readonly address: LocalFile;
  readonly sqs: SQSClient;
  readonly parts: StackParts;
  readonly countMessages: (queueUrl: string) => number;
  /** Wakes all groups that wait for the end of their coalescing window. The caller does this after the last event. */
  readonly endWindows: () => Promise<void>;
  /** Stops pollers and schedules, and then the emulators. It waits at most `graceMs` for running work. */
  readonly stop: (graceMs?: number) => Promise<void>;
}

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
const GRACE_MS = 3500;

/**
 * Starts the emulators, registers the connection `default` and reads the people once. Then it starts the pollers and
 * schedules that run the handlers.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const functions = new Map<string, LocalFunction>();
  const schedules = new Map<string, Schedule>();
  const front = await startFrontThread({
    port: options.ports.aws,
    dataPath: options.tables,
    services: [createSecretsManager(options.secrets), createLambda(functions), createScheduler(schedules)],
  });
  const sqs = await startSqs(options.ports.sqs).catch(async (error: unknown) => {
    await front.close();
    throw error;
  });
  const webhook = options.onNotification && (await startWebhook(options.onNotification));
  const closeEmulators = async () => void (await Promise.all([front.close(), sqs.close(), webhook?.stop()]));
  try {
    const endpoints: Endpoints = {
      dynamodb: front.url,
      sqs: sqs.url,
      secretsManager: front.url,
      lambda: front.url,
      scheduler: front.url,
    };
    const client = new SQSClient({ region: REGION, credentials: CREDENTIALS, endpoint: sqs.url });
    const queueUrls = await createQueues(client, options);
    await createTable(
      new DynamoDBClient({ region: REGION, credentials: CREDENTIALS, endpoint: front.url }),
      tableName(options.prefix),
    );
    setEnvironment(
      functionEnvironment({ ...options, endpoints, queueUrls, hasWebhook: webhook !== undefined }),
    );
    const parts = await options.loadParts();
    await registerConnection(options, parts, { aws: front.url, webhook: webhook?.url });
    for (const fn of localFunctions(options.prefix, parts)) functions.set(fn.name, fn);
    let isStopping = false;
    // While the stack stops, errors are not reported.
    const onError = (message: string) => void (isStopping || options.onError(message));
    const isDirectoryRead = options.directory !== undefined;
    const scim = await parts.startScim(DEFAULT_CONNECTION);
    const address = {
      ...describeAddress(options, endpoints, queueUrls),
      scim: scim.url,
      scimToken: scim.token,
    };
    await options.onListening?.(address);
    const work = await startWork({
      ...options,
      isDirectoryRead,
      onError,
      client,
      queueUrls,
      functions,
      schedules,
    });
    return {
      address,
      sqs: client,
      parts,
      countMessages: sqs.countMessages,
      endWindows: () => sqs.bringForward(queueUrls.apply, parts.endWindow),
      async stop(graceMs = GRACE_MS) {
        isStopping = true;
        await Promise.race([
          Promise.all([work.stop(), scim.stop()]),
          delay(graceMs, undefined, { ref: false }),
        ]);
        client.destroy();
        await closeEmulators();
      },
    };
  } catch (error) {
    await closeEmulators();
    throw error;
  }
}

/** Every start writes the platform's address and credential, because the port and the world file can change. */
async function registerConnection(
  options: StackOptions,
  parts: StackParts,
  urls: { readonly aws: string; readonly webhook: string | undefined },
): Promise<void> {
  const { prefix, platform, directory, settings } = options;
  const secrets = new SecretsManagerClient({ region: REGION, credentials: CREDENTIALS, endpoint: urls.aws });
  await storeSecret(secrets, secretName(prefix, DEFAULT_CONNECTION), { token: platform.token });
  if (directory !== undefined) {
    await storeSecret(secrets, directorySecretName(prefix, DEFAULT_CONNECTION), directory.key);
  }
  if (urls.webhook !== undefined) await storeSecret(secrets, notifySecretName(prefix), { url: urls.webhook });
  secrets.destroy();
  await parts.putConnection({
    name: DEFAULT_CONNECTION,
    company: platform.company,
    settings: localSettings(platform.url, [['directory', directory?.setting ?? null], ...settings]),
  });
  await parts.endPreviousWork(DEFAULT_CONNECTION);
}

/** Lambda's longest timeout. */
const SCHEDULED_TIMEOUT_SECONDS = 900;
/**
 * The time limits of ingest and apply are the deployed limits times this factor, because all functions share one
 * processor. After a timeout, a run would continue in parallel with its retry. The factor is below 6, because the
 * queues' visibility timeouts are six times the deployed limits.
 */
const TIMEOUT_FACTOR = 5;
const TIMEOUT_SECONDS: Readonly<Record<FunctionKey, number>> = {
  ingest: TIMEOUT_FACTOR * EVENT_SOURCES.ingest.functionTimeoutSeconds,
  apply: TIMEOUT_FACTOR * EVENT_SOURCES.apply.functionTimeoutSeconds,
  reconcile: SCHEDULED_TIMEOUT_SECONDS,
  people: SCHEDULED_TIMEOUT_SECONDS,
};

const localFunctions = (prefix: string, { handlers, directory }: StackParts): LocalFunction[] => [
  ...(Object.keys(TIMEOUT_SECONDS) as FunctionKey[]).map((key) => ({
    name: functionName(prefix, key),
    timeoutSeconds: TIMEOUT_SECONDS[key],
    handler: handlers[key],
  })),
  {
    name: functionName(prefix, 'directory'),
    timeoutSeconds: SCHEDULED_TIMEOUT_SECONDS,
    handler: directory,
  },
];

const describeAddress = (
  { prefix, platform }: StackOptions,
  endpoints: Endpoints,
  queueUrls: Readonly<Record<QueueKey, string>>,
): Omit<LocalFile, 'scim' | 'scimToken'> => ({
  pid: process.pid,
  region: REGION,
  prefix,
  connection: DEFAULT_CONNECTION,
  ...endpoints,
  platform: platform.url,
  table: tableName(prefix),
  eventsQueueUrl: queueUrls.events,
  eventsDlqUrl: queueUrls.eventsDlq,
  applyQueueUrl: queueUrls.apply,
  applyDlqUrl: queueUrls.applyDlq,
  platformToken: platform.token,
});
