import { Duration } from 'aws-cdk-lib';
import type { AlarmProps, IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { METRIC_DIMENSIONS, METRICS, type MetricName } from '../shared/contract/metrics.ts';
import { METRIC_NAMESPACE } from '../shared/contract/names.ts';
import type { Settings } from './settings.ts';

export interface AlarmConfig {
  readonly prefix: string;
  readonly topic: ITopic;
  /** The runbook's path in the repository, or the URL of its rendered page. */
  readonly runbookUrl: string;
}

interface AlarmSpec extends Pick<AlarmProps, 'comparisonOperator' | 'datapointsToAlarm'> {
  /** The heading in the runbook. The alarm's name contains the heading and `of`. */
  readonly heading: string;
  /** The name of the function that the alarm watches, if several functions have an alarm with the same heading. */
  readonly of?: string;
  /** One sentence that describes the state in which the alarm fires. */
  readonly meaning: string;
  readonly metric: IMetric;
  /** Default: 1. */
  readonly threshold?: number;
  /** Default: 1. */
  readonly evaluationPeriods?: number;
  /**
   * How the alarm treats missing data. Default: not breaching, because idle queues, tables and functions send no data.
   */
  readonly missing?: TreatMissingData;
}

/** Adds an alarm that publishes its start and its end to the stage's topic. The description links to the runbook. */
export function addAlarm(scope: Construct, alarmConfig: AlarmConfig, spec: AlarmSpec): Alarm {
  const { heading, of, meaning, missing = TreatMissingData.NOT_BREACHING, ...rest } = spec;
  const slug = headingSlug(heading);
  const alarm = new Alarm(scope, `${pascal(slug)}${of === undefined ? '' : 'Of'}${pascal(of ?? '')}Alarm`, {
    threshold: 1,
    evaluationPeriods: 1,
    ...rest,
    alarmName: [alarmConfig.prefix, slug, of].filter((part) => part !== undefined).join('-'),
    alarmDescription: `${meaning} What to do: ${alarmConfig.runbookUrl}#${slug}`,
    treatMissingData: missing,
  });
  const action = new SnsAction(alarmConfig.topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}

/** The anchor of a heading in rendered Markdown, for headings of letters, digits and spaces. */
export const headingSlug = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');

const pascal = (slug: string) =>
  slug
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** Returns a metric that groupsync's code emits, combined over all connections and all kinds of the stage. */
export function stageMetric(prefix: string, name: MetricName, period: Duration = Duration.minutes(5)) {
  return new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { [METRIC_DIMENSIONS.prefix]: prefix },
    statistic: METRICS[name].form === 'count' ? 'Sum' : 'Maximum',
    period,
  });
}

interface HealthAlarm extends Omit<AlarmSpec, 'metric'> {
  readonly metric: MetricName;
  /**
   * By default, the alarm uses the sum of a counter, and the maximum of any other metric. With `SampleCount`, the alarm
   * counts data points.
   */
  readonly statistic?: 'SampleCount';
  readonly periodMinutes?: number;
}

const HOUR_MINUTES = 60;

/** Settings of alarms that fire when a scheduled job has sent no data for three periods. */
const NOT_IN_THREE_INTERVALS = {
  evaluationPeriods: 3,
  comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
  missing: TreatMissingData.BREACHING,
} as const;

/**
 * Alarms of the whole stage, on metrics that groupsync's code emits. Each run of the requeue job sends the levels, such
 * as waiting times. If the requeue job stops, the alarms on levels end, and the alarm *Pump not run* fires.
 */
function healthAlarms(every: Schedules): readonly HealthAlarm[] {
  return [
    {
      heading: 'Apply failures',
      meaning: 'At least 20 attempts to write groups to the platform have failed within 15 minutes.',
      metric: 'ApplyFailures',
      periodMinutes: 15,
      threshold: 20,
    },
    {
      heading: 'Changes wait over an hour',
      meaning: 'A group has differed from the directory for over an hour.',
      metric: 'OldestDirtySeconds',
      threshold: 3600,
    },
    {
      heading: 'Gate closed',
      meaning: 'A connection has not been able to write to the platform for over 15 minutes.',
      metric: 'GateClosedSeconds',
      threshold: 900,
    },
    {
      heading: 'Credential unauthorised',
      meaning: 'The platform refuses the credential of a connection.',
      metric: 'CredentialUnauthorized',
    },
    {
      heading: 'Credential holder leaves',
      meaning:
        'The person who installed the app on the platform has left, or leaves within 30 days. The credential becomes invalid when this person leaves.',
      metric: 'CredentialHolderLeaving',
    },
    {
      heading: 'Credential not checked',
      meaning: 'For two days, no check has confirmed the credential of a connection.',
      metric: 'CredentialUncheckedSeconds',
      threshold: 2 * 24 * 3600,
    },
    {
      heading: 'Holds waiting',
      meaning: 'The removal guard holds removals, which wait for the decision of an operator.',
      metric: 'HoldsWaiting',
    },
    {
      heading: 'Feed cursor stale',
      meaning: 'The activity feed has not been read to its end for over a day and for three scheduled runs.',
      metric: 'FeedCursorAgeSeconds',
      threshold: Math.max(24 * 3600, 3 * 60 * every.feedMinutes),
    },
    {
      heading: 'Source late',
      meaning: 'A source has sent nothing for longer than its connection expects.',
      metric: 'SourceLateSeconds',
    },
    ...(every.directory ? READER_ALARMS : []),
    {
      heading: 'Sweep halted',
      meaning:
        'Over 5 % of the linked groups are missing on the platform. groupsync does not re-create the missing groups.',
      metric: 'SweepHalted',
    },
    {
      heading: 'People keep access',
      meaning:
        'The platform refuses to remove members, so they keep their access. The value is the number of such members in one group.',
      metric: 'AccessKept',
      periodMinutes: 120,
    },
    {
      heading: 'Unknown users',
      meaning: 'Groups that groupsync manages contain ids that match no known employee.',
      metric: 'UnknownUsers',
      periodMinutes: wholeHours(every.sweepMinutes),
    },
    {
      heading: 'Sweep not run',
      meaning: 'No sweep has completed within three sweep intervals.',
      metric: 'SweepCompleted',
      periodMinutes: wholeHours(every.sweepMinutes),
      ...NOT_IN_THREE_INTERVALS,
    },
    {
      heading: 'People not refreshed',
      meaning: 'No refresh of the people index has completed within three refresh intervals.',
      metric: 'PeopleRefreshed',
      statistic: 'SampleCount',
      periodMinutes: wholeHours(every.peopleMinutes),
      ...NOT_IN_THREE_INTERVALS,
    },
    {
      heading: 'Pump not run',
      meaning: `The requeue job (pump) has not completed for ${3 * usualMinutes(every)} minutes, so other alarms may miss data.`,
      metric: 'PumpCompleted',
      ...NOT_IN_THREE_INTERVALS,
    },
  ];
}

/**
 * Alarms of a stage that reads directories. The requeue job sends the metrics of these alarms, so they work even if the
 * reader of directories does not run.
 */
const READER_ALARMS: readonly HealthAlarm[] = [
  {
    heading: 'Reader late',
    meaning: 'The directory of a connection has not been read for longer than expected.',
    metric: 'ReaderLateSeconds',
  },
  {
    heading: 'Reader stopped',
    meaning:
      'The reader of a directory has stopped, because a permission is missing or too many groups have disappeared.',
    metric: 'ReaderStopped',
  },
  {
    heading: 'Directory lists too few members',
    meaning: 'Three times within an hour, the member list of a group was shorter than its member count.',
    metric: 'ReaderShortGroups',
  },
];

/** Rounds a period up to whole hours. Alarm periods above an hour must be whole hours. */
const wholeHours = (minutes: number): number => Math.ceil(minutes / HOUR_MINUTES) * HOUR_MINUTES;

/** A period without data would end the alarm. So a period is at least as long as the interval of the requeue job. */
const usualMinutes = ({ pumpMinutes }: Pick<Settings, 'pumpMinutes'>): number => Math.max(5, pumpMinutes);

type Schedules = Pick<Settings, `${'sweep' | 'pump' | 'people' | 'feed'}Minutes` | 'directory'>;

export class HealthAlarms extends Construct {
  constructor(scope: Construct, id: string, schedules: Schedules, alarmConfig: AlarmConfig) {
    super(scope, id);
    const usual = usualMinutes(schedules);
    for (const { metric, statistic, periodMinutes = usual, ...spec } of healthAlarms(schedules)) {
      const data = stageMetric(alarmConfig.prefix, metric, Duration.minutes(periodMinutes));
      addAlarm(this, alarmConfig, {
        ...spec,
        metric: statistic === undefined ? data : data.with({ statistic }),
      });
    }
  }
}
