import { Duration } from 'aws-cdk-lib';
import type { AlarmProps, IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  Alarm,
  ComparisonOperator,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { METRIC_DIMENSION, type MetricName } from '../shared/contract/metrics.ts';
import { METRIC_NAMESPACE } from '../shared/contract/names.ts';
import { TABLE } from '../shared/contract/topology.ts';
import type { ConnectorFunction } from './connector-function.ts';
import type { Console } from './console.ts';
import type { Scim } from './scim.ts';
import type { Settings } from './settings.ts';

interface AlarmsProps {
  readonly settings: Pick<
    Settings,
    'prefix' | 'runbookUrl' | 'pumpMinutes' | 'sweepMinutes' | 'peopleMinutes'
  >;
  readonly topic: ITopic;
  readonly functions: readonly ConnectorFunction[];
  readonly reconcile: IFunction;
  readonly table: Table;
  readonly undelivered: IQueue;
  readonly events: readonly IQueue[];
  readonly scim: Scim | undefined;
  readonly console: Console | undefined;
}

interface AlarmSpec extends Pick<AlarmProps, 'datapointsToAlarm'> {
  /** The heading in the runbook. The alarm's name contains the heading and `of`. */
  readonly heading: string;
  /** What the alarm watches, if several alarms have the same heading. */
  readonly of?: string;
  /** One sentence that describes the state in which the alarm fires. */
  readonly meaning: string;
  /** The first command to run. */
  readonly command: string;
  readonly metrics: Readonly<Record<string, IMetric>>;
  /** Default: the sum of the metrics. A metric without data counts as 0. */
  readonly expression?: string;
  readonly period: Duration;
  /** Default: 1. */
  readonly threshold?: number;
  /** Default: 1. */
  readonly evaluationPeriods?: number;
  /** Whether the alarm also fires if no metric has data. Idle queues, tables and functions send no data. */
  readonly firesWithoutData?: true;
}

const FIVE_MINUTES = Duration.minutes(5);
/** The age of a message at which an alarm fires. Ingest acknowledges a message within two minutes. */
const OLDEST_MESSAGE_SECONDS = 900;
const HOUR_MINUTES = 60;
/** A single crash is repaired by the next run. The hourly functions reach this number in three hours. */
const LASTING_ERRORS = 3;

/**
 * The states that only AWS sees. The requeue job reports all other states (`plan/notice.ts`), because its message can
 * name the connections. Each alarm publishes its start and its end to the stage's topic.
 */
export class Alarms extends Construct {
  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { prefix, runbookUrl } = props.settings;
    const action = new SnsAction(props.topic);
    for (const { heading, of, meaning, command, metrics, expression, period, ...spec } of alarmsOf(props)) {
      const { firesWithoutData, ...rest } = spec;
      const slug = headingSlug(heading);
      const name = of === undefined ? slug : `${slug}-${of}`;
      const alarm = new Alarm(this, name, {
        threshold: 1,
        evaluationPeriods: 1,
        ...rest,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        metric: new MathExpression({
          expression: expression ?? sumOf(Object.keys(metrics)),
          usingMetrics: metrics,
          label: heading,
          period,
        }),
        alarmName: `${prefix}-${name}`,
        alarmDescription: `${meaning} Run: npx groupsync --prefix ${prefix} ${command} What to do: ${runbookUrl}#${slug}`,
        treatMissingData: firesWithoutData ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      });
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }
}

const filled = (name: string) => `FILL(${name}, 0)`;
const sumOf = (names: readonly string[]) => names.map(filled).join(' + ');

/** The anchor of a heading in rendered Markdown, for headings of letters, digits and spaces. */
export const headingSlug = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');

function alarmsOf(props: AlarmsProps): readonly AlarmSpec[] {
  const { functions, table, undelivered, events, scim, console } = props;
  const audit = functions.find(({ name }) => name === 'audit');
  const age = (queue: IQueue) => queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum' });
  const ages = Object.fromEntries(events.map((queue, at) => [`queue${at}`, age(queue)]));
  return [
    {
      heading: 'Changes wait',
      meaning: `A message in a queue of events has waited over ${OLDEST_MESSAGE_SECONDS / 60} minutes.`,
      command: 'status',
      metrics: ages,
      expression: `MAX([${Object.keys(ages).map(filled).join(', ')}])`,
      period: FIVE_MINUTES,
      threshold: OLDEST_MESSAGE_SECONDS,
      evaluationPeriods: 2,
    },
    ...scheduledWork(props),
    {
      heading: 'A function fails',
      meaning: `Within three hours, functions crashed or ran out of time at least ${LASTING_ERRORS} times.`,
      command: 'doctor',
      metrics: byName(functions, (one) => one.metricErrors()),
      period: Duration.hours(3),
      threshold: LASTING_ERRORS,
    },
    throttled(functions, table),
    {
      heading: 'Undelivered',
      meaning: 'An event could not be put into its queue, or an audit entry could not be copied.',
      command: 'doctor',
      metrics: { messages: undelivered.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }) },
      period: FIVE_MINUTES,
    },
    ...(scim === undefined ? [] : [scimRequests(scim)]),
    ...(console === undefined ? [] : [consoleRequests(console)]),
    ...(audit === undefined ? [] : [auditCopy(audit.function)]),
  ];
}

/**
 * The scheduled jobs. A job that fails or is throttled has another alarm. The requeue job has its own alarm, because
 * the other jobs run seldom, and because it reports the states of connections.
 */
function scheduledWork({ settings, reconcile }: AlarmsProps): readonly AlarmSpec[] {
  const { prefix, pumpMinutes, sweepMinutes, peopleMinutes } = settings;
  const often = Duration.minutes(Math.max(5, pumpMinutes));
  // Periods above an hour must be whole hours.
  const seldom = Duration.hours(Math.ceil(Math.max(sweepMinutes, peopleMinutes) / HOUR_MINUTES));
  const completed = (metricName: MetricName) =>
    new Metric({
      namespace: METRIC_NAMESPACE,
      metricName,
      dimensionsMap: { [METRIC_DIMENSION]: prefix },
      statistic: 'Sum',
    });
  const late = { heading: 'Scheduled work late', command: 'doctor', evaluationPeriods: 3 } as const;
  return [
    {
      ...late,
      meaning: `The requeue job (pump) has not completed for ${3 * often.toMinutes()} minutes, so no state of a connection is reported.`,
      metrics: {
        pump: completed('PumpCompleted'),
        errors: reconcile.metricErrors(),
        refused: reconcile.metricThrottles(),
      },
      expression: `IF(${sumOf(['pump', 'errors', 'refused'])} < 1, 1, 0)`,
      period: often,
      firesWithoutData: true,
    },
    {
      ...late,
      of: 'hourly',
      meaning: `The sweep or the refresh of people has not completed for ${3 * seldom.toHours()} hours.`,
      metrics: {
        pump: completed('PumpCompleted'),
        sweep: completed('SweepCompleted'),
        people: completed('PeopleRefreshed'),
      },
      expression: 'IF(FILL(pump, 0) >= 1 AND (FILL(sweep, 0) < 1 OR FILL(people, 0) < 1), 1, 0)',
      period: seldom,
    },
  ];
}

const byName = (functions: readonly ConnectorFunction[], metric: (one: IFunction) => IMetric) =>
  Object.fromEntries(functions.map((one) => [one.name, metric(one.function)]));

/** Failed requests of the console have an alarm of their own, and so has a late copy of the audit. */
const WATCHED_ELSEWHERE: ReadonlySet<string> = new Set(['console', 'audit']);
const TABLE_THROTTLES = 100;

/** Functions and table are throttled for different reasons, but in both cases the quotas must be compared with the load. */
function throttled(functions: readonly ConnectorFunction[], { tableName }: Table): AlarmSpec {
  const ofFunctions = byName(
    functions.filter(({ name }) => !WATCHED_ELSEWHERE.has(name)),
    (one) => one.metricThrottles(),
  );
  const ofTable = (metricName: string, more: Record<string, string> = {}) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: tableName, ...more },
      statistic: 'Sum',
    });
  // If DynamoDB throttles the index, it also throttles writes of the table. The index has a separate metric.
  const tableMetrics = {
    tableReads: ofTable('ReadThrottleEvents'),
    tableWrites: ofTable('WriteThrottleEvents'),
    indexWrites: ofTable('WriteThrottleEvents', { GlobalSecondaryIndexName: TABLE.index.name }),
  };
  return {
    heading: 'Throttled',
    meaning: `In each of three periods of 5 minutes, AWS refused calls of functions, or at least ${TABLE_THROTTLES} requests to the table.`,
    command: 'doctor',
    metrics: { ...ofFunctions, ...tableMetrics },
    expression: `IF(${sumOf(Object.keys(ofFunctions))} >= 1 OR ${sumOf(Object.keys(tableMetrics))} >= ${TABLE_THROTTLES}, 1, 0)`,
    period: FIVE_MINUTES,
    evaluationPeriods: 3,
  };
}

/** A percentage means little for few requests, so fewer failures raise no alarm. */
const FEW_FAILURES = 5;

const scimRequests = ({ api, withStatus }: Scim): AlarmSpec => ({
  heading: 'SCIM',
  meaning:
    'Within 15 minutes, at least 5 % of the SCIM requests failed (5xx), at least 20 had no valid token (401), or at least 150 were throttled (429).',
  command: 'scim token list',
  metrics: {
    failed: api.metricServerError({ statistic: 'Sum' }),
    requests: api.metricCount({ statistic: 'SampleCount' }),
    refused: withStatus(401),
    throttled: withStatus(429),
  },
  expression: `IF((FILL(failed, 0) >= ${FEW_FAILURES} AND FILL(failed, 0) >= 0.05 * FILL(requests, 0)) OR FILL(refused, 0) >= 20 OR FILL(throttled, 0) >= 150, 1, 0)`,
  period: Duration.minutes(15),
});

const consoleRequests = ({ api }: Console): AlarmSpec => ({
  heading: 'Console',
  meaning: `At least ${FEW_FAILURES} requests of the console failed (5xx) within 5 minutes, in two of three periods.`,
  command: 'doctor',
  metrics: { failed: api.metricServerError({ statistic: 'Sum' }) },
  period: FIVE_MINUTES,
  threshold: FEW_FAILURES,
  evaluationPeriods: 3,
  datapointsToAlarm: 2,
});

const auditCopy = (audit: IFunction): AlarmSpec => ({
  heading: 'Audit copy',
  meaning: 'An entry of the audit has not been copied into the locked bucket for over an hour.',
  command: 'deploy --revert-drift --dry-run',
  metrics: { age: audit.metric('IteratorAge', { statistic: 'Maximum' }) },
  period: FIVE_MINUTES,
  threshold: Duration.hours(1).toMilliseconds(),
});
