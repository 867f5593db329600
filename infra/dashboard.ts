import { Duration, Stack } from 'aws-cdk-lib';
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { functionName, QUEUE_KEYS } from '../shared/contract/names.ts';
import type { ConnectorFunction } from './connector-function.ts';
import type { Resources } from './permissions.ts';

interface DashboardProps {
  readonly prefix: string;
  readonly resources: Resources;
  readonly functions: readonly ConnectorFunction[];
}

const PERIOD = Duration.minutes(5);

/**
 * A dashboard with the flow of events, the delay of writes, and causes of cost. It reads the metrics that AWS sends
 * without charge, and the logs of the functions. So groupsync sends no metric for it.
 */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const { prefix } = props;
    new CloudWatchDashboard(this, 'Dashboard', {
      dashboardName: `${prefix}-${Stack.of(this).region}`, // A dashboard's name must be unique in the account, so it contains the region.
      defaultInterval: Duration.hours(12),
      widgets: [...flow(prefix), ...load(props)],
    });
  }
}

function flow(prefix: string): IWidget[][] {
  const query = (title: string, name: 'ingest' | 'apply', ...queryLines: string[]) =>
    new LogQueryWidget({
      title,
      logGroupNames: [`/aws/lambda/${functionName(prefix, name)}`],
      view: LogQueryVisualizationType.LINE,
      queryLines,
      width: 8,
      height: 6,
    });
  const applied = 'filter message = "applied"';
  return [
    [title('Flow')],
    [
      query(
        'Events accepted and rejected',
        'ingest',
        'filter message = "ingested"',
        'stats sum(accepted), sum(rejected) by bin(5m)',
      ),
      query(
        'Lag: event to platform, ms',
        'apply',
        applied,
        'stats pct(lagMs, 50), pct(lagMs, 95), pct(lagMs, 99) by bin(5m)',
      ),
      query('Attempts to write groups, by outcome', 'apply', applied, 'stats count(*) by outcome, bin(5m)'),
    ],
  ];
}

function load({ resources, functions }: DashboardProps): IWidget[][] {
  const { table, queues } = resources;
  const each = (
    title: string,
    metric: (one: IFunction, of: { readonly label: string; readonly period: Duration }) => IMetric,
  ) =>
    graph(
      title,
      functions.map(({ function: one, name }) => metric(one, { label: name, period: PERIOD })),
    );
  const messages = QUEUE_KEYS.map((name) =>
    queues[name].metricApproximateNumberOfMessagesVisible({ label: name, period: PERIOD }),
  );
  return [
    [title('Load, and what drives the cost')],
    [
      graph('Messages in queues', messages),
      each('Errors', (one, of) => one.metricErrors(of)),
      each('Longest run, ms', (one, of) => one.metricDuration({ ...of, statistic: 'Maximum' })),
    ],
    [
      graph('DynamoDB units', [
        table.metricConsumedReadCapacityUnits({ label: 'read', period: PERIOD }),
        table.metricConsumedWriteCapacityUnits({ label: 'write', period: PERIOD }),
      ]),
      each('Lambda calls', (one, of) => one.metricInvocations(of)),
      each('Lambda time, ms', (one, of) => one.metricDuration({ ...of, statistic: 'Sum' })),
    ],
  ];
}

const title = (text: string) => new TextWidget({ markdown: `## ${text}`, width: 24, height: 1 });
const graph = (name: string, left: IMetric[]) => new GraphWidget({ title: name, left, width: 8, height: 6 });
