import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { parseSettings } from '../shared/contract/change-setting.ts';
import {
  DEFAULT_CONNECTION,
  MESSAGE_ATTRIBUTES,
  SCIM_URL_OUTPUT,
  STACK_OUTPUTS,
  secretName,
  tableName,
} from '../shared/contract/names.ts';
import { createConnectionStore } from '../shared/store/connection-store.ts';
import { createDynamoTable } from '../shared/store/dynamo-table.ts';
import { type Cdk, createCdk, type Environment, type StageOfStack } from './deploy-check/cdk.ts';
import {
  type Clients,
  createClients,
  identityOf,
  queuesOf,
  type Running,
  readOutputs,
  run,
  tableCreatedAt,
} from './deploy-check/deployment.ts';
import {
  FIRST_GROUPS,
  firstEvents,
  LATER_GROUPS,
  laterEvents,
  SCIM_GROUPS,
  send,
  sendScim,
  untilGroups,
} from './deploy-check/scenario.ts';
import { scimClient } from './deploy-check/scim-client.ts';
import { COMPANY, type Platform, startPlatform, TOKEN } from './deploy-check/simulator.ts';

/**
 * `npm run deploy:check` tests the deployment on an AWS emulator. It deploys two stages, sends events to the deployed
 * queues, runs the deployed bundles and checks the groups on the platform simulator. Then it runs a diff, updates the
 * stages in place, and destroys them. AWS_ENDPOINT_URL is the address of the emulator. Only a loopback address is
 * accepted. So the check cannot reach a real account. The emulator must support CloudFormation, IAM, KMS, SQS,
 * DynamoDB, Lambda, API Gateway, Scheduler, CloudWatch, SNS, Secrets Manager, S3, SSM and STS.
 */

const REGION = 'eu-west-1';
const ACCOUNT = '123456789012';
const TIMEOUT_MS = 120_000;

const SKIPPED = `deploy:check skipped: no emulator given.
Start one that knows CloudFormation and name it: AWS_ENDPOINT_URL=http://127.0.0.1:PORT npm run deploy:check`;

function main(): Promise<void> | void {
  const endpoint = process.env['AWS_ENDPOINT_URL'];
  if (!endpoint) {
    console.log(SKIPPED);
    return;
  }
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(new URL(endpoint).hostname)) {
    console.error(
      `deploy:check refuses ${endpoint}: expected a loopback address, so that the check reaches no real account`,
    );
    process.exitCode = 2;
    return;
  }
  return check(endpoint);
}

/** Returns an environment for the CDK CLI and the functions, without the AWS configuration of the user. */
function environmentFor(endpoint: string): Environment {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const s3 = new URL(endpoint);
  s3.hostname = 'localhost';
  return {
    PATH,
    HOME,
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    AWS_ENDPOINT_URL: endpoint,
    // The address from which CloudFormation reads the template. Emulators need the host name "localhost", to separate
    // bucket and host.
    AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION:
      process.env['AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION'] ?? s3.origin,
    AWS_ACCESS_KEY_ID: 'testing',
    AWS_SECRET_ACCESS_KEY: 'testing',
    AWS_SESSION_TOKEN: 'testing',
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    CDK_DEFAULT_ACCOUNT: ACCOUNT,
    CDK_DEFAULT_REGION: REGION,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    NO_PROXY: '127.0.0.1,localhost',
  };
}

interface Check {
  readonly cdk: Cdk;
  readonly clients: Clients;
  readonly env: Environment;
  readonly folder: string;
  readonly platform: Platform;
  /** The stage that is deployed and updated. When it is destroyed, its data stays. */
  readonly stage: StageOfStack;
  /** The second stage. When it is destroyed, its data is deleted. */
  readonly second: StageOfStack;
}

async function check(endpoint: string): Promise<void> {
  const env = environmentFor(endpoint);
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-deploy-check-'));
  const prefix = `check-${Date.now().toString(36)}`;
  const platform = await startPlatform(folder);
  const startedAt = Date.now();
  let failed = true;
  try {
    await checkStages({
      cdk: createCdk(env),
      clients: createClients(endpoint, REGION),
      env,
      folder,
      platform,
      stage: { prefix, out: join(folder, 'first'), context: {} },
      second: {
        prefix: `${prefix}-b`,
        out: join(folder, 'second'),
        context: { stage: 'staging', retainData: 'false', auditExportDays: '1' },
      },
    });
    failed = false;
    console.log(`done in ${seconds(startedAt)}`);
  } finally {
    platform.stop();
    if (failed) console.error(`the deployed files and the logs are in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

async function checkStages(on: Check): Promise<void> {
  const { cdk, clients, stage, second } = on;
  await step('synthesise both stages', () => Promise.all([cdk.synth(stage), cdk.synth(second)]));
  await step('bootstrap', () => cdk.bootstrap(ACCOUNT, REGION));
  await step(`deploy ${stage.prefix}`, () => cdk.deploy(stage));
  await step(`deploy ${second.prefix} beside it`, () => cdk.deploy(second));
  await step('connect', () => connect(on));
  await step('events become groups, and one invalid message is dead-lettered', () =>
    whileRunning(on, async (running) => {
      await running.functions.people.invoke({});
      await send(clients, stage, firstEvents(new Date().toISOString()));
      await untilGroups(running, on.platform, { expected: FIRST_GROUPS, timeoutMs: TIMEOUT_MS });
      await expectDeadLetter(on);
      for (const task of ['feed', 'sweep', 'health']) await running.functions.reconcile.invoke({ task });
    }),
  );
  await step('diff is clean', () => cdk.expectNoDifference(stage));

  const changed = {
    ...stage,
    out: join(on.folder, 'changed'),
    context: { coalesceSeconds: '0', logLevel: 'debug', scim: 'true' },
  };
  const before = await identityOf(clients, stage);
  await step('update in place, with SCIM switched on', async () => {
    await cdk.synth(changed);
    await cdk.deploy(changed);
    expectEqual('tables and queues after the update', await identityOf(clients, changed), before);
    await cdk.expectNoDifference(changed);
  });
  await step('events become groups after the update', () =>
    whileRunning({ ...on, stage: changed }, async (running) => {
      await send(clients, changed, laterEvents(new Date().toISOString()));
      await untilGroups(running, on.platform, { expected: LATER_GROUPS, timeoutMs: TIMEOUT_MS });
    }),
  );
  await step('SCIM requests create one more group', () =>
    whileRunning({ ...on, stage: changed }, async (running) => {
      if (running.scim === undefined) throw new Error('expected the update to bring the SCIM function');
      expectEqual(
        'the path of the SCIM URL',
        new URL(readOutputs(changed)(SCIM_URL_OUTPUT)).pathname,
        '/scim/v2',
      );
      await sendScim(await scimClient(running.scim, tableOf(on)));
      await untilGroups(running, on.platform, { expected: SCIM_GROUPS, timeoutMs: TIMEOUT_MS });
    }),
  );
  await step('destroy both: the first stage keeps its data, and the second does not', async () => {
    const createdAt = await tableCreatedAt(clients, changed);
    await cdk.destroy(changed);
    await cdk.destroy(second);
    expectEqual(
      'queues left',
      [...(await queuesOf(clients, changed)), ...(await queuesOf(clients, second))],
      [],
    );
    expectEqual('the table of the first stage', await tableCreatedAt(clients, changed), createdAt);
    expectEqual('the table of the second stage', await tableCreatedAt(clients, second), undefined);
  });
}

/** Stores a credential and a connection, as `groupsync connect` does. */
async function connect({ clients, stage, platform }: Check): Promise<void> {
  await clients.secrets.send(
    new CreateSecretCommand({
      Name: secretName(stage.prefix, DEFAULT_CONNECTION),
      SecretString: JSON.stringify({ token: TOKEN }),
    }),
  );
  await createConnectionStore(tableOf({ clients, stage }), { clock: Date.now, rememberMs: 0 }).save({
    name: DEFAULT_CONNECTION,
    company: COMPANY,
    settings: parseSettings({ baseUrl: platform.baseUrl }),
    observing: false,
  });
}

function tableOf({ clients, stage }: Pick<Check, 'clients' | 'stage'>) {
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  return createDynamoTable(clients.dynamodb, { tableName: tableName(stage.prefix), sleep });
}

async function whileRunning(on: Check, work: (running: Running) => Promise<void>): Promise<void> {
  const { clients, stage, env, folder } = on;
  const running = await run(clients, stage, { env, logFile: join(folder, 'functions.log') });
  try {
    await work(running);
  } finally {
    await running.stop();
  }
}

async function expectDeadLetter({ clients, stage }: Check): Promise<void> {
  const { Messages = [] } = await clients.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: readOutputs(stage)(STACK_OUTPUTS.eventsDlq),
      WaitTimeSeconds: 10,
      MessageAttributeNames: ['All'],
    }),
  );
  const found = Messages.map(({ Body, MessageAttributes }) => [
    Body,
    MessageAttributes?.[MESSAGE_ATTRIBUTES.errorCode]?.StringValue,
  ]);
  expectEqual('dead-lettered messages', found, [['not an event', 'invalid_json']]);
}

function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== should) throw new Error(`${what}: expected ${should}, found ${is}`);
}

async function step(title: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = Date.now();
  await work();
  console.log(`ok ${seconds(startedAt).padStart(7)}  ${title}`);
}

const seconds = (since: number) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

await main();
