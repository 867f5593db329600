import type { Check } from '../../contract/answers/connect.ts';
import {
  alarmTopicName,
  FUNCTION_KEYS,
  functionName,
  QUEUE_KEYS,
  type QueueKey,
  queueName,
  SCHEDULE_KEYS,
  scheduleName,
  tableName,
} from '../../contract/names.ts';
import { EVENT_SOURCES, QUEUES, TABLE } from '../../contract/topology.ts';
import type { AlarmClient, Deployment, QueueFacts, TableFacts } from '../../sync/ports/deployment.ts';
import { plural } from '../names.ts';
import { type Checked, check, fault, guarded, passed } from './check.ts';

/** `--revert-drift` is needed, because a deployment with an unchanged template does not revert manual changes. */
const redeploy = 'deploy the stack again, with --revert-drift (see docs/runbook.md)';

interface Inspected {
  readonly prefix: string;
  readonly deployment: Deployment;
}

export async function checkDeployment(inspected: Inspected): Promise<readonly Check[]> {
  const rounds = await Promise.all([
    guarded('account', () => checkAccount(inspected)),
    ...QUEUE_KEYS.map((key) => guarded(`queue ${key}`, () => checkQueue(key, inspected))),
    guarded('table', () => checkTable(inspected)),
    guarded('table key', () => checkEncryption(inspected)),
    ...FUNCTION_KEYS.map((key) => guarded(`function ${key}`, () => checkFunction(key, inspected))),
    guarded('executions', () => checkExecutions(inspected.deployment)),
    guarded('alarm target', () => checkAlarmTarget(inspected)),
    ...SCHEDULE_KEYS.map((key) => guarded(`schedule ${key}`, () => checkSchedule(key, inspected))),
  ]);
  return rounds.flat();
}

/** The AWS errors for invalid credentials. With invalid credentials, every request fails. */
const INVALID_CREDENTIALS =
  /^(?:CredentialsProviderError|ExpiredToken\w*|InvalidClientTokenId|UnrecognizedClientException|(?:InvalidSignature|TokenRefreshRequired)\w*)$/;

/**
 * Checks the AWS credentials first. If they are invalid, every other check would fail for the same reason, so only this
 * fault is reported.
 */
export async function checkAccess({ account }: Deployment): Promise<Check | undefined> {
  const error = await account().then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  if (error === undefined || !INVALID_CREDENTIALS.test(error.name)) return undefined;
  const detail = `AWS refuses the credentials: ${error.name}: ${error.message}`;
  return fault(
    'account',
    detail,
    'give --profile, sign in (aws sso login), or use --local for the stack of npm start',
  );
}

const elsewhere = ({ region }: Deployment, prefix: string) =>
  `check the region and the prefix: searched in ${region} for "${prefix}"; see --region, --prefix and --profile`;

async function checkAccount({ deployment }: Inspected): Promise<Check> {
  const account = await deployment.account();
  const detail =
    account === undefined ? 'the local stack' : `account ${account}, region ${deployment.region}`;
  return passed('account', detail);
}

async function checkQueue(key: QueueKey, { prefix, deployment }: Inspected): Promise<Checked> {
  const name = `queue ${key}`;
  const facts = await deployment.queue(key);
  if (facts === undefined) {
    return fault(name, `there is no queue ${queueName(prefix, key)}`, elsewhere(deployment, prefix));
  }
  const waiting = facts.visible + facts.inFlight + facts.delayed;
  return [
    passed(name, `${queueName(prefix, key)}: ${plural(waiting, 'message')}`),
    ...redriveOf(key, facts, prefix),
    ...(key === 'eventsDlq' || key === 'applyDlq' ? [deadLettersOf(key, waiting)] : []),
  ];
}

function redriveOf(key: QueueKey, { redrivesTo }: QueueFacts, prefix: string): readonly Check[] {
  const wanted = QUEUES[key].redrive;
  if (wanted === undefined) return [];
  const target = queueName(prefix, wanted.to);
  const detail =
    redrivesTo === undefined
      ? 'no dead-letter queue is set'
      : `messages that keep failing go to ${redrivesTo}`;
  return [check(`redrive ${key}`, redrivesTo === target, { detail, fix: `${redeploy}; expected ${target}` })];
}

function deadLettersOf(key: 'eventsDlq' | 'applyDlq', waiting: number): Check {
  const queue = key === 'eventsDlq' ? 'events' : 'apply';
  return check(`dead letters ${queue}`, waiting === 0, {
    detail:
      ['none', '1 message waits for an operator'][waiting] ?? `${waiting} messages wait for an operator`,
    fix: `groupsync dlq list --queue ${queue}`,
  });
}

async function checkTable({ prefix, deployment }: Inspected): Promise<Checked> {
  const facts = await deployment.table();
  if (facts === undefined) {
    return fault('table', `there is no table ${tableName(prefix)}`, elsewhere(deployment, prefix));
  }
  const { active, indexes, timeToLive, recoverable, isProtected } = facts;
  return [
    check('table', active, {
      detail: active ? tableName(prefix) : `${tableName(prefix)} is not active`,
      fix: 'wait until AWS has finished changing the table',
    }),
    check('table index', indexes.includes(TABLE.index.name), {
      detail: indexes.length === 0 ? 'no index' : `index ${indexes.join(', ')}`,
      fix: `${redeploy}; expected an index named ${TABLE.index.name}`,
    }),
    timeToLive !== null &&
      check('table time to live', timeToLive === TABLE.timeToLive, {
        detail: timeToLive === undefined ? 'off: expired items are never deleted' : `by ${timeToLive}`,
        fix: `${redeploy}; expected time to live by ${TABLE.timeToLive}`,
      }),
    recoverable !== null &&
      check('table recovery', recoverable, {
        detail: recoverable ? 'point-in-time recovery is on' : 'point-in-time recovery is off',
        fix: redeploy,
      }),
    // In a stage without `retainData`, the table is unprotected on purpose.
    isProtected !== undefined && passed('table protection', isProtected ? 'on' : UNPROTECTED),
  ].filter((one) => one !== false);
}

const UNPROTECTED =
  'off: a call of dynamodb:DeleteTable deletes the table. A deployment with retainData switches the protection on';

async function checkFunction(key: (typeof FUNCTION_KEYS)[number], { prefix, deployment }: Inspected) {
  const facts = await deployment.function(key);
  const name = functionName(prefix, key);
  if (facts === undefined) {
    return fault(`function ${key}`, `there is no function ${name}`, elsewhere(deployment, prefix));
  }
  const isActive = facts.state === 'Active' || facts.state === 'Inactive';
  return [
    check(`function ${key}`, isActive, {
      detail: `${name} is ${facts.state}`,
      fix: 'wait a minute; if the state does not change, deploy again',
    }),
    facts.reserved === 0 && stopped(`function ${key}`, name),
    facts.eventSource !== undefined &&
      check(`event source ${key}`, facts.eventSource === 'Enabled', {
        detail: `the queue's trigger is ${facts.eventSource}`,
        fix: `enable the trigger of ${name} in the Lambda console, or ${redeploy}`,
      }),
  ].filter((one) => one !== false);
}

/** A reserved concurrency of 0 stops a function, for example while the table is restored (docs/operations.md). */
export const stopped = (title: string, name: string): Check =>
  fault(
    title,
    `${name} has a reserved concurrency of 0, so it never runs`,
    `aws lambda delete-function-concurrency --function-name ${name}`,
  );

async function checkSchedule(key: (typeof SCHEDULE_KEYS)[number], { prefix, deployment }: Inspected) {
  const facts = await deployment.schedule(key);
  const name = scheduleName(prefix, key);
  if (facts === undefined) return fault(`schedule ${key}`, `there is no schedule ${name}`, redeploy);
  return check(`schedule ${key}`, facts.enabled, {
    detail: facts.enabled ? facts.expression : `${name} is switched off`,
    fix: `enable ${name} in EventBridge Scheduler, or ${redeploy}`,
  });
}

/**
 * The maximum number of concurrent executions of all functions except SCIM: the limits of the queues, and one execution
 * for each other function.
 */
const NEEDED =
  Object.values(EVENT_SOURCES).reduce((sum, { maximumConcurrency }) => sum + maximumConcurrency, 0) +
  FUNCTION_KEYS.filter((key) => !(key in EVENT_SOURCES)).length;

const QUOTA = 'docs/deploy.md, "Before you start", shows how to request a higher quota, which is free';

/**
 * Checks how many of the account's executions the SCIM function can use. Requests from the internet must not use up the
 * executions of all functions.
 */
async function checkExecutions(deployment: Deployment): Promise<Checked> {
  const [executions, scim] = await Promise.all([deployment.executions(), deployment.scim()]);
  if (executions === undefined) return [];
  const { limit, unreserved } = executions;
  const account = passed('executions', `the account may run ${limit}; ${unreserved} are not reserved`);
  return scim === undefined ? account : [account, checkReservation(scim.reserved, { limit, unreserved })];
}

function checkReservation(
  reserved: number | undefined,
  { limit, unreserved }: { limit: number; unreserved: number },
): Check {
  if (reserved === undefined)
    return check('scim executions', false, {
      detail: `SCIM requests can use all ${limit} executions of the account, and stop the other functions`,
      fix: `set scimConcurrency to a number, and deploy; ${QUOTA}`,
    });
  return check('scim executions', unreserved >= NEEDED, {
    detail: `${reserved} are reserved for SCIM; ${unreserved} are left for all other functions of the account, and groupsync uses up to ${NEEDED}`,
    fix: `lower scimConcurrency, or ${QUOTA}`,
  });
}

/** `arn:aws:kms:<region>:<account>:key/<id>` and `<id>` name the same key. */
const idOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

/** Checks that table and queues use one key. A table that was restored from a backup may have a different key. */
async function checkEncryption({ prefix, deployment }: Inspected): Promise<Checked> {
  const [table, queue] = await Promise.all([deployment.table(), deployment.queue('events')]);
  if (table?.encryption === undefined || queue?.key === undefined) return [];
  const give = `aws dynamodb update-table --table-name ${tableName(prefix)} --sse-specification Enabled=true,SSEType=KMS,KMSMasterKeyId=${queue.key}`;
  return keyOfTable(table.encryption, { expected: queue.key, give });
}

/** @param give the command that gives the table the expected key */
function keyOfTable(
  { keyArn, isUnusable }: NonNullable<TableFacts['encryption']>,
  { expected, give }: { readonly expected: string; readonly give: string },
): Check {
  if (isUnusable)
    return fault(
      'table key',
      `DynamoDB cannot use the key of the table, ${keyArn}`,
      'enable the key, or cancel its deletion, within 7 days: afterwards DynamoDB archives the table',
    );
  if (keyArn === undefined)
    return fault(
      'table key',
      'the table is encrypted with a key of AWS; a restored table has the key that the restore command named',
      give,
    );
  return check('table key', idOf(keyArn) === idOf(expected), {
    detail: `the table uses ${keyArn}, and the queues use ${expected}`,
    fix: `the permissions of groupsync are for the key of the queues. Give the table the key of the queues:\n${give}`,
  });
}

async function checkAlarmTarget({ prefix, deployment }: Inspected): Promise<readonly Check[]> {
  const { alarms, region } = deployment;
  const account = await deployment.account();
  if (alarms === undefined || account === undefined) return [];
  const topic = `arn:${partitionOf(region)}:sns:${region}:${account}:${alarmTopicName(prefix)}`;
  return [{ ...(await checkSubscriptions(topic, alarms)), name: 'alarm target' }];
}

/** The partition of a region (AWS general reference, "Amazon Resource Names"). */
function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
}

async function checkSubscriptions(topic: string, alarms: AlarmClient): Promise<Check> {
  const all = await alarms.subscriptionsOf(topic);
  const confirmed = all.filter((arn) => arn.startsWith('arn:')).length;
  const waiting = all.length - confirmed;
  return check('alarm subscription', confirmed > 0, {
    detail: `${confirmed} confirmed, ${waiting} to be confirmed`,
    fix:
      waiting > 0
        ? 'follow the link in the mail that AWS sent'
        : 'groupsync deploy --set alarmEmail=ops@example.com',
  });
}
