import '../shared/runtime/cold-start.ts';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { endpointOf, reportDeliveries, reportScim } from '../shared/runtime/report.ts';
import { wireScim } from '../shared/runtime/wire-scim.ts';
import { handleScim, refuseAddress } from '../shared/scim/server/handle.ts';
import type { HttpRequest } from '../shared/scim/server/http.ts';
import { once } from './frame/once.ts';

const wired = once(wireScim);

/** Handles the requests of the SCIM server's HTTP API (payload format 2.0). */
export async function handler(
  event: APIGatewayProxyEventV2,
  context: Context,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { ports, admits, logger } = wired();
  const startedMs = ports.clock();
  const request = requestOf(event);
  const report = admits(request.source ?? '') ? await handleScim(request, ports) : refuseAddress();
  const { method, path } = request;
  const call = { method, endpoint: endpointOf(path), elapsedMs: ports.clock() - startedMs };
  const log = logger.with({ requestId: context.awsRequestId });
  reportScim(report, call, log);
  await reportDeliveries(report.deliveries, ports, log);
  const { status, headers, body } = report.reply;
  return { statusCode: status, headers, body };
}

/**
 * Converts an event of API Gateway to a request. The path does not contain the stage `$default`, and header names are
 * in lower case.
 */
function requestOf(event: APIGatewayProxyEventV2): HttpRequest {
  const { body, isBase64Encoded, requestContext } = event;
  return {
    method: requestContext.http.method,
    path: event.rawPath,
    query: event.rawQueryString,
    headers: event.headers,
    body: isBase64Encoded && body !== undefined ? Buffer.from(body, 'base64') : body,
    origin: `https://${requestContext.domainName}`,
    source: requestContext.http.sourceIp,
  };
}
