import type { APIGatewayProxyEventV2 } from 'aws-lambda';

interface HttpRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | undefined;
}

/** The content types whose bodies the function gets as text. All other bodies are encoded as base64. */
const IS_TEXT = /^(?:text\/|application\/(?:json|javascript|xml)\b)/;

/**
 * Returns the event that an HTTP API sends to its function (API Gateway developer guide, "Payload format 2.0"). API
 * Gateway decodes the path, cuts it at a decoded `?`, and passes on the query without a change.
 */
export function httpEvent({ method, target, headers, body }: HttpRequest): APIGatewayProxyEventV2 {
  const [path = '/', ...query] = target.split('?');
  const { cookie, ...others } = headers;
  const rawPath = decoded(path).replace(/\?.*/s, '');
  const host = headers['host'] ?? 'api.execute-api.eu-west-1.amazonaws.com';
  const isText = IS_TEXT.test(headers['content-type'] ?? '');
  return {
    version: '2.0',
    routeKey: 'ANY /{proxy+}',
    rawPath,
    rawQueryString: query.join('?'),
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    headers: others,
    requestContext: {
      accountId: '123456789012',
      apiId: 'api',
      domainName: host,
      domainPrefix: host.split('.')[0] ?? '',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: '' },
      requestId: 'request',
      routeKey: 'ANY /{proxy+}',
      stage: '$default',
      time: '',
      timeEpoch: 0,
    },
    ...(body !== undefined && { body: Buffer.from(body as string).toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body !== undefined && !isText,
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
