import { functionArn, type InvocationResult, invoke, type LocalFunction } from '../invocation.ts';
import { AwsFault, type AwsReply, type AwsRequest, type AwsService, jsonReply } from './exchange.ts';

const PATH = /^\/2015-03-31\/functions\/([^/]+)\/(invocations|configuration)\/?$/;

/**
 * Emulates Lambda's Invoke (RequestResponse, Event, DryRun) and GetFunctionConfiguration for functions in this process.
 * @param functions the functions by name. A request can also contain an ARN
 */
export function createLambda(functions: ReadonlyMap<string, LocalFunction>): AwsService {
  return (request) => {
    const found = PATH.exec(request.path);
    if (found === null) return undefined;
    const [, id = '', action] = found;
    return action === 'configuration'
      ? configure(functions, decodeURIComponent(id))
      : run(functions, decodeURIComponent(id), request);
  };
}

function find(functions: ReadonlyMap<string, LocalFunction>, id: string): LocalFunction {
  const name = /(?:^|:function:)([\w-]+)(?::[^:]*)?$/.exec(id)?.[1] ?? id;
  const found = functions.get(name);
  if (found === undefined) {
    throw new AwsFault('ResourceNotFoundException', `Function not found: ${functionArn(name)}`, 404);
  }
  return found;
}

async function configure(functions: ReadonlyMap<string, LocalFunction>, id: string): Promise<AwsReply> {
  const { name, timeoutSeconds } = find(functions, id);
  return jsonReply({
    FunctionName: name,
    FunctionArn: functionArn(name),
    Runtime: 'nodejs24.x',
    Timeout: timeoutSeconds,
    State: 'Active',
    LastUpdateStatus: 'Successful',
    Version: '$LATEST',
  });
}

async function run(functions: ReadonlyMap<string, LocalFunction>, id: string, request: AwsRequest) {
  const fn = find(functions, id);
  const event = readPayload(request.body);
  const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (type === 'DryRun') return { status: 204, headers: {}, body: '' };
  const result = invoke(fn, event);
  if (type === 'Event') return { status: 202, headers: {}, body: '' };
  if (type !== 'RequestResponse') {
    throw new AwsFault('InvalidParameterValueException', `unknown invocation type ${String(type)}`);
  }
  return resultReply(await result);
}

function readPayload(body: Buffer): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new AwsFault('InvalidRequestContentException', 'Could not parse request body into json');
  }
}

/** If the function throws an error, the status is 200 with an error header, because the invocation itself succeeded. */
function resultReply(result: InvocationResult): AwsReply {
  const headers = { 'x-amz-executed-version': '$LATEST', 'content-type': 'application/json' };
  if (result.ok) return { status: 200, headers, body: result.payload };
  const { errorType, errorMessage } = result;
  return {
    status: 200,
    headers: { ...headers, 'x-amz-function-error': 'Unhandled' },
    body: JSON.stringify({ errorType, errorMessage, trace: [] }),
  };
}
