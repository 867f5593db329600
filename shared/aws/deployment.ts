import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  GetPolicyCommand,
  InvokeCommand,
  type LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import { GetScheduleCommand } from '@aws-sdk/client-scheduler';
import { GetQueueAttributesCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import * as z from 'zod';
import {
  connectionAlias,
  type FunctionKey,
  functionName,
  type QueueKey,
  queueName,
  scheduleName,
} from '../contract/names.ts';
import { once } from '../domain/once.ts';
import {
  type Deployment,
  type FunctionFacts,
  FunctionFailed,
  type Functions,
  type QueueFacts,
  type ScheduleFacts,
  type ScimFacts,
} from '../sync/ports/deployment.ts';
import type { AuditActor, CallerIdentity } from '../sync/ports/logs.ts';
import type { Sdk } from './sdk.ts';

interface DeploymentOptions {
  readonly prefix: string;
  readonly tableName: string;
  readonly region: string;
  readonly isLocal: boolean;
  /** URLs that the caller already knows. `queueUrlsByName` finds all other URLs by the name of the queue. */
  readonly queueUrls: Partial<Readonly<Record<QueueKey, string>>>;
}

const Redrive = z.object({ deadLetterTargetArn: z.string() });

type QueueUrls = (key: QueueKey) => Promise<string | undefined>;

/**
 * Returns a function that finds the URL of a queue by its name, and fetches each URL only once. The function returns
 * undefined if the queue does not exist.
 */
export function queueUrlsByName(sdk: Sdk, { prefix, queueUrls }: DeploymentOptions): QueueUrls {
  const asked = new Map<QueueKey, Promise<string | undefined>>();
  return (key) => {
    const known = queueUrls[key];
    if (known !== undefined) return Promise.resolve(known);
    const named = new GetQueueUrlCommand({ QueueName: queueName(prefix, key) });
    const asking = asked.get(key) ?? unlessMissing(async () => (await sdk.sqs.send(named)).QueueUrl);
    asked.set(key, asking);
    return asking;
  };
}

/**
 * Returns a function that identifies the operator of the command line. On AWS, this is the owner of the credentials,
 * which is fetched only once. On a local stack, it is the user of this machine.
 * @param user the login name of the user of this machine
 */
export const createCaller = ({ sts }: Sdk, isLocal: boolean, user: string): CallerIdentity =>
  once(async (): Promise<AuditActor> => {
    if (isLocal) return { kind: 'operator', id: `local:${user}` };
    const { Arn } = await sts.send(new GetCallerIdentityCommand({}));
    if (Arn === undefined) throw new Error('expected AWS STS to return the ARN of the credentials, got none');
    return { kind: 'operator', id: Arn, arn: Arn };
  });

export function createDeployment(
  sdk: Sdk,
  options: DeploymentOptions,
  urlOf: QueueUrls,
): Omit<Deployment, 'scim' | 'statusOf' | 'allowsLoopback'> {
  const { prefix, region, isLocal } = options;
  return {
    region,
    account: async () =>
      isLocal ? undefined : (await sdk.sts.send(new GetCallerIdentityCommand({}))).Account,
    queue: async (key) => {
      const url = await urlOf(key);
      return url === undefined ? undefined : unlessMissing(() => readQueue(sdk, url));
    },
    table: () => unlessMissing(() => readTable(sdk, options)),
    function: (key) =>
      unlessMissing(() => readFunction(sdk, key, { name: functionName(prefix, key), isLocal })),
    executions: async () => (isLocal ? undefined : ((await readExecutions(sdk)) ?? undefined)),
    schedule: (key) =>
      unlessMissing(async (): Promise<ScheduleFacts> => {
        const { State, ScheduleExpression = '' } = await sdk.scheduler.send(
          new GetScheduleCommand({ Name: scheduleName(prefix, key) }),
        );
        return { enabled: State === 'ENABLED', expression: ScheduleExpression };
      }),
  };
}

async function readQueue(sdk: Sdk, url: string): Promise<QueueFacts> {
  const { Attributes: found = {} } = await sdk.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
  );
  const redrive = Redrive.safeParse(JSON.parse(found.RedrivePolicy ?? 'null'));
  const target = redrive.success ? redrive.data.deadLetterTargetArn : undefined;
  return {
    url,
    visible: Number(found.ApproximateNumberOfMessages ?? 0),
    inFlight: Number(found.ApproximateNumberOfMessagesNotVisible ?? 0),
    delayed: Number(found.ApproximateNumberOfMessagesDelayed ?? 0),
    redrivesTo: target?.slice(target.lastIndexOf(':') + 1),
    key: found.KmsMasterKeyId,
  };
}

async function readTable(sdk: Sdk, { tableName: TableName, isLocal }: DeploymentOptions) {
  const { Table } = await sdk.dynamodb.send(new DescribeTableCommand({ TableName }));
  const warm = [Table, ...(Table?.GlobalSecondaryIndexes ?? [])].map(
    (one) => one?.WarmThroughput?.WriteUnitsPerSecond ?? Number.NaN,
  );
  const warmUnits = Math.min(...warm) || undefined;
  const described = {
    warmUnits,
    active: Table?.TableStatus === 'ACTIVE',
    indexes: (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName = '' }) => IndexName),
  };
  // The emulator supports neither time to live nor backups.
  if (isLocal) return { ...described, timeToLive: null, recoverable: null };
  const timeToLive = await unlessUnsupported(async () => {
    const { TimeToLiveDescription: ttl } = await sdk.dynamodb.send(
      new DescribeTimeToLiveCommand({ TableName }),
    );
    return ttl?.TimeToLiveStatus === 'ENABLED' ? ttl.AttributeName : undefined;
  });
  const recoverable = await unlessUnsupported(async () => {
    const { ContinuousBackupsDescription: backups } = await sdk.dynamodb.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    return backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED';
  });
  const encryption = {
    keyArn: Table?.SSEDescription?.KMSMasterKeyArn,
    isUnusable: Table?.SSEDescription?.InaccessibleEncryptionDateTime !== undefined,
  };
  const isProtected = Table?.DeletionProtectionEnabled === true;
  return { ...described, timeToLive, recoverable, encryption, isProtected };
}

export const configurationOf = (FunctionName: string, { lambda }: Sdk) =>
  lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));

/** Returns the reserved executions of a function; undefined if there are none or they cannot be read. */
async function reservedOf(FunctionName: string, { lambda }: Sdk): Promise<number | undefined> {
  const found = await unlessUnsupported(() =>
    lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })),
  );
  return found?.ReservedConcurrentExecutions;
}

const readExecutions = ({ lambda }: Sdk) =>
  unlessUnsupported(async () => {
    const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
    const { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: unreserved } = AccountLimit ?? {};
    return limit === undefined || unreserved === undefined ? undefined : { limit, unreserved };
  });

async function readFunction(
  sdk: Sdk,
  key: FunctionKey,
  { name: FunctionName, isLocal }: { readonly name: string; readonly isLocal: boolean },
): Promise<FunctionFacts> {
  const { State = 'Unknown' } = await configurationOf(FunctionName, sdk);
  const hasSource = key === 'ingest' || key === 'apply';
  const sources = hasSource
    ? await unlessUnsupported(async () => {
        const answer = await sdk.lambda.send(new ListEventSourceMappingsCommand({ FunctionName }));
        return answer.EventSourceMappings ?? [];
      })
    : null;
  // A function may have several event sources. If one of them is not enabled, its state is reported.
  const source = sources?.find((one) => one.State !== 'Enabled') ?? sources?.[0];
  const reserved = isLocal ? undefined : await reservedOf(FunctionName, sdk);
  return {
    state: State,
    eventSource: sources === null ? undefined : (source?.State ?? 'missing'),
    reserved,
  };
}

const Failure = z.object({ errorType: z.string().optional(), errorMessage: z.string().optional() });

/**
 * Runs deployed functions through Lambda's API and waits for their results. The role of an operator of one connection
 * allows only the alias of that connection. So if a call is denied, `run` calls the alias.
 * @param answerMs how long to wait for a result; undefined: as long as Lambda runs a function (15 minutes)
 */
export function createFunctions(client: LambdaClient, prefix: string, answerMs?: number): Functions {
  async function invoke(FunctionName: string, event: object) {
    const abortSignal = answerMs === undefined ? undefined : AbortSignal.timeout(answerMs);
    const command = new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) });
    return client.send(command, { ...(abortSignal && { abortSignal }) }).catch((error: unknown) => {
      if (answerMs === undefined || abortSignal?.aborted !== true) throw error;
      throw new FunctionFailed(
        `${FunctionName} has not answered within ${answerMs / 1_000} s, and may still finish its work`,
      );
    });
  }
  return {
    async run(name, event) {
      const FunctionName = functionName(prefix, name);
      const { Payload, FunctionError } = await invoke(FunctionName, event).catch(async (denied: Error) => {
        const connection = 'connection' in event ? event.connection : undefined;
        if (denied.name !== 'AccessDeniedException' || typeof connection !== 'string') throw denied;
        return invoke(`${FunctionName}:${connectionAlias(connection)}`, event).catch(() => {
          throw denied;
        });
      });
      const answer: unknown = JSON.parse(Payload?.transformToString() || 'null');
      if (FunctionError === undefined) return answer;
      const failure = Failure.safeParse(answer);
      const reason = failure.success ? (failure.data.errorMessage ?? failure.data.errorType) : FunctionError;
      throw new FunctionFailed(`${FunctionName} failed: ${reason ?? FunctionError}`);
    },
  };
}

/** Emulators add a prefix to the names of some errors, so only the end of the name is compared. */
const MISSING = /(?:NonExistentQueue|QueueDoesNotExist|ResourceNotFoundException|NotFoundException)$/;
const UNSUPPORTED =
  /(?:UnknownOperationException|AccessDenied\w*|ValidationException|NotFoundException)$|^SyntaxError$/;

const unlessMissing = <Result>(ask: () => Promise<Result>) => unless(MISSING, undefined, ask);

/** Returns null if the operation is not supported or not allowed, or if AWS finds nothing. */
const unlessUnsupported = <Result>(ask: () => Promise<Result>) => unless(UNSUPPORTED, null, ask);

async function unless<Result, Instead>(names: RegExp, instead: Instead, ask: () => Promise<Result>) {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Error && names.test(error.name)) return instead;
    throw error;
  }
}

const ASKED_FOR_MS = 5_000;

/**
 * Reads the state of the SCIM server of a deployment. A deployment without the setting `scim` has none.
 * @param known the state, if the caller knows it (local stack, console); null: the deployment has no SCIM server
 */
export function createScimServer(
  sdk: Sdk,
  { prefix, known }: { readonly prefix: string; readonly known: ScimFacts | null | undefined },
): Pick<Deployment, 'scim' | 'statusOf'> {
  const FunctionName = functionName(prefix, 'scim');
  return {
    scim: async () => {
      if (known !== undefined) return known ?? undefined;
      return unlessMissing(async () => {
        const { State = 'Unknown' } = await configurationOf(FunctionName, sdk);
        const policy = await unlessUnsupported(() => sdk.lambda.send(new GetPolicyCommand({ FunctionName })));
        return { state: State, url: urlFrom(policy?.Policy), reserved: await reservedOf(FunctionName, sdk) };
      });
    },

    async statusOf(url) {
      const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ASKED_FOR_MS) });
      await response.body?.cancel();
      return response.status;
    },
  };
}

const Policy = z.object({
  Statement: z.array(
    z.object({ Condition: z.object({ ArnLike: z.object({ 'AWS:SourceArn': z.string() }) }) }),
  ),
});

/**
 * Returns the URL of the HTTP API that may call the function. The function's policy contains the id of this API, and
 * the id is part of the URL.
 */
function urlFrom(policy: string | undefined): string | undefined {
  const parsed = Policy.safeParse(JSON.parse(policy ?? 'null'));
  if (!parsed.success) return undefined;
  for (const { Condition } of parsed.data.Statement) {
    const [, partition, region, api] =
      /^arn:([^:]+):execute-api:([^:]+):[^:]*:([^/]+)\//.exec(Condition.ArnLike['AWS:SourceArn']) ?? [];
    if (api === undefined) continue;
    const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
    return `https://${api}.execute-api.${region}.${suffix}/scim/v2`;
  }
  return undefined;
}
