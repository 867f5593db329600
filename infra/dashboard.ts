import { Duration, Stack } from 'aws-cdk-lib';
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { METRIC_DIMENSIONS, METRICS, type MetricName } from '../shared/contract/metrics.ts';
import { METRIC_NAMESPACE, QUEUE_KEYS } from '../shared/contract/names.ts';
import { stageMetric } from './alarms.ts';
import type { ConnectorFunction } from './connector-function.ts';
import type { Resources } from './permissions.ts';
import type { Scim } from './scim.ts';

interface DashboardProps {
  readonly prefix: string;
  readonly resources: Resources;
  readonly functions: readonly ConnectorFunction[];
  /** Undefined if the stage has no SCIM endpoint. */
  readonly scim: Scim | undefined;
}

const PERIOD = Duration.minutes(5);

/** A dashboard with the flow of events, the delay of writes, waiting changes, faults and causes of cost. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const { prefix } = props;
    const metrics = metricsOf(prefix);
    new CloudWatchDashboard(this, 'Dashboard', {
      dashboardName: `${prefix}-${Stack.of(this).region}`, // A dashboard's name must be unique in the account, so it contains the region.
      defaultInterval: Duration.hours(12),
      widgets: [
        ...flow(metrics),
        ...gateway(props),
        ...waiting(metrics),
        ...health(props, metrics),
        ...cost(props, metrics),
      ],
    });
  }
}

type Metrics = ReturnType<typeof metricsOf>;
const metricsOf = (prefix: string) => ({
  stage: (name: MetricName, period = PERIOD) => stageMetric(prefix, name, period),
  /**
   * Returns an expression with one line for each value of the metric's second dimension. The expression searches for
   * metrics, so it also finds connections and kinds that are added later.
   */
  broken(name: MetricName): MathExpression {
    const { form, by } = METRICS[name];
    if (by === undefined) throw new Error(`expected the metric ${name} to have a second dimension`);
    const schema = `{${METRIC_NAMESPACE},${METRIC_DIMENSIONS.prefix},${by}}`;
    const terms = `MetricName="${name}" ${METRIC_DIMENSIONS.prefix}="${prefix}"`;
    const statistic = form === 'count' ? 'Sum' : 'Maximum';
    const found = `SEARCH('${schema} ${terms}', '${statistic}', ${PERIOD.toSeconds()})`;
    // groupsync sends no data for a gauge while its value is normal. So missing data is drawn as 0.
    const expression = form === 'gauge' ? `FILL(${found}, 0)` : found;
    return new MathExpression({ expression, usingMetrics: {}, label: '', period: PERIOD });
  },
});

function flow({ stage, broken }: Metrics): IWidget[][] {
  const lag = (statistic: string) => stage('ApplyLagMs').with({ statistic, label: statistic });
  return [
    [title('Flow')],
    [
      graph('Events in', [stage('EventsReceived'), stage('EventsIgnored')]),
      graph('Events rejected, by code', [broken('EventsRejected')]),
      graph('Lag: event to platform, ms', [lag('p50'), lag('p95'), lag('p99')]),
    ],
    [
      graph('SCIM requests, by connection', [broken('ScimRequests')]),
      graph(
        'SCIM requests: refused by status, failed, with tokens that expire soon; members without a user',
        [broken('ScimRefusals'), stage('ScimFailures'), stage('ScimTokensEnding'), stage('ScimStaleMembers')],
      ),
      graph('SCIM: request to answer, ms', [stage('ScimLatencyMs')]),
    ],
    [
      graph('Writes to the platform, by kind', [broken('PlatformWrites')]),
      graph('Conflicts', [stage('PlatformConflicts')]),
      graph('Failed attempts, by kind', [broken('ApplyFailures')]),
    ],
  ];
}

/** Requests and answers at the gateway, in front of the function. */
function gateway({ scim }: DashboardProps): IWidget[][] {
  if (scim === undefined) return [];
  const { api, alarms } = scim;
  const latency = (statistic: string) => api.metricLatency({ statistic, label: statistic, period: PERIOD });
  return [
    [title('SCIM, at the gateway')],
    [
      graph('Requests', [api.metricCount({ statistic: 'SampleCount', label: 'all', period: PERIOD })]),
      graph('Answered with 4xx, 429 and 5xx', [
        api.metricClientError({ statistic: 'Sum', label: '4xx', period: PERIOD }),
        alarms.throttled.with({ label: '429' }),
        api.metricServerError({ statistic: 'Sum', label: '5xx', period: PERIOD }),
      ]),
      graph('Request to answer, ms', [latency('p50'), latency('p95'), latency('p99')]),
    ],
  ];
}

function waiting({ broken }: Metrics): IWidget[][] {
  return [
    [title('Waiting, by connection')],
    [
      graph('Backlog: groups not yet applied', [broken('DirtyGroups')]),
      graph('Longest wait, seconds', [broken('OldestDirtySeconds')]),
      graph('Pending members', [broken('PendingMembers')]),
    ],
    [
      graph('Held by the guard', [broken('HoldsWaiting')]),
      graph('Gate closed, seconds; credential refused, or its holder leaves', [
        broken('GateClosedSeconds'),
        broken('CredentialUnauthorized'),
        broken('CredentialHolderLeaving'),
      ]),
      graph('Seconds since the feed was read, and since the credential was confirmed', [
        broken('FeedCursorAgeSeconds'),
        broken('CredentialUncheckedSeconds'),
      ]),
    ],
    [
      graph('Events, SCIM requests and reads of the directory overdue, seconds', [
        broken('SourceLateSeconds'),
        broken('ReaderLateSeconds'),
      ]),
      graph('Readers of directories that have stopped, and groups with too few members', [
        broken('ReaderStopped'),
        broken('ReaderShortGroups'),
      ]),
    ],
  ];
}

function health({ resources, functions }: DashboardProps, { stage, broken }: Metrics): IWidget[][] {
  const each = ofEach(functions);
  const messages = QUEUE_KEYS.map((name) =>
    resources.queues[name].metricApproximateNumberOfMessagesVisible({ label: name, period: PERIOD }),
  );
  return [
    [title('Health')],
    [
      graph('Drift found, by kind, ids of no known employee, and members who keep access', [
        broken('DriftFound'),
        broken('UnknownUsers'),
        broken('AccessKept'),
      ]),
      graph('Completed sweeps and requeue runs, halted sweeps', [
        stage('SweepCompleted', Duration.hours(1)),
        stage('PumpCompleted', Duration.hours(1)),
        stage('SweepHalted', Duration.hours(1)),
      ]),
      graph('Messages in queues', messages),
    ],
    [
      each('Errors', (one, of) => one.metricErrors(of)),
      each('Throttles', (one, of) => one.metricThrottles(of)),
      each('Longest run, ms', (one, of) => one.metricDuration({ ...of, statistic: 'Maximum' })),
    ],
  ];
}

function cost({ resources, functions }: DashboardProps, { stage }: Metrics): IWidget[][] {
  const each = ofEach(functions);
  const { table, queues } = resources;
  return [
    [title('What drives the cost')],
    [
      graph('DynamoDB units', [
        table.metricConsumedReadCapacityUnits({ label: 'read', period: PERIOD }),
        table.metricConsumedWriteCapacityUnits({ label: 'write', period: PERIOD }),
      ]),
      graph('SQS messages', [
        queues.events.metricNumberOfMessagesSent({ label: 'events', period: PERIOD }),
        queues.apply.metricNumberOfMessagesSent({ label: 'apply', period: PERIOD }),
      ]),
      each('Lambda calls', (one, of) => one.metricInvocations(of)),
    ],
    [
      each('Lambda time, ms', (one, of) => one.metricDuration({ ...of, statistic: 'Sum' })),
      graph('Activity events read', [stage('FeedEventsRead')]),
      graph('Employees read', [stage('PeopleRefreshed')]),
    ],
  ];
}

/** A graph with one line for each function. */
const ofEach =
  (functions: DashboardProps['functions']) =>
  (title: string, metric: (one: IFunction, of: { label: string; period: Duration }) => IMetric) =>
    graph(
      title,
      functions.map(({ function: one, name }) => metric(one, { label: name, period: PERIOD })),
    );

const title = (text: string) => new TextWidget({ markdown: `## ${text}`, width: 24, height: 1 });
const graph = (name: string, left: IMetric[]) => new GraphWidget({ title: name, left, width: 8, height: 6 });
