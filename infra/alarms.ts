import { Duration } from 'aws-cdk-lib';
import type { AlarmProps, IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { METRIC_DIMENSIONS, METRICS, type MetricName } from '../shared/contract/metrics.ts';
import { METRIC_NAMESPACE } from '../shared/contract/names.ts';
import type { Settings } from './settings.ts';

/** What every alarm of one stage has in common. */
export interface AlarmDesk {
  readonly prefix: string;
  readonly topic: ITopic;
  /** Where the runbook is read: a path in the repository or the address of its rendered page. */
  readonly runbookUrl: string;
}

interface AlarmSpec extends Pick<AlarmProps, 'comparisonOperator' | 'datapointsToAlarm'> {
  /** The runbook's heading; the alarm's name follows from it and from `of`. */
  readonly heading: string;
  /** Which one, where several alarms share a heading: the function. */
  readonly of?: string;
  /** One sentence: what is so when the alarm rings. */
  readonly meaning: string;
  readonly metric: IMetric;
  /** Default: 1. */
  readonly threshold?: number;
  /** Default: 1. */
  readonly evaluationPeriods?: number;
  /** Default: silence is good news. Queues, tables and functions report nothing where nothing happens. */
  readonly missing?: TreatMissingData;
}

/** An alarm that tells ops by the stage's topic, when it rings and when it ends, and names the page that helps. */
export function addAlarm(scope: Construct, desk: AlarmDesk, spec: AlarmSpec): Alarm {
  const { heading, of, meaning, missing = TreatMissingData.NOT_BREACHING, ...rest } = spec;
  const slug = headingSlug(heading);
  const alarm = new Alarm(scope, `${pascal(slug)}${of === undefined ? '' : 'Of'}${pascal(of ?? '')}Alarm`, {
    threshold: 1,
    evaluationPeriods: 1,
    ...rest,
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
  /** Default: what the metric's form says. `SampleCount`: whether it was told at all. */
  readonly statistic?: 'SampleCount';
  readonly periodMinutes?: number;
}

const HOUR_MINUTES = 60;

/** Silence is the bad news. */
const NOT_IN_THREE_TURNS = {
  evaluationPeriods: 3,
  comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
  missing: TreatMissingData.BREACHING,
} as const;

/**
 * What can be wrong with a stage as a whole, judged by the metrics that the code emits. The pump reports levels each
 * minute; that it has stopped is told by an alarm of its own, not by all of them.
 */
function healthAlarms(every: Schedules): readonly HealthAlarm[] {
  return [
    {
      heading: 'Apply failures',
      meaning: 'Over 20 attempts to write groups to the platform have failed within 15 minutes.',
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
      heading: 'Credential not checked',
      meaning: 'The daily check has not found the credential of a connection good for two days.',
      metric: 'CredentialUncheckedSeconds',
      threshold: 2 * 24 * 3600,
    },
    {
      heading: 'Holds waiting',
      meaning: 'The removal guard has stopped removals, and they wait for a decision.',
      metric: 'HoldsWaiting',
    },
    {
      heading: 'Feed cursor stale',
      meaning: 'The activity feed of a connection has not been read to its end for a day, and three turns.',
      metric: 'FeedCursorAgeSeconds',
      threshold: Math.max(24 * 3600, 3 * 60 * every.feedMinutes),
    },
    {
      heading: 'Source late',
      meaning: 'No event, or no SCIM request, has come for longer than a connection expects.',
      metric: 'SourceLateSeconds',
    },
    ...(every.directory ? READER_ALARMS : []),
    {
      heading: 'Sweep halted',
      meaning:
        'Over 5 % of the linked groups are missing on the platform; the rest of them is not re-created.',
      metric: 'SweepHalted',
    },
    {
      heading: 'People keep access',
      meaning:
        'The platform refuses to remove members, who keep their access. The value is the number of members of one group.',
      metric: 'AccessKept',
      periodMinutes: 120,
    },
    {
      heading: 'Unknown users',
      meaning: 'Groups that groupsync manages hold ids of no known employee.',
      metric: 'UnknownUsers',
      periodMinutes: wholeHours(every.sweepMinutes),
    },
    {
      heading: 'Sweep not run',
      meaning: 'No sweep has come to its end in three of its turns.',
      metric: 'SweepCompleted',
      periodMinutes: wholeHours(every.sweepMinutes),
      ...NOT_IN_THREE_TURNS,
    },
    {
      heading: 'People not refreshed',
      meaning: 'No refresh of the people index has come to its end in three of its turns.',
      metric: 'PeopleRefreshed',
      statistic: 'SampleCount',
      periodMinutes: wholeHours(every.peopleMinutes),
      ...NOT_IN_THREE_TURNS,
    },
    {
      heading: 'Pump not run',
      meaning: 'The pump has not come to its end in three of its turns, so that other alarms may be blind.',
      metric: 'PumpCompleted',
      ...NOT_IN_THREE_TURNS,
    },
  ];
}

/** Where directories are read. The pump reports these levels too, so that a reader that does not run is noticed. */
const READER_ALARMS: readonly HealthAlarm[] = [
  {
    heading: 'Reader late',
    meaning: 'The directory of a connection has not been read for longer than expected.',
    metric: 'ReaderLateSeconds',
  },
  {
    heading: 'Reader stopped',
    meaning: 'The directory of a connection is not read, because a right or too many groups are missing.',
    metric: 'ReaderStopped',
  },
  {
    heading: 'Directory lists too few members',
    meaning: 'Three times within an hour the directory listed fewer members of a group than it counts.',
    metric: 'ReaderShortGroups',
  },
];

/** Above an hour an alarm takes whole hours only. */
const wholeHours = (minutes: number): number => Math.ceil(minutes / HOUR_MINUTES) * HOUR_MINUTES;

type Schedules = Pick<Settings, `${'sweep' | 'pump' | 'people' | 'feed'}Minutes` | 'directory'>;

export class HealthAlarms extends Construct {
  constructor(scope: Construct, id: string, schedules: Schedules, desk: AlarmDesk) {
    super(scope, id);
    // Levels are told by each pump, and silence ends an alarm.
    const usual = Math.max(5, schedules.pumpMinutes);
    for (const { metric, statistic, periodMinutes = usual, ...spec } of healthAlarms(schedules)) {
      const told = stageMetric(desk.prefix, metric, Duration.minutes(periodMinutes));
      addAlarm(this, desk, { ...spec, metric: statistic === undefined ? told : told.with({ statistic }) });
    }
  }
}
