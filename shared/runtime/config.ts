import * as z from 'zod';
import { DEFAULT_PREFIX, ENVIRONMENT, tableName } from '../contract/names.ts';
import { DEFAULT_COALESCE_SECONDS } from '../contract/topology.ts';
import { type ConnectionName, connectionName } from '../domain/ids.ts';

/** The environment does not say what it must; a person has to look at the deployment. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const seconds = (most: number) => z.coerce.number().int().check(z.gte(0), z.lte(most));
const queueUrl = z.url().optional();

/** SQS delays a message by at most 900 seconds, two of which are the clock margin. */
const MAX_COALESCE_SECONDS = 898;

const BOUND = /([^,=]+)=([^,=]+)/g;

const Environment = z.object({
  [ENVIRONMENT.prefix]: z.string().min(1).default(DEFAULT_PREFIX),
  [ENVIRONMENT.table]: z.string().min(1).optional(),
  [ENVIRONMENT.applyQueueUrl]: queueUrl,
  [ENVIRONMENT.eventsDlqUrl]: queueUrl,
  [ENVIRONMENT.applyDlqUrl]: queueUrl,
  [ENVIRONMENT.coalesceSeconds]: seconds(MAX_COALESCE_SECONDS).default(DEFAULT_COALESCE_SECONDS),
  [ENVIRONMENT.createSettleSeconds]: seconds(86_400).default(600),
  [ENVIRONMENT.boundQueues]: z
    .string()
    .regex(/^(?:[\w-]+=[a-z0-9-]+(?:,|$))*$/)
    .default(''),
  [ENVIRONMENT.notify]: z
    .string()
    .regex(/^(?:(?:webhook|arn:[\w:-]+)(?:,|$))*$/)
    .default(''),
  [ENVIRONMENT.logLevel]: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
});

export type Config = Readonly<ReturnType<typeof readConfig>>;

/**
 * Reads the environment once.
 * @throws ConfigError that names the variable, what it should hold and what it holds
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env) {
  const parsed = Environment.safeParse(environment);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = issue?.path.join('.') ?? 'the environment';
    throw new ConfigError(`${name}: ${issue?.message}, got ${JSON.stringify(environment[name])}`);
  }
  const { data } = parsed;
  const prefix = data[ENVIRONMENT.prefix];
  return {
    prefix,
    tableName: data[ENVIRONMENT.table] ?? tableName(prefix),
    coalesceMs: data[ENVIRONMENT.coalesceSeconds] * 1_000,
    createSettleMs: data[ENVIRONMENT.createSettleSeconds] * 1_000,
    logLevel: data[ENVIRONMENT.logLevel],
    /** Names of queues whose messages are of one connection, whatever they say. */
    boundQueues: new Map<string, ConnectionName>(
      [...data[ENVIRONMENT.boundQueues].matchAll(BOUND)].map(([, queue = '', name = '']) => [
        queue,
        connectionName(name),
      ]),
    ),
    /** Who is told without asking: `webhook`, ARNs of topics. */
    notify: data[ENVIRONMENT.notify].split(',').filter((target) => target !== ''),
    /** In AWS, not on the local stack. */
    isDeployed: environment['AWS_LAMBDA_FUNCTION_NAME'] !== undefined,
    queueUrls: {
      apply: data[ENVIRONMENT.applyQueueUrl],
      eventsDlq: data[ENVIRONMENT.eventsDlqUrl],
      applyDlq: data[ENVIRONMENT.applyDlqUrl],
    },
  };
}

/** @throws ConfigError where a function that needs the value was deployed without it */
export function required<Value>(value: Value | undefined, variable: string): Value {
  if (value === undefined) throw new ConfigError(`${variable}: expected a value, got nothing`);
  return value;
}
