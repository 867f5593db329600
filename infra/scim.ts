import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { METRIC_DIMENSIONS } from '../shared/contract/metrics.ts';
import { ENVIRONMENT, functionName, METRIC_NAMESPACE } from '../shared/contract/names.ts';
import { type AlarmConfig, addAlarm, stageMetric } from './alarms.ts';
import { ConnectorFunction, type ConnectorFunctionProps } from './connector-function.ts';

/** One second below the time-out of an HTTP API (API Gateway quotas: 30 s), so that the function logs the time-out. */
const TIMEOUT_SECONDS = 29;

/** Path after the host. The function expects the same path (`functions/scim.ts`). */
const BASE_PATH = '/scim/v2';

/**
 * The logged fields of each request. Path, query and headers are not logged, because they contain ids, filters with
 * e-mail addresses, and tokens. The log is JSON, so that CloudWatch can count by field.
 */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    requestId: AccessLogField.contextRequestId(),
    // An investigation of refused requests begins with their address.
    sourceIp: AccessLogField.contextIdentitySourceIp(),
    route: '$context.routeKey',
    method: AccessLogField.contextHttpMethod(),
    status: AccessLogField.contextStatus(),
    latencyMs: AccessLogField.contextResponseLatency(),
  }),
);

type ScimProps = Omit<ConnectorFunctionProps, 'name' | 'timeoutSeconds'>;

/**
 * The SCIM server: a function behind an HTTP API, which admits TLS 1.2 and later only (API Gateway developer guide,
 * "Security policy for HTTP APIs"). Its throttle is the only limit on all connections together.
 */
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
      timeoutSeconds: TIMEOUT_SECONDS,
      reservedConcurrency: scimConcurrency === 'none' ? undefined : scimConcurrency,
    });
    this.worker.function.addEnvironment(ENVIRONMENT.scimAllowedIps, scimAllowedIps.join(','));
    this.api = new HttpApi(this, 'Api', {
      apiName: functionName(props.settings.prefix, 'scim'),
      description: 'SCIM 2.0 for identity providers',
      createDefaultStage: false,
    });
    this.url = `${this.api.apiEndpoint}${BASE_PATH}`;
    this.#routes();
    const accessLog = this.#stage(props);
    this.alarms = new ScimAlarms(this, props.alarmConfig, this.api, accessLog);
  }

  /** Only two routes. Requests to other paths do not reach the function. */
  #routes(): void {
    const integration = new HttpLambdaIntegration('Integration', this.worker.function, {
      payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
    });
    for (const path of [BASE_PATH, `${BASE_PATH}/{proxy+}`]) {
      const routes = this.api.addRoutes({ path, methods: [HttpMethod.ANY], integration });
      for (const route of routes) {
        Validations.of(route).acknowledge({
          id: 'AwsSolutions-APIG4',
          reason:
            'Identity providers send one bearer token, whose hash is in the table. The function checks it before anything else; an authorizer of API Gateway would only repeat the same look-up.',
        });
      }
    }
  }

  #stage({ settings, key }: ScimProps): LogGroup {
    const accessLog = new LogGroup(this, 'AccessLog', {
      // The name has the form of the functions' logs, because the policy of the key admits only such names.
      logGroupName: `/aws/lambda/${functionName(settings.prefix, 'scim')}-access`,
      retention: settings.logRetentionDays,
      encryptionKey: key,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      // The name of this stage is not part of the path.
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: settings.scimRequestsPerSecond, burstLimit: settings.scimBurst },
      accessLogSettings: { destination: new LogGroupLogDestination(accessLog), format: ACCESS_LOG },
    });
    return accessLog;
  }
}

const PERIOD = Duration.minutes(5);
/**
 * With fewer failures in a period, the alarm ignores the share of failures, because one of two requests may fail by
 * chance.
 */
const FEW_FAILURES = 5;

/** Alarms about errors that an identity provider sees, measured at the API. An unused endpoint reports nothing. */
class ScimAlarms extends Construct {
  /** Requests answered with 429, by API Gateway's throttle or by the server's own limit. */
  readonly throttled: Metric;

  constructor(scope: Construct, alarmConfig: AlarmConfig, api: HttpApi, accessLog: LogGroup) {
    super(scope, 'Alarms');
    this.throttled = this.#countThrottled(accessLog, alarmConfig.prefix);
    addAlarm(this, alarmConfig, {
      heading: 'SCIM requests fail',
      meaning: 'Over 5 % of the SCIM requests were answered with a 5xx in two of three periods of 5 minutes.',
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
      meaning: 'Over 50 SCIM requests were answered with a 429 in each of three periods of 5 minutes.',
      metric: this.throttled,
      threshold: 50,
      evaluationPeriods: 3,
    });
    addAlarm(this, alarmConfig, {
      heading: 'SCIM tokens refused',
      meaning: 'Over 20 SCIM requests within 15 minutes came without a valid token.',
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

  /** API Gateway counts throttled requests among all 4xx. Only the access log distinguishes them. */
  #countThrottled(logGroup: LogGroup, prefix: string): Metric {
    const filter = new MetricFilter(this, 'Throttled', {
      logGroup,
      filterPattern: FilterPattern.stringValue('$.status', '=', '429'),
      // A dimension would need a log field, so the namespace contains the stage instead.
      metricNamespace: `${METRIC_NAMESPACE}/${prefix}`,
      metricName: 'ScimThrottled',
      metricValue: '1',
    });
    return filter.metric({ statistic: 'Sum', period: PERIOD });
  }
}
