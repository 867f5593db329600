import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { Agent, type Dispatcher } from 'undici';

export interface AwsCall {
  readonly to: 'dynamodb' | 'sqs';
  readonly make: new (input: never) => object;
  readonly input: unknown;
}

export type RecordedCall = AwsCall | { readonly to: 'platform'; readonly request: Dispatcher.RequestOptions };

/**
 * Records every call to DynamoDB, SQS and the platform, in order, until `stop`. The functions create their SDK clients,
 * so the recorder patches the classes of the clients.
 */
export function startRecording(): { readonly calls: readonly RecordedCall[]; readonly stop: () => void } {
  const calls: RecordedCall[] = [];
  const undo = [
    listen<object>(DynamoDBClient, 'send', (command) => calls.push(awsCall('dynamodb', command))),
    listen<object>(SQSClient, 'send', (command) => calls.push(awsCall('sqs', command))),
    listen<Dispatcher.RequestOptions>(Agent, 'request', (request) => calls.push({ to: 'platform', request })),
  ];
  return { calls, stop: () => undo.forEach((end) => void end()) };
}

const awsCall = (to: AwsCall['to'], command: object): AwsCall => ({
  to,
  make: command.constructor as new (input: never) => object,
  input: (command as { readonly input: unknown }).input,
});

/**
 * Calls `onCall` before each call of the method. Returns a function that restores the method. If the class inherits the
 * method, the returned function deletes the override.
 */
function listen<Call>(of: { readonly prototype: object }, method: string, onCall: (call: Call) => void) {
  const prototype = of.prototype as Record<string, (call: Call, ...rest: unknown[]) => unknown>;
  const { [method]: before } = prototype;
  const isOwn = Object.hasOwn(prototype, method);
  prototype[method] = function (this: unknown, call, ...rest) {
    onCall(call);
    return before?.call(this, call, ...rest);
  };
  return () => {
    if (isOwn && before !== undefined) prototype[method] = before;
    else delete prototype[method];
  };
}
