import { createAlarmClient } from '../aws/alarms.ts';
import {
  configurationOf,
  createCaller,
  createDeployment,
  createFunctions,
  createScimServer,
  queueUrlsByName,
} from '../aws/deployment.ts';
import { proveIdentity, signedIn } from '../aws/identity-proof.ts';
import { createQuery } from '../aws/query.ts';
import { type AwsTarget, createSdk, type Sdk } from '../aws/sdk.ts';
import { createVault, removeDirectoryKey, storeDirectoryKey } from '../aws/secrets.ts';
import { createStackClient } from '../aws/stacks.ts';
import { readerBinding } from '../contract/decode.ts';
import type { DirectorySetting } from '../contract/directory-settings.ts';
import { functionName, type QueueKey, queueName, readerQueueName, tableName } from '../contract/names.ts';
import { DEFAULT_COALESCE_SECONDS } from '../contract/topology.ts';
import { DirectoryError } from '../directory/ports.ts';
import { createReaderStore } from '../directory/store/reader-store.ts';
import { createDecisions, type Prove } from '../operate/decisions.ts';
import { platformsThroughFunction } from '../operate/platform/through-function.ts';
import { createApplyQueue } from '../queues/apply-queue.ts';
import { createMailbox } from '../queues/mailbox.ts';
import { createEventSender } from '../queues/sqs-batch.ts';
import { createScimStore } from '../scim/store/scim-store.ts';
import { createScimTokenStore } from '../scim/store/scim-token-store.ts';
import { createConnectionStore } from '../store/connection-store.ts';
import { createConsoleSessionStore } from '../store/console-session-store.ts';
import { createDynamoTable } from '../store/dynamo-table.ts';
import { createEraser } from '../store/eraser.ts';
import { storesOver } from '../store/stores.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { MissingPart, type ScimFacts } from '../sync/ports/deployment.ts';
import type { CallerIdentity } from '../sync/ports/logs.ts';
import { newId, randomHex, sleep, systemClock, systemRandom } from './clock.ts';
import { type Config, readConfig } from './config.ts';

export interface ToolTarget extends AwsTarget {
  readonly prefix: string;
  readonly queueUrls?: Partial<Readonly<Record<QueueKey, string>>>;
  /** The login name of the operator. */
  readonly user: string;
  /** The state of the SCIM server, if the caller knows it; null: the stage has no SCIM server. */
  readonly scim?: ScimFacts | null | undefined;
  /** True for the deployed console, to which people sign in. */
  readonly isConsole?: boolean | undefined;
  readonly answerMs?: number | undefined;
  readonly createSettleMs: number;
  /** The URL of an emulator of AWS; undefined: AWS itself. */
  readonly emulator?: string | undefined;
}

export type Tool = Awaited<ReturnType<typeof wireTool>>;

const CONNECT_TIMEOUT_MS = 3_000;

/**
 * The composition root of the command line. A function finds its parts by environment variables. The command line has
 * no such variables. When a command first needs a part, it finds the part by its name in AWS.
 */
export async function wireTool(target: ToolTarget) {
  const sdk = createSdk(target);
  const region = await sdk.region();
  const { prefix, queueUrls = {}, local } = target;
  const options = { prefix, tableName: tableName(prefix), region, isLocal: local !== undefined, queueUrls };
  const urlOf = queueUrlsByName(sdk, options);
  const requireUrl = async (key: QueueKey): Promise<string> => {
    const url = await urlOf(key);
    if (url !== undefined) return url;
    throw new MissingPart(`there is no queue ${queueName(prefix, key)} in ${region}`);
  };
  const caller = createCaller(sdk, local !== undefined, target.user);
  const query = local === undefined ? createQuery(sdk, target.emulator) : undefined;
  const deployment = {
    ...createDeployment(sdk, options, urlOf),
    allowsLoopback: local !== undefined || target.emulator !== undefined,
    alarms: query && createAlarmClient(query),
    stacks: query && createStackClient(query),
    isConsole: target.isConsole,
    ...createScimServer(sdk, { prefix, known: target.scim }),
  };
  const bindingOf = bindingsOf(sdk, prefix);
  const table = createDynamoTable(sdk.dynamodb, { tableName: options.tableName, sleep });
  const stores = storesOver(table);
  const world = { clock: systemClock, random: systemRandom, sleep };
  let talking: ReturnType<typeof talkToPlatform> | undefined;
  const platform = () => {
    talking ??= talkToPlatform(world);
    return talking;
  };
  const secretPlace = {
    client: sdk.secrets,
    keyOf: async () => (await ingestConfig(sdk, prefix)).secretsKey,
  };
  const functions = createFunctions(sdk.lambda, prefix, target.answerMs);
  const isReal = local === undefined && target.emulator === undefined;
  const proveAs =
    (who: CallerIdentity): Prove =>
    async (text) =>
      isReal ? proveIdentity(text, prefix, sdk) : { user: (await who()).id };
  const ports: ToolPorts = {
    ...stores,
    scim: createScimStore(table),
    eraser: createEraser(table),
    reader: createReaderStore(table),
    tokens: createScimTokenStore(table),
    sessions: createConsoleSessionStore(table),
    randomHex,
    connections: createConnectionStore(table, { clock: systemClock, rememberMs: 0 }),
    ...platformsThroughFunction({ functions, clock: systemClock }),
    directoryApplicants: {
      present: async (...args) => (await platform()).openDirectory(...args),
      store: storeDirectoryKey(secretPlace, prefix),
      remove: removeDirectoryKey(sdk.secrets, prefix),
    },
    applicants: { present: async (...args) => (await platform()).applicants.present(...args) },
    applyQueue: createApplyQueue(sdk.sqs, () => requireUrl('apply')),
    // Only apply sends groups to the dead-letter queue, and the command line does not run apply.
    deadLetters: { send: async (deadLetters) => deadLetters.map(({ messageId }) => messageId) },
    mailboxes: {
      events: createMailbox(sdk.sqs, { name: 'events', queueUrl: () => requireUrl('eventsDlq'), bindingOf }),
      apply: createMailbox(sdk.sqs, { name: 'apply', queueUrl: () => requireUrl('applyDlq') }),
    },
    events: createEventSender(sdk.sqs, () => requireUrl('events'), caller),
    vault: createVault(secretPlace, prefix),
    functions,
    decisions: createDecisions(functions, proveAs(caller)),
    deployment,
    caller,
    ...world,
    newId,
    coalesceMs: DEFAULT_COALESCE_SECONDS * 1_000,
    createSettleMs: target.createSettleMs,
  };
  const actingAs = (person: string): ToolPorts => {
    const caller = async () => signedIn(person);
    return {
      ...ports,
      caller,
      events: createEventSender(sdk.sqs, () => requireUrl('events'), caller),
      decisions: createDecisions(functions, proveAs(caller), person),
    };
  };
  return {
    ports,
    actingAs,
    close: async () => {
      sdk.close();
      await (await talking)?.dispatcher.close();
    },
  };
}

/** How long bindings are cached. After a deployment, an open console uses the old bindings for at most this time. */
const REMEMBER_BINDINGS_MS = 60_000;

/** Reads the environment variables of ingest. They contain settings of the deployment that commands need. */
async function ingestConfig(sdk: Sdk, prefix: string): Promise<Config> {
  const { Environment } = await configurationOf(functionName(prefix, 'ingest'), sdk);
  return readConfig(Environment?.Variables ?? {});
}

/**
 * Returns a function that finds the connection to which a queue is bound. It reads the configuration of ingest only for
 * a queue that is neither the common queue nor the queue of the directory reader.
 */
export function bindingsOf(sdk: Sdk, prefix: string) {
  let [asked, untilMs]: [Promise<Config['boundQueues']> | undefined, number] = [undefined, 0];
  const ask = async () => (await ingestConfig(sdk, prefix)).boundQueues;
  return async (queue?: string, connection?: string) => {
    if (queue === undefined || queue === queueName(prefix, 'events')) return undefined;
    if (queue === readerQueueName(prefix)) return readerBinding(queue, connection);
    if (systemClock() >= untilMs) [asked, untilMs] = [ask(), systemClock() + REMEMBER_BINDINGS_MS];
    return (await asked)?.get(queue) ?? { queue, to: undefined };
  };
}

/** The directory's provider trusts the role of the deployed function, not the operator. */
const webIdentity = async (): Promise<string> => {
  throw new DirectoryError(
    'denied',
    'only the deployed function can sign in to this directory without a stored secret',
  );
};

/**
 * Loads the HTTP client only if a command tries a credential that is not stored yet. All other calls to the platform
 * and to directories are made by functions.
 */
async function talkToPlatform(world: Pick<ToolPorts, 'clock' | 'random' | 'sleep'>) {
  // The bundle contains undici as a CommonJS module. A CommonJS module that is imported dynamically has only a default
  // export.
  const [{ default: undici }, { createApplicants }, { openDirectory }] = await Promise.all([
    import('undici'),
    import('../platform/applicants.ts'),
    import('../directory/vendors/directories.ts'),
  ]);
  const dispatcher = new undici.Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } });
  const all = { ...world, dispatcher, webIdentity };
  return {
    dispatcher,
    applicants: createApplicants(all),
    openDirectory: (setting: DirectorySetting, key: unknown, attributes: readonly string[]) =>
      openDirectory(setting, key, { ...all, attributes }),
  };
}
