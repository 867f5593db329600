import { Duration } from 'aws-cdk-lib';
import { Alarm, type AlarmProps, type IMetric, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { METRIC_DIMENSIONS, METRICS, type MetricName } from '../shared/contract/metrics.ts';
import { METRIC_NAMESPACE } from '../shared/contract/names.ts';

/** What every alarm of one stage has in common. */
export interface AlarmDesk {
  readonly prefix: string;
  readonly topic: ITopic;
  /** Where the runbook is read: a path in the repository or the address of its rendered page. */
  readonly runbookUrl: string;
}

export interface AlarmSpec extends Pick<AlarmProps, 'comparisonOperator' | 'datapointsToAlarm'> {
  /** The runbook's heading; the alarm's name follows from it and from `of`. */
  readonly heading: string;
  /** Which one, where several alarms share a heading: the function. */
  readonly of?: string;
  /** One sentence: what is so when the alarm rings. */
  readonly meaning: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** Default: 1. */
  readonly evaluationPeriods?: number;
  /** Default: silence is good news. Queues, tables and functions report nothing where nothing happens. */
  readonly missing?: TreatMissingData;
}

/** An alarm that tells ops by the stage's topic, when it rings and when it ends, and names the page that helps. */
export function addAlarm(scope: Construct, desk: AlarmDesk, spec: AlarmSpec): Alarm {
  const {
    heading,
    of,
    meaning,
    missing = TreatMissingData.NOT_BREACHING,
    evaluationPeriods = 1,
    ...rest
  } = spec;
  const slug = headingSlug(heading);
  const alarm = new Alarm(scope, `${pascal(slug)}${of === undefined ? '' : 'Of'}${pascal(of ?? '')}Alarm`, {
    ...rest,
    evaluationPeriods,
    alarmName: [desk.prefix, slug, of].filter((part) => part !== undefined).join('-'),
    alarmDescription: `${meaning} What to do: ${desk.runbookUrl}#${slug}`,
    treatMissingData: missing,
  });
  const action = new SnsAction(desk.topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}

/** The anchor that Markdown renderers give a heading of letters, digits and spaces. */
export const headingSlug = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');

const pascal = (slug: string) =>
  slug
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** A metric that the code emits, over all connections and kinds of the stage. */
export function stageMetric(
  prefix: string,
  name: MetricName,
  period: Duration = Duration.minutes(5),
): Metric {
  return new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { [METRIC_DIMENSIONS.prefix]: prefix },
    statistic: METRICS[name].form === 'count' ? 'Sum' : 'Maximum',
    period,
  });
}
