import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { METRIC_DIMENSIONS } from '../shared/contract/metrics.ts';
import { ENVIRONMENT, METRIC_NAMESPACE } from '../shared/contract/names.ts';
import { type AlarmConfig, addAlarm, stageMetric } from './alarms.ts';
import { ConnectorFunction, type ConnectorFunctionProps } from './connector-function.ts';
import { addHttpApi, HTTP_TIMEOUT_SECONDS } from './http-api.ts';

/** Path after the host. The function expects the same path (`functions/scim.ts`). */
const BASE_PATH = '/scim/v2';

type ScimProps = Omit<ConnectorFunctionProps, 'name' | 'timeoutSeconds'>;

/** The SCIM server: a function behind an HTTP API. */
export class Scim extends Construct {
  readonly worker: ConnectorFunction;
  readonly alarms: ScimAlarms;
  readonly api: HttpApi;
  /** The base URL for identity providers. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: ScimProps) {
    super(scope, id);
    const { scimConcurrency, scimAllowedIps } = props.settings;
    this.worker = new ConnectorFunction(this, 'Worker', {
      ...props,
      name: 'scim',
      timeoutSeconds: HTTP_TIMEOUT_SECONDS,
      reservedConcurrency: scimConcurrency === 'none' ? undefined : scimConcurrency,
    });
    this.worker.function.addEnvironment(ENVIRONMENT.scimAllowedIps, scimAllowedIps.join(','));
    const { api, accessLog } = addHttpApi(
      this,
      {
        name: 'scim',
        description: 'SCIM 2.0 for identity providers',
        worker: this.worker,
        paths: [BASE_PATH, `${BASE_PATH}/{proxy+}`],
        whyNoAuthorizer:
          'Identity providers send a bearer token, and the table contains its hash. The function checks the token first. An authorizer of API Gateway would only repeat this check.',
        rateLimit: props.settings.scimRequestsPerSecond,
        burstLimit: props.settings.scimBurst,
      },
      props,
    );
    this.api = api;
    this.url = `${api.apiEndpoint}${BASE_PATH}`;
    this.alarms = new ScimAlarms(this, props.alarmConfig, api, accessLog);
  }
}

const PERIOD = Duration.minutes(5);
/**
 * The alarm ignores a period with fewer failures than this number, because a percentage means little for few requests.
 */
const FEW_FAILURES = 5;

/** Alarms about SCIM requests, measured at the API or by the function. Missing data raises no alarm. */
class ScimAlarms extends Construct {
  /** Requests answered with 429, by API Gateway's throttle or by the server's own limit. */
  readonly throttled: Metric;

  constructor(scope: Construct, alarmConfig: AlarmConfig, api: HttpApi, accessLog: LogGroup) {
    super(scope, 'Alarms');
    this.throttled = this.#countThrottled(accessLog, alarmConfig.prefix);
    addAlarm(this, alarmConfig, {
      heading: 'SCIM requests fail',
      meaning:
        'At least 5 % of the SCIM requests were answered with a 5xx in two of three periods of 5 minutes.',
      metric: new MathExpression({
        expression: `IF(failed >= ${FEW_FAILURES}, 100 * failed / requests, 0)`,
        usingMetrics: {
          failed: api.metricServerError({ statistic: 'Sum', period: PERIOD }),
          requests: api.metricCount({ statistic: 'SampleCount', period: PERIOD }),
        },
        label: '% of requests answered with a 5xx',
        period: PERIOD,
      }),
      threshold: 5,
      evaluationPeriods: 3,
      datapointsToAlarm: 2,
    });
    addAlarm(this, alarmConfig, {
      heading: 'SCIM requests throttled',
      meaning: 'At least 50 SCIM requests were answered with a 429 in each of three periods of 5 minutes.',
      metric: this.throttled,
      threshold: 50,
      evaluationPeriods: 3,
    });
    addAlarm(this, alarmConfig, {
      heading: 'SCIM tokens refused',
      meaning: 'At least 20 SCIM requests within 15 minutes had no valid token.',
      metric: stageMetric(alarmConfig.prefix, 'ScimRefusals', Duration.minutes(15)).with({
        dimensionsMap: { [METRIC_DIMENSIONS.prefix]: alarmConfig.prefix, [METRIC_DIMENSIONS.kind]: '401' },
      }),
      threshold: 20,
    });
    addAlarm(this, alarmConfig, {
      heading: 'SCIM token ends soon',
      meaning: 'An identity provider uses a SCIM token that expires within 14 days.',
      metric: stageMetric(alarmConfig.prefix, 'ScimTokensEnding', Duration.days(1)),
      threshold: 0,
    });
  }

  /** API Gateway has only one metric for all 4xx answers. Only the access log shows which of them are 429. */
  #countThrottled(logGroup: LogGroup, prefix: string): Metric {
    const filter = new MetricFilter(this, 'Throttled', {
      logGroup,
      filterPattern: FilterPattern.stringValue('$.status', '=', '429'),
      // The namespace contains the prefix of the deployment, because a dimension would need a field in the log.
      metricNamespace: `${METRIC_NAMESPACE}/${prefix}`,
      metricName: 'ScimThrottled',
      metricValue: '1',
    });
    return filter.metric({ statistic: 'Sum', period: PERIOD });
  }
}
