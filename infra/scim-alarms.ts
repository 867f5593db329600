import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { METRIC_DIMENSIONS } from '../shared/contract/metrics.ts';
import { METRIC_NAMESPACE } from '../shared/contract/names.ts';
import { type AlarmDesk, addAlarm, stageMetric } from './alarm.ts';

interface ScimAlarmsProps {
  readonly desk: AlarmDesk;
  readonly api: HttpApi;
  readonly accessLog: LogGroup;
}

const PERIOD = Duration.minutes(5);
/** Fewer failures than this within a period are no rate: one of two requests may fail by chance. */
const FEW_FAILURES = 5;

/** What an identity provider would feel, judged where it knocks. An endpoint that nobody calls reports nothing. */
export class ScimAlarms extends Construct {
  /** Requests answered with 429, by API Gateway's throttle or by the server's own limit. */
  readonly throttled: Metric;

  constructor(scope: Construct, id: string, { desk, api, accessLog }: ScimAlarmsProps) {
    super(scope, id);
    this.throttled = this.#countThrottled(accessLog, desk.prefix);
    addAlarm(this, desk, {
      heading: 'SCIM requests fail',
      meaning: 'Over 5 % of the SCIM requests were answered with a 5xx in two of three periods of 5 minutes.',
      metric: failureRate(api),
      threshold: 5,
      evaluationPeriods: 3,
      datapointsToAlarm: 2,
    });
    addAlarm(this, desk, {
      heading: 'SCIM requests throttled',
      meaning: 'Over 50 SCIM requests were answered with a 429 in each of three periods of 5 minutes.',
      metric: this.throttled,
      threshold: 50,
      evaluationPeriods: 3,
    });
    addAlarm(this, desk, {
      heading: 'SCIM tokens refused',
      meaning: 'Over 20 SCIM requests within 15 minutes came without a valid token.',
      metric: unauthorised(desk.prefix),
      threshold: 20,
    });
    addAlarm(this, desk, {
      heading: 'SCIM token ends soon',
      meaning: 'An identity provider uses a SCIM token that ends within 14 days.',
      metric: stageMetric(desk.prefix, 'ScimTokensEnding', Duration.days(1)),
      threshold: 0,
    });
  }

  /** API Gateway counts its throttles among all 4xx; the access log tells them apart. */
  #countThrottled(logGroup: LogGroup, prefix: string): Metric {
    const filter = new MetricFilter(this, 'Throttled', {
      logGroup,
      filterPattern: FilterPattern.stringValue('$.status', '=', '429'),
      // A dimension would have to be a field of the log: the namespace tells stages apart instead.
      metricNamespace: `${METRIC_NAMESPACE}/${prefix}`,
      metricName: 'ScimThrottled',
      metricValue: '1',
    });
    return filter.metric({ statistic: 'Sum', period: PERIOD });
  }
}

const failureRate = (api: HttpApi) =>
  new MathExpression({
    expression: `IF(failed >= ${FEW_FAILURES}, 100 * failed / requests, 0)`,
    usingMetrics: {
      failed: api.metricServerError({ statistic: 'Sum', period: PERIOD }),
      requests: api.metricCount({ statistic: 'SampleCount', period: PERIOD }),
    },
    label: '% of requests answered with a 5xx',
    period: PERIOD,
  });

const unauthorised = (prefix: string) =>
  stageMetric(prefix, 'ScimRefusals', Duration.minutes(15)).with({
    dimensionsMap: { [METRIC_DIMENSIONS.prefix]: prefix, [METRIC_DIMENSIONS.kind]: '401' },
  });
