import type { BoundQueue } from '../contract/decode.ts';
import { parseJson } from '../contract/json.ts';
import { DEFAULT_PREFIX, ENVIRONMENT, tableName } from '../contract/names.ts';
import type { Persons } from '../contract/person.ts';
import { DEFAULT_COALESCE_SECONDS } from '../contract/topology.ts';
import { parsedUrl } from '../contract/url.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { LEVELS } from './logger.ts';

/** A required environment variable is missing or invalid. An operator must correct the deployment. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** SQS delays a message by at most 900 seconds. Two of these seconds are kept free, because clocks differ. */
const MAX_COALESCE_SECONDS = 898;

const boundOf = ([queue, to]: [string, ConnectionName]): [string, BoundQueue] => [queue, { queue, to }];

function isTexts(text: string): boolean {
  const json = parseJson(text);
  const isObject = json.ok && typeof json.value === 'object' && json.value !== null;
  return isObject && Object.values(json.value as object).every((value) => typeof value === 'string');
}

export type Config = Readonly<ReturnType<typeof readConfig>>;

/** Reads the environment variables. @throws ConfigError with the variable, the expected value and the actual value */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env) {
  const read = (variable: keyof typeof ENVIRONMENT, what: string, holds: (text: string) => boolean) => {
    const name = ENVIRONMENT[variable];
    const value = environment[name];
    if (value === undefined || holds(value)) return value;
    throw new ConfigError(`${name}: expected ${what}, got ${JSON.stringify(value)}`);
  };
  const name = (variable: 'prefix' | 'table') => read(variable, 'a name', (text) => text !== '');
  const url = (variable: 'eventsQueueUrl' | 'applyQueueUrl' | 'eventsDlqUrl' | 'applyDlqUrl') =>
    read(variable, 'a URL', (text) => parsedUrl(text) !== undefined && !/\s/.test(text));
  const ms = (variable: 'coalesceSeconds' | 'createSettleSeconds', most: number, usual: number) => {
    const isRight = (text: string) => Number.isInteger(+text) && +text >= 0 && +text <= most;
    return Number(read(variable, `a whole number from 0 to ${most}`, isRight) ?? usual) * 1_000;
  };
  const list = (variable: 'boundQueues' | 'notify' | 'scimAllowedIps', what: string, form: RegExp) =>
    (read(variable, `${what}, separated by commas`, (text) => form.test(text)) ?? '').match(/[^,]+/g) ?? [];
  const directoryMinutes = read('directoryMinutes', 'a whole number from 1 to 60', (text) =>
    /^(?:[1-9]|[1-5]\d|60)$/.test(text),
  );
  const level = (text?: string) => LEVELS.find((known) => known === text);
  const prefix = name('prefix') ?? DEFAULT_PREFIX;
  const boundQueues = list('boundQueues', 'queue=connection', /^(?:[\w-]+=[a-z0-9-]+(?:,|$))*$/);
  return {
    prefix,
    tableName: name('table') ?? tableName(prefix),
    coalesceMs: ms('coalesceSeconds', MAX_COALESCE_SECONDS, DEFAULT_COALESCE_SECONDS),
    createSettleMs: ms('createSettleSeconds', 86_400, 600),
    logLevel: level(read('logLevel', LEVELS.join(' or '), (text) => !!level(text))) ?? 'info',
    boundQueues: new Map(boundQueues.map((one) => boundOf(one.split('=') as [string, ConnectionName]))),
    directoryMinutes: directoryMinutes === undefined ? undefined : Number(directoryMinutes),
    /** Notification targets: `webhook` and ARNs of topics. */
    notify: list('notify', 'webhook or ARNs of topics', /^(?:(?:webhook|arn:[\w:-]+)(?:,|$))*$/),
    /** ARN of the KMS key for the secrets of connections; undefined: the default key of Secrets Manager. */
    secretsKey: read('secretsKey', 'the ARN of a key', (text) => /^arn:[\w:/-]+$/.test(text)),
    persons: JSON.parse(read('persons', 'a JSON object of texts', isTexts) ?? '{}') as Persons,
    /** The sign-in settings of the console, as JSON; undefined: this function is not the console. */
    console: read('console', 'a JSON object', (text) => parseJson(text).ok),
    /** The URL of the console; undefined: the stage has no console. */
    consoleUrl: read('consoleUrl', 'a URL', (text) => parsedUrl(text) !== undefined),
    /** The ARN of the console's role; undefined: the stage has no console. */
    consoleRole: read('consoleRole', 'the ARN of a role', (text) => /^arn:[\w:/+=,.@-]+$/.test(text)),
    /** The base URL of the SCIM server, which the console shows; undefined: the stage has no SCIM server. */
    scimUrl: read('scimUrl', 'a URL', (text) => parsedUrl(text) !== undefined),
    /** IP addresses and ranges that may send SCIM requests. If the list is empty, every address may. */
    scimAllowedIps: list('scimAllowedIps', 'IP addresses and ranges', /^[\da-f:./,]*$/i),
    /** Lambda sets this variable. */
    region: environment['AWS_REGION'] ?? '',
    /** True in a function of AWS or of an emulator, false on the local stack. */
    isDeployed: environment['AWS_LAMBDA_FUNCTION_NAME'] !== undefined,
    /** True if an emulator answers the AWS SDK. The platform then runs on the same machine. */
    isEmulated: environment['AWS_ENDPOINT_URL'] !== undefined,
    emulator: environment['AWS_ENDPOINT_URL'],
    queueUrls: {
      events: url('eventsQueueUrl'),
      apply: url('applyQueueUrl'),
      eventsDlq: url('eventsDlqUrl'),
      applyDlq: url('applyDlqUrl'),
    },
  };
}

/** @throws ConfigError if the function was deployed without this variable, although it needs the value */
export function required<Value>(value: Value | undefined, variable: string): Value {
  if (value === undefined) throw new ConfigError(`${variable}: expected a value, got nothing`);
  return value;
}
