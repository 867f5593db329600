import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { functionName, type OptionalFunctionKey } from '../shared/contract/names.ts';
import type { ConnectorFunction, ConnectorFunctionProps } from './connector-function.ts';

/** One second below the timeout of an HTTP API (API Gateway quotas: 30 s), so that Lambda logs the timeout. */
export const HTTP_TIMEOUT_SECONDS = 29;

/**
 * The logged fields of each request. Path, query and headers are not logged, because they contain ids, e-mail addresses
 * and tokens. The log is JSON, so that CloudWatch can count by field.
 */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    requestId: AccessLogField.contextRequestId(),
    // An investigation of refused requests begins with the address of the sender.
    sourceIp: AccessLogField.contextIdentitySourceIp(),
    route: '$context.routeKey',
    method: AccessLogField.contextHttpMethod(),
    status: AccessLogField.contextStatus(),
    latencyMs: AccessLogField.contextResponseLatency(),
  }),
);

interface HttpApiProps {
  readonly name: OptionalFunctionKey;
  readonly description: string;
  readonly worker: ConnectorFunction;
  readonly paths: readonly string[];
  /** The reason why API Gateway does not authenticate the sender of a request. */
  readonly whyNoAuthorizer: string;
  readonly rateLimit: number;
  readonly burstLimit: number;
}

/**
 * Adds an HTTP API in front of a function. The API accepts only TLS 1.2 and later (API Gateway developer guide,
 * "Security policy for HTTP APIs"). Its throttle limits the total number of requests.
 */
export function addHttpApi(
  scope: Construct,
  { name, description, worker, paths, whyNoAuthorizer, rateLimit, burstLimit }: HttpApiProps,
  { settings, key }: Pick<ConnectorFunctionProps, 'settings' | 'key'>,
): { readonly api: HttpApi; readonly accessLog: LogGroup } {
  const apiName = functionName(settings.prefix, name);
  const api = new HttpApi(scope, 'Api', { apiName, description, createDefaultStage: false });
  const integration = new HttpLambdaIntegration('Integration', worker.function, {
    payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
  });
  for (const path of paths) {
    for (const route of api.addRoutes({ path, methods: [HttpMethod.ANY], integration }))
      Validations.of(route).acknowledge({ id: 'AwsSolutions-APIG4', reason: whyNoAuthorizer });
  }
  const accessLog = new LogGroup(scope, 'AccessLog', {
    // The key policy allows only names that begin with `/aws/lambda/`, like the log groups of the functions.
    logGroupName: `/aws/lambda/${apiName}-access`,
    retention: settings.logRetentionDays,
    encryptionKey: key,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  new HttpStage(scope, 'Stage', {
    httpApi: api,
    // The name of this stage is not part of the path.
    stageName: '$default',
    autoDeploy: true,
    throttle: { rateLimit, burstLimit },
    accessLogSettings: { destination: new LogGroupLogDestination(accessLog), format: ACCESS_LOG },
  });
  return { api, accessLog };
}
