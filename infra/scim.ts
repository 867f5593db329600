import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ENVIRONMENT, METRIC_NAMESPACE } from '../shared/contract/names.ts';
import { ConnectorFunction, type ConnectorFunctionProps } from './connector-function.ts';
import { addHttpApi, HTTP_TIMEOUT_SECONDS } from './http-api.ts';

/** Path after the host. The function expects the same path (`functions/scim.ts`). */
const BASE_PATH = '/scim/v2';

type ScimProps = Omit<ConnectorFunctionProps, 'name' | 'timeoutSeconds'>;

export class Scim extends Construct {
  readonly worker: ConnectorFunction;
  readonly api: HttpApi;
  /** The base URL for identity providers. */
  readonly url: string;
  /** The number of requests with this status, from the access log. API Gateway has one metric for all 4xx answers. */
  readonly withStatus: (status: 401 | 429) => Metric;

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
    const { prefix } = props.settings;
    this.withStatus = (status) =>
      new MetricFilter(this, `Status${status}`, {
        logGroup: accessLog,
        filterPattern: FilterPattern.stringValue('$.status', '=', String(status)),
        // The namespace contains the prefix of the deployment, because a dimension would need a field in the log.
        metricNamespace: `${METRIC_NAMESPACE}/${prefix}`,
        metricName: `Scim${status}`,
        metricValue: '1',
      }).metric({ statistic: 'Sum' });
  }
}
