import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { startAwsFront } from '../../local/emulators/front.ts';
import { createLambda } from '../../local/emulators/lambda.ts';
import {
  FUNCTION_KEYS,
  type FunctionKey,
  functionName,
  type OptionalFunctionKey,
  STACK_OUTPUTS,
  tableName,
} from '../../shared/contract/names.ts';
import type { Environment, StageOfStack } from './cdk.ts';
import { type DeployedFunction, startDeployedFunction } from './deployed-function.ts';
import { type EventSource, startEventSource } from './event-source.ts';

export interface Clients {
  readonly dynamodb: DynamoDBClient;
  readonly lambda: LambdaClient;
  readonly secrets: SecretsManagerClient;
  readonly sns: SNSClient;
  readonly sqs: SQSClient;
}

export function createClients(endpoint: string, region: string): Clients {
  const common = { endpoint, region, credentials: { accessKeyId: 'testing', secretAccessKey: 'testing' } };
  return {
    dynamodb: new DynamoDBClient(common),
    lambda: new LambdaClient(common),
    secrets: new SecretsManagerClient(common),
    sns: new SNSClient(common),
    sqs: new SQSClient(common),
  };
}

/** Returns a function that reads an output of the stack by its name in `names.ts`. */
export function readOutputs(stage: StageOfStack) {
  const Outputs = z.object({ [stage.prefix]: z.record(z.string(), z.string()) });
  const outputs = Outputs.parse(JSON.parse(readFileSync(join(stage.out, 'outputs.json'), 'utf8')))[
    stage.prefix
  ];
  return (name: string): string => {
    const value = outputs?.[name];
    if (value === undefined) throw new Error(`expected the output ${name} of the stack ${stage.prefix}`);
    return value;
  };
}

export interface Running {
  readonly functions: Readonly<Record<FunctionKey, DeployedFunction>>;
  /** The function `scim`; undefined if the stage was deployed without SCIM. */
  readonly scim: DeployedFunction | undefined;
  /** The function `console`; undefined if the stage was deployed without the console. */
  readonly console: DeployedFunction | undefined;
  /** @throws the first error of a function */
  stop(): Promise<void>;
}

export async function run(
  clients: Clients,
  stage: StageOfStack,
  options: { env: Environment; logFile: string },
): Promise<Running> {
  const start = (key: FunctionKey | OptionalFunctionKey, env = options.env) =>
    startDeployedFunction(clients.lambda, functionName(stage.prefix, key), { stage, ...options, env });
  const started = await Promise.all(FUNCTION_KEYS.map(async (key) => [key, await start(key)] as const));
  const scim = stage.context['scim'] === 'true' ? await start('scim') : undefined;
  const functions = Object.fromEntries(started) as Record<FunctionKey, DeployedFunction>;
  const lambda = await startLambda(functions);
  const hasConsole = stage.settings?.['console'] !== undefined;
  const console = hasConsole ? await start('console', { ...options.env, ...lambda.env }) : undefined;
  const sources: EventSource[] = [];
  for (const target of Object.values(functions)) {
    const { EventSourceMappings = [] } = await clients.lambda.send(
      new ListEventSourceMappingsCommand({ FunctionName: target.name }),
    );
    for (const mapping of EventSourceMappings)
      sources.push(await startEventSource(clients.sqs, mapping, target));
  }
  if (sources.length !== 2) throw new Error(`expected 2 event source mappings, found ${sources.length}`);
  return {
    functions,
    scim,
    console,
    async stop() {
      try {
        await Promise.all(sources.map((source) => source.stop()));
      } finally {
        for (const target of [...Object.values(functions), scim, console]) target?.stop();
        await lambda.close();
      }
    },
  };
}

/** Starts a server for Lambda's Invoke API. The AWS emulator cannot run the deployed functions. */
async function startLambda(functions: Readonly<Record<string, DeployedFunction>>) {
  const named = Object.values(functions).map(({ name, invoke: handler }) => {
    return [name, { name, timeoutSeconds: 900, handler }] as const;
  });
  const { url, close } = await startAwsFront({ port: 0, services: [createLambda(new Map(named))] });
  return { env: { AWS_ENDPOINT_URL_LAMBDA: url }, close };
}

/** Returns values that an update in place must not change. A replaced table or queue has a new creation time. */
export async function identityOf(clients: Clients, stage: StageOfStack): Promise<Record<string, string>> {
  const output = readOutputs(stage);
  const identity: Record<string, string> = { table: String(await tableCreatedAt(clients, stage)) };
  for (const queue of ['events', 'eventsDlq', 'apply', 'applyDlq'] as const) {
    const { Attributes } = await clients.sqs.send(
      new GetQueueAttributesCommand({
        QueueUrl: output(STACK_OUTPUTS[queue]),
        AttributeNames: ['CreatedTimestamp', 'QueueArn'],
      }),
    );
    identity[queue] = `${Attributes?.['QueueArn']} ${Attributes?.['CreatedTimestamp']}`;
  }
  return identity;
}

/** Returns the creation time of the stage's table in ms; undefined if there is no table. */
export async function tableCreatedAt(
  clients: Clients,
  { prefix }: StageOfStack,
): Promise<number | undefined> {
  try {
    const described = await clients.dynamodb.send(new DescribeTableCommand({ TableName: tableName(prefix) }));
    return described.Table?.CreationDateTime?.getTime();
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

export async function queuesOf(clients: Clients, { prefix }: StageOfStack): Promise<readonly string[]> {
  const { QueueUrls = [] } = await clients.sqs.send(new ListQueuesCommand({ QueueNamePrefix: `${prefix}-` }));
  return QueueUrls;
}
