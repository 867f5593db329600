import {
  Annotations,
  Aspects,
  CfnOutput,
  DefaultStackSynthesizer,
  type IStackSynthesizer,
  Stack,
  type StackProps,
  Tags,
} from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import { Subscription, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { ScheduleKey } from '../shared/contract/names.ts';
import {
  alarmTopicName,
  CONSOLE_URL_OUTPUT,
  ENVIRONMENT,
  QUEUE_KEYS,
  READER_SOURCE_NAME,
  SCIM_URL_OUTPUT,
  STACK_OUTPUTS,
  sourceQueueName,
} from '../shared/contract/names.ts';
import { SCHEDULES } from '../shared/contract/topology.ts';
import { VERSION } from '../shared/contract/version.ts';
import { Alarms } from './alarms.ts';
import { AuditExport } from './audit.ts';
import type { ConnectorFunction } from './connector-function.ts';
import { type CalledByConsole, Console, type ConsoleProps, grantConsole } from './console.ts';
import { Dashboard } from './dashboard.ts';
import type { DeployableKey } from './function-code.ts';
import { Operators } from './operators.ts';
import {
  grant,
  grantNotify,
  grantSecretsKey,
  grantSignatures,
  grantWebIdentity,
  PERMISSIONS,
  type Resources,
} from './permissions.ts';
import { Scim } from './scim.ts';
import { isEmulated, type Settings } from './settings.ts';
import { closeTo, Sources } from './sources.ts';
import { encryptionKey, State, Undelivered } from './state.ts';
import { ScheduledWorker, Worker } from './workers.ts';

export interface ConnectorStackProps extends StackProps {
  readonly settings: Settings;
  /** The folder with the bundled handler of each function, or its code in a bucket. */
  readonly code: Readonly<Record<DeployableKey, string | Code>>;
}

/** The maximum timeout of Lambda. A sweep of 10,000 groups takes minutes. */
const SCHEDULED_TIMEOUT_SECONDS = 900;

/**
 * Enough for the largest batch, group and listing. Processor time is in proportion to memory (1,769 MiB is one vCPU).
 */
const MEMORY_MIB: Readonly<Record<DeployableKey, number>> = {
  ingest: 512,
  apply: 1024,
  reconcile: 1024,
  people: 1024,
  scim: 1024,
  directory: 1024,
  console: 1024,
};

const CALLED_BY_OPERATORS: ReadonlySet<string> = new Set(['reconcile', 'people', 'directory']);

const NO_ALARM_TARGET =
  'no alarm is delivered: set alarmEmail, or subscribe a target to the topic of the alarms';

export class ConnectorStack extends Stack {
  readonly eventsQueue: Queue;
  readonly alarmTopic: Topic;
  protected readonly sources: Sources;

  constructor(scope: Construct, id: string, { settings, code, ...props }: ConnectorStackProps) {
    // An operator switches this protection off before `cdk destroy` (docs/deploy.md, "Remove"). Emulators refuse the
    // property.
    const terminationProtection = settings.retainData && !isEmulated();
    super(scope, id, {
      terminationProtection,
      ...synthesizerOf(settings),
      ...props,
      tags: { ...props.tags, ...settings.tags, 'groupsync:stage': settings.stage },
    });
    obeyAccount(this, settings);
    const { prefix } = settings;
    const output = (name: string, value: string) => new CfnOutput(this, name, { value });
    const key = encryptionKey(this, settings);
    const topic = alarmTopic(this, settings, key);
    this.alarmTopic = topic;
    const every = { settings, key };
    const the = <Name extends DeployableKey>(name: Name, description: string) =>
      ({ ...every, name, description, code: code[name], memoryMiB: MEMORY_MIB[name] }) as const;

    const { table } = new State(this, 'State', every);
    const { queue: undelivered } = new Undelivered(this, 'Undelivered', every);
    const ingest = new Worker(this, 'Ingest', the('ingest', 'Folds directory events into desired state'));
    const apply = new Worker(
      this,
      'Apply',
      the('apply', 'Makes groups of the platform equal to desired state'),
    );
    const scheduled = { timeoutSeconds: SCHEDULED_TIMEOUT_SECONDS };
    const reconcile = new ScheduledWorker(this, 'Reconcile', {
      ...the('reconcile', 'Wakes waiting groups, reads the activity feed, runs sweeps'),
      ...scheduled,
      tasks: [
        task('pump', settings.pumpMinutes, 'Wakes the groups that are due'),
        task('feed', settings.feedMinutes, "Follows the platform's activity feed"),
        longTask('sweep', settings.sweepMinutes, 'Compares all links with all groups of the platform'),
        task('health', SCHEDULES.healthMinutes, 'Checks each credential'),
      ],
    });
    const people = new ScheduledWorker(this, 'People', {
      ...the('people', 'Reads employees into the people index'),
      ...scheduled,
      tasks: [longTask('people', settings.peopleMinutes, 'Refreshes the people index')],
    });
    const directory = settings.directory
      ? new ScheduledWorker(this, 'Directory', {
          ...the('directory', 'Reads directories and sends their differences from desired state'),
          ...scheduled,
          tasks: [
            {
              name: 'directory',
              everyMinutes: settings.directoryMinutes,
              description: 'Reads the directories of the connections',
              payload: {},
            },
          ],
        })
      : undefined;
    const scim = settings.scim ? new Scim(this, 'Scim', the('scim', 'Answers SCIM requests')) : undefined;

    const console = consoleOf(this, the('console', 'Serves the console to people who sign in'));

    const { auditExportDays: lockedDays } = settings;
    const audit = lockedDays && new AuditExport(this, 'Audit', { ...every, table, undelivered, lockedDays });

    this.eventsQueue = ingest.lane.queue;
    const queues = {
      events: ingest.lane.queue,
      eventsDlq: ingest.lane.deadLetters,
      apply: apply.lane.queue,
      applyDlq: apply.lane.deadLetters,
    };
    const optional = [directory, scim, console, audit || undefined];
    const parts = [ingest, apply, reconcile, people, ...optional.filter((part) => part !== undefined)];
    const functions = parts.map(({ worker }) => worker);
    const { ofSources } = ingest.lane;
    const readerQueue = ofSources.get(READER_SOURCE_NAME);
    const resources: Resources = {
      prefix,
      table,
      queues,
      key,
      ofSources: [...ofSources.values()],
      reader: readerQueue,
    };
    const secretsKey = secretsKeyOf(settings, key);
    for (const each of functions) {
      equip(each, settings, resources);
      equipForSecrets(each, secretsKey);
    }
    const called = { ingest: ingest.worker, reconcile: reconcile.worker, people: people.worker };
    equipConsole(console, { ...resources, ...called, scimUrl: scim?.url });
    const targets = settings.notify.map((target) => (target === 'alarms' ? topic.topicArn : target));
    grantNotify(reconcile.worker.role, targets, resources);
    reconcile.worker.function.addEnvironment(ENVIRONMENT.notify, targets.join(','));
    reconcile.worker.function.addEnvironment(ENVIRONMENT.persons, JSON.stringify(settings.persons));
    // A replay turns a dead-lettered message into an event. So only the functions may send to the dead-letter queues.
    closeTo(ingest.worker.role.roleArn, queues.eventsDlq);
    closeTo(apply.worker.role.roleArn, queues.applyDlq);
    // Operators forward the events in this queue (runbook). Only EventBridge, SNS and the copy of the audit may send.
    closeTo(audit ? [audit.worker.role.roleArn] : [], undelivered);

    const reader = equipReader(directory?.worker, readerQueue, settings);
    this.sources = new Sources(this, 'Sources', {
      settings,
      events: queues.events,
      ofSources,
      undelivered,
      key,
      reader,
      console: console?.worker.role.roleArn,
    });
    const workers = functions.filter(({ name }) => CALLED_BY_OPERATORS.has(name));
    new Operators(this, 'Operators', { ...every, secretsKey, workers });
    new Alarms(this, 'Alarms', {
      settings,
      topic,
      functions,
      reconcile: reconcile.worker.function,
      table,
      undelivered,
      events: [queues.events, ...ofSources.values()],
      scim,
      console,
    });
    if (settings.dashboard) new Dashboard(this, 'Dashboard', { prefix, resources, functions });

    for (const key of QUEUE_KEYS) output(STACK_OUTPUTS[key], queues[key].queueUrl);
    for (const [source, { queueUrl }] of ofSources) output(`${STACK_OUTPUTS.events}-${source}`, queueUrl);
    output(STACK_OUTPUTS.table, table.tableName);
    output('Version', VERSION);
    output('KeyArn', key.keyArn);
    output('AlarmTopicArn', topic.topicArn);
    if (scim !== undefined) output(SCIM_URL_OUTPUT, scim.url);
    if (audit) output('AuditBucketName', audit.bucket.bucketName);
  }
}

function synthesizerOf({ bootstrapQualifier: qualifier }: Settings): Pick<StackProps, 'synthesizer'> {
  if (qualifier === undefined) return {};
  // The cast is necessary, because the CDK's types contradict each other under exactOptionalPropertyTypes.
  return { synthesizer: new DefaultStackSynthesizer({ qualifier }) as IStackSynthesizer };
}

/** Gives every role the permissions boundary, and every resource the tags, that the company's account requires. */
function obeyAccount(stack: Stack, { permissionsBoundary, tags }: Settings): void {
  if (permissionsBoundary !== undefined)
    PermissionsBoundary.of(stack).apply(
      ManagedPolicy.fromManagedPolicyArn(stack, 'Boundary', permissionsBoundary),
    );
  for (const [key, value] of Object.entries(tags)) Tags.of(stack).add(key, value);
}

const task = (name: ScheduleKey, everyMinutes: number, description: string) =>
  ({ name, everyMinutes, description, payload: { task: name, everyMinutes } }) as const;

/**
 * A long task is started more often than its interval. Each run works only on connections that are due: whose last run
 * failed once, or was not reached by an earlier run.
 */
const longTask = (...[name, everyMinutes, description]: Parameters<typeof task>) => ({
  ...task(name, everyMinutes, description),
  everyMinutes: Math.min(SCHEDULES.longTaskMinutes, everyMinutes),
});

/** The topic of the alarms. The policy of `enforceSSL` replaces the default policy and grants no access by itself. */
function alarmTopic(stack: Stack, settings: Settings, key: IKey): Topic {
  const topic = new Topic(stack, 'AlarmTopic', {
    topicName: alarmTopicName(settings.prefix),
    masterKey: key,
    enforceSSL: true,
  });
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'Alarms',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
  if (settings.alarmEmail !== undefined) topic.addSubscription(new EmailSubscription(settings.alarmEmail));
  Aspects.of(stack).add({ visit: (node) => void (node === topic && warnWithoutTarget(topic)) });
  return topic;
}

/**
 * Adds a warning to the build of the stack if the alarm topic has no subscription, because then no alarm is delivered.
 */
function warnWithoutTarget(topic: Topic): void {
  if (topic.node.findAll().some((child) => child instanceof Subscription)) return;
  Annotations.of(topic).addWarningV2('groupsync:no-alarm-target', NO_ALARM_TARGET);
}

/** Configures the function that reads directories. @returns undefined if the stage has none */
function equipReader(worker: ConnectorFunction | undefined, queue: Queue | undefined, settings: Settings) {
  if (worker === undefined || queue === undefined) return undefined;
  const { function: target, role } = worker;
  grantWebIdentity(role, settings.directoryAudiences);
  grantSignatures(role, settings.directoryKeys);
  target.addEnvironment(ENVIRONMENT.eventsQueueUrl, queue.queueUrl);
  target.addEnvironment(ENVIRONMENT.directoryMinutes, String(settings.directoryMinutes));
  // For a sign-in without a stored secret, the administrator of the directory must trust this role.
  new CfnOutput(Stack.of(worker), 'DirectoryRoleArn', { value: role.roleArn });
  return { role: role.roleArn, queue };
}

function consoleOf(stack: Stack, props: Omit<ConsoleProps, 'signIn' | 'customUrl'>): Console | undefined {
  const { console: signIn, consoleUrl: customUrl } = props.settings;
  return signIn && new Console(stack, 'Console', { ...props, signIn, customUrl });
}

function equipConsole(console: Console | undefined, on: CalledByConsole): void {
  if (console === undefined) return;
  const { worker, url } = console;
  grantConsole(console, on);
  worker.function.addEnvironment(ENVIRONMENT.eventsQueueUrl, on.queues.events.queueUrl);
  if (on.scimUrl !== undefined) worker.function.addEnvironment(ENVIRONMENT.scimUrl, on.scimUrl);
  on.reconcile.function.addEnvironment(ENVIRONMENT.consoleRole, worker.role.roleArn);
  // Notifications link to the console.
  on.reconcile.function.addEnvironment(ENVIRONMENT.consoleUrl, url);
  new CfnOutput(Stack.of(worker), CONSOLE_URL_OUTPUT, { value: url });
}

const secretsKeyOf = ({ secretsKey }: Settings, { keyArn }: IKey): string | undefined =>
  secretsKey === 'stage' ? keyArn : secretsKey;

function equipForSecrets({ name, function: target, role }: ConnectorFunction, key: string | undefined): void {
  if (key === undefined) return;
  grantSecretsKey(role, PERMISSIONS[name], key);
  // The command line reads the ARN of the key from the environment of this function.
  if (name === 'ingest') target.addEnvironment(ENVIRONMENT.secretsKey, key);
}

/** Gives a function its rights and its environment. */
function equip(
  { name, function: target, role }: ConnectorFunction,
  settings: Settings,
  resources: Resources,
): void {
  grant(role, PERMISSIONS[name], resources);
  const { queues, table } = resources;
  const bound = Object.entries(settings.sources).map(
    ([source, { connection }]) => `${sourceQueueName(settings.prefix, source)}=${connection}`,
  );
  const environment = {
    [ENVIRONMENT.prefix]: settings.prefix,
    [ENVIRONMENT.table]: table.tableName,
    [ENVIRONMENT.applyQueueUrl]: queues.apply.queueUrl,
    [ENVIRONMENT.eventsDlqUrl]: queues.eventsDlq.queueUrl,
    [ENVIRONMENT.applyDlqUrl]: queues.applyDlq.queueUrl,
    [ENVIRONMENT.coalesceSeconds]: String(settings.coalesceSeconds),
    [ENVIRONMENT.logLevel]: settings.logLevel,
    [ENVIRONMENT.boundQueues]: bound.join(','),
  };
  for (const [variable, value] of Object.entries(environment)) target.addEnvironment(variable, value);
}
