import { Agent } from 'undici';
import {
  createCaller,
  createDeployment,
  createFunctions,
  createScimServer,
  queueUrlsByName,
} from '../aws/deployment.ts';
import { type AwsTarget, createSdk, type Sdk } from '../aws/sdk.ts';
import { createSecrets, createVault } from '../aws/secrets.ts';
import { type QueueKey, queueName, tableName } from '../contract/names.ts';
import { DEFAULT_COALESCE_SECONDS } from '../contract/topology.ts';
import { createApplicants } from '../platform/applicants.ts';
import { createPlatforms } from '../platform/platforms.ts';
import { createApplyQueue } from '../queues/apply-queue.ts';
import { createMailbox } from '../queues/mailbox.ts';
import { createEventSender } from '../queues/sqs-batch.ts';
import { createConnectionStore } from '../store/connection-store.ts';
import { createDynamoTable } from '../store/dynamo-table.ts';
import { createScimStore, createScimTokenStore } from '../store/scim-store.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { MissingPart } from '../sync/ports/deployment.ts';
import type { ApplyQueue } from '../sync/ports/queues.ts';
import { newId, randomHex, sleep, systemClock, systemRandom } from './clock.ts';
import { storesOver } from './wire-platform.ts';

export interface ToolTarget extends AwsTarget {
  readonly prefix: string;
  readonly queueUrls?: Partial<Readonly<Record<QueueKey, string>>>;
  /** Login name of the person. */
  readonly user: string;
  /** Base URL of the SCIM server, where it is known. */
  readonly scimUrl?: string | undefined;
  readonly createSettleMs: number;
  /** Whether AWS is an emulator on this machine. */
  readonly isEmulated?: boolean;
}

export interface Tool {
  readonly ports: ToolPorts;
  readonly close: () => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 3_000;

/**
 * The composition root of the command line. Unlike a function it is told nothing by its environment: everything is
 * found by the names that the prefix makes, and only when a command asks for it.
 */
export async function wireTool(target: ToolTarget): Promise<Tool> {
  const sdk = createSdk(target);
  const region = await sdk.region();
  const { prefix, queueUrls = {}, local } = target;
  const options = { prefix, tableName: tableName(prefix), region, isLocal: local !== undefined, queueUrls };
  const dispatcher = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } });
  const urlOf = queueUrlsByName(sdk, options);
  const requireUrl = async (key: QueueKey): Promise<string> => {
    const url = await urlOf(key);
    if (url !== undefined) return url;
    throw new MissingPart(`there is no queue ${queueName(prefix, key)} in ${region}`);
  };
  const caller = createCaller(sdk, local !== undefined, target.user);
  const deployment = {
    ...createDeployment(sdk, options, urlOf),
    allowsLoopback: local !== undefined || target.isEmulated === true,
    ...createScimServer(sdk, { prefix, scimUrl: target.scimUrl, dispatcher }),
  };
  const table = createDynamoTable(sdk.dynamodb, { tableName: options.tableName, sleep });
  const secrets = createSecrets(sdk.secrets, prefix);
  const stores = storesOver(table);
  const world = { clock: systemClock, random: systemRandom, sleep };
  const platformOptions = { ...world, secrets, leases: stores.leases, dispatcher };
  const ports: ToolPorts = {
    ...stores,
    scim: createScimStore(table),
    tokens: createScimTokenStore(table),
    randomHex,
    connections: createConnectionStore(table, { clock: systemClock, rememberMs: 0 }),
    platforms: createPlatforms(platformOptions),
    applicants: createApplicants(platformOptions),
    applyQueue: lazyApplyQueue(sdk, () => requireUrl('apply')),
    // The tool never gives up on a group by itself: only apply dead-letters.
    deadLetters: { bury: async (letters) => letters.map(({ messageId }) => messageId) },
    mailboxes: {
      events: createMailbox(sdk.sqs, { name: 'events', queueUrl: () => requireUrl('eventsDlq') }),
      apply: createMailbox(sdk.sqs, { name: 'apply', queueUrl: () => requireUrl('applyDlq') }),
    },
    events: createEventSender(sdk.sqs, () => requireUrl('events'), caller),
    vault: createVault(sdk.secrets, prefix),
    functions: createFunctions(sdk.lambda, prefix),
    deployment,
    caller,
    ...world,
    newId,
    coalesceMs: DEFAULT_COALESCE_SECONDS * 1_000,
    createSettleMs: target.createSettleMs,
  };
  return {
    ports,
    close: async () => {
      sdk.close();
      await dispatcher.close();
    },
  };
}

/**
 * Wake-ups of a person's are never dropped for another's: each has an id of its own, whatever window the functions use.
 * Somebody who mends a cause and syncs again at once must not be answered by the attempt before.
 */
function lazyApplyQueue(sdk: Sdk, url: () => Promise<string>): ApplyQueue {
  return {
    async wake(groups) {
      if (groups.length === 0) return [];
      const queueUrl = await url();
      return createApplyQueue(sdk.sqs, { queueUrl, coalesceMs: 0, clock: systemClock, newId }).wake(groups);
    },
  };
}
