import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { CreateQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { CALM_SETTINGS } from '../../directory-simulator/engine/settings.ts';
import { createDirectorySimulator } from '../../directory-simulator/engine/simulator.ts';
import { google } from '../../directory-simulator/google/dialect.ts';
import { bundleHandlers } from '../../infra/bundle.ts';
import { DEPLOYABLE_KEYS, type DeployableKey } from '../../infra/function-code.ts';
import { CLIENT_ID, startLoginProvider } from '../../local/console-login/provider.ts';
import { roleAccounts } from '../../local/console-login/start.ts';
import { createTable } from '../../local/emulators/dynamodb.ts';
import { startAwsFront } from '../../local/emulators/front.ts';
import { createLambda } from '../../local/emulators/lambda.ts';
import { createSecretsManager } from '../../local/emulators/secrets-manager.ts';
import { createQueues, startSqs } from '../../local/emulators/sqs.ts';
import type { LocalFunction } from '../../local/invocation.ts';
import { createSimulator } from '../../local/platform/simulator.ts';
import { type Browser, createBrowser } from '../../scripts/deploy-check/console-browser.ts';
import { type DeployedFunction, startFunction } from '../../scripts/deploy-check/deployed-function.ts';
import { type Recorder, startRecorder } from '../../scripts/deploy-check/recorder.ts';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { type ConsoleSignInProps, ROLES } from '../../shared/contract/console.ts';
import {
  consoleSecretName,
  DEFAULT_CONNECTION,
  directorySecretName,
  ENVIRONMENT,
  functionName,
  readerQueueName,
  secretName,
  sourceQueueName,
  tableName,
} from '../../shared/contract/names.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import type { Table } from '../../shared/store/table.ts';

const PREFIX = 'groupsync';
const REGION = 'us-east-1';
const TOKEN = 'access-token';
const CONSOLE_URL = 'https://console.acme.test';
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** The bundles of all functions, which run on emulators. Each function has its own recorder of AWS calls. */
export interface CallingFunctions {
  readonly functions: Readonly<Record<DeployableKey, DeployedFunction>>;
  readonly recorders: Readonly<Record<DeployableKey, Recorder>>;
  /** The table. Tests write items into it that the functions would create only after months. */
  readonly table: Table;
  /** Starts a browser without a session of the console. The provider has one account per role, named after the role. */
  openBrowser(): Browser;
  /** Sends a message to the dead-letter queue of ingest. @param queue the events queue of the message */
  deadLetter(MessageBody: string, queue: string): Promise<void>;
  /** Sends a request to a test control of the simulator, below `/_simulator/`. */
  control(method: string, path: string, body: unknown): Promise<unknown>;
  changeDirectory(change: object): Promise<unknown>;
  /**
   * Replaces the secret, so that its access token is expired. The next function that reads it must refresh the token.
   */
  expireCredential(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the token endpoint of the company. Each refresh returns the same access token and a new refresh token. */
async function startTokenEndpoint() {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ access_token: TOKEN, token_type: 'bearer', expires_in: 3600, refresh_token: 'next' }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/token`, close: () => void server.close() };
}

const ADMINISTRATOR = 'admin@acme.test';

/** Starts a directory with one group that can be deleted, and creates the key that reads the directory. */
async function startDirectory() {
  const simulator = createDirectorySimulator({
    dialect: google({}),
    world: {
      domain: 'acme.test',
      users: [{ id: 'd-admin', primaryEmail: ADMINISTRATOR, isAdmin: true }],
      groups: ['read', 'kept'].map((id) => ({
        id,
        email: `${id}@acme.test`,
        name: id,
        members: [{ member: ADMINISTRATOR }],
      })),
    },
    seed: '1',
    clock: Date.now,
    settings: CALM_SETTINGS,
  });
  const { url } = await simulator.listen();
  const control = async (name: string, payload: object): Promise<unknown> =>
    (await simulator.app.inject({ method: 'POST', url: `/_simulator/${name}`, payload })).json();
  const key = await control('service-account-key', { url });
  const setting = { kind: 'google', administrator: ADMINISTRATOR, baseUrl: url };
  return { key, setting, control, close: () => simulator.close() };
}

const signInAt = (issuer: string): ConsoleSignInProps => ({
  issuer,
  clientId: CLIENT_ID,
  hasSecret: true,
  scopes: ['openid', 'email', 'profile', 'groups'],
  roles: ROLES.map((role) => ({ claim: 'groups', value: `groupsync-${role}`, role })),
});

/** The SDK sends requests to the host of the queue URL, so this host must be the recorder. */
const through = (recorder: Recorder, queueUrl: string) => `${recorder.url}${new URL(queueUrl).pathname}`;

export async function startCallingFunctions(world: { employees: unknown[] }): Promise<CallingFunctions> {
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-calls-'));
  const code = bundleHandlers(join(folder, 'code'));
  const running = new Map<string, LocalFunction>();
  const services = [createSecretsManager(), createLambda(running)];
  const front = await startAwsFront({ port: 0, services });
  const sqs = await startSqs(0);
  const token = await startTokenEndpoint();
  let ids = 0;
  const simulator = createSimulator({
    world: {
      companies: [{ id: 'company', employees: world.employees as never }],
      credentials: [{ token: TOKEN, kind: 'oauth_app', company: 'company' }],
    },
    clock: Date.now,
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
  });
  const platform = await simulator.listen();
  const directory = await startDirectory();

  const common = { region: REGION, credentials: CREDENTIALS };
  const dynamodb = new DynamoDBClient({ ...common, endpoint: front.url });
  await createTable(dynamodb, tableName(PREFIX));
  const sqsClient = new SQSClient({ ...common, endpoint: sqs.url });
  const queues = await createQueues(sqsClient, { prefix: PREFIX });
  const { QueueUrl: readerQueue = '' } = await sqsClient.send(
    new CreateQueueCommand({ QueueName: readerQueueName(PREFIX) }),
  );
  await sqsClient.send(new CreateQueueCommand({ QueueName: sourceQueueName(PREFIX, 'okta') }));
  const sleep = () => Promise.resolve();
  const table = createDynamoTable(dynamodb, { tableName: tableName(PREFIX), sleep });
  await createConnectionStore(table, { clock: Date.now, rememberMs: 0 }).save({
    name: DEFAULT_CONNECTION,
    company: 'company',
    settings: parseSettings({ baseUrl: platform.url, directory: directory.setting }),
    observing: false,
  });
  const secrets = new SecretsManagerClient({ ...common, endpoint: front.url });
  const Name = secretName(PREFIX, DEFAULT_CONNECTION);
  const SecretString = JSON.stringify({
    clientId: 'id',
    clientSecret: 'secret',
    refreshToken: 'first',
    tokenUrl: token.url,
  });
  await secrets.send(new CreateSecretCommand({ Name, SecretString }));
  await secrets.send(
    new CreateSecretCommand({
      Name: directorySecretName(PREFIX, DEFAULT_CONNECTION),
      SecretString: JSON.stringify(directory.key),
    }),
  );

  const clientSecret = 'the-secret-of-the-client'.repeat(2);
  const redirectUri = `${CONSOLE_URL}/auth/callback`;
  const accounts = roleAccounts();
  accounts.set('second', { groups: ['groupsync-administrator'] });
  const provider = await startLoginProvider({ redirectUri, clientSecret, accounts });
  const ofConsole = { Name: consoleSecretName(PREFIX), SecretString: JSON.stringify({ clientSecret }) };
  await secrets.send(new CreateSecretCommand(ofConsole));

  const started = await Promise.all(
    DEPLOYABLE_KEYS.map(async (name) => {
      const recorder = await startRecorder((service) => (service === 'sqs' ? sqs.url : front.url));
      const target = await startFunction({
        name,
        file: join(code[name], 'index.mjs'),
        timeoutMs: 20_000,
        logFile: join(folder, `${name}.log`),
        environment: {
          PATH: process.env['PATH'] ?? '',
          AWS_REGION: REGION,
          AWS_ACCESS_KEY_ID: 'local',
          AWS_SECRET_ACCESS_KEY: 'local',
          AWS_ENDPOINT_URL: recorder.url,
          [ENVIRONMENT.prefix]: PREFIX,
          [ENVIRONMENT.eventsQueueUrl]: through(recorder, name === 'directory' ? readerQueue : queues.events),
          [ENVIRONMENT.applyQueueUrl]: through(recorder, queues.apply),
          [ENVIRONMENT.eventsDlqUrl]: through(recorder, queues.eventsDlq),
          [ENVIRONMENT.applyDlqUrl]: through(recorder, queues.applyDlq),
          [ENVIRONMENT.coalesceSeconds]: '0',
          ...(name === 'console' && {
            [ENVIRONMENT.console]: JSON.stringify(signInAt(provider.issuer)),
            [ENVIRONMENT.consoleUrl]: CONSOLE_URL,
            [ENVIRONMENT.scimUrl]: `${front.url}/scim/v2`,
          }),
        },
      });
      return { name, recorder, target };
    }),
  );
  for (const { name, target } of started) {
    const named = functionName(PREFIX, name);
    running.set(named, { name: named, timeoutSeconds: 20, handler: target.invoke });
  }
  const by = <Value>(pick: (one: (typeof started)[number]) => Value) =>
    Object.fromEntries(started.map((one) => [one.name, pick(one)])) as Record<DeployableKey, Value>;
  return {
    functions: by(({ target }) => target),
    recorders: by(({ recorder }) => recorder),
    table,
    openBrowser: () => createBrowser(by(({ target }) => target).console, CONSOLE_URL),
    async deadLetter(MessageBody, queue) {
      const MessageAttributes = { queue: { DataType: 'String', StringValue: queue } };
      await sqsClient.send(
        new SendMessageCommand({ QueueUrl: queues.eventsDlq, MessageBody, MessageAttributes }),
      );
    },
    async control(method, path, body) {
      const response = await fetch(`${platform.url}/_simulator/${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.json().catch(() => undefined);
    },
    changeDirectory: (change) => directory.control('changes', change),
    async expireCredential() {
      await secrets.send(new PutSecretValueCommand({ SecretId: Name, SecretString }));
    },
    async stop() {
      for (const { target, recorder } of started) {
        target.stop();
        await recorder.close();
      }
      token.close();
      provider.stop();
      await Promise.all([simulator.close(), directory.close(), front.close(), sqs.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
