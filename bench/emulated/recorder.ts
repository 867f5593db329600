import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { Agent, type Dispatcher } from 'undici';

export interface AwsCall {
  readonly to: 'dynamodb' | 'sqs';
  readonly make: new (input: never) => object;
  readonly input: unknown;
}

/** A call as the SDK client or the dispatcher was given it. */
export type RecordedCall = AwsCall | { readonly to: 'platform'; readonly request: Dispatcher.RequestOptions };

type Send = (command: object, ...rest: unknown[]) => Promise<unknown>;

/**
 * Remembers every call that leaves this process, in order, until `stop`. The clients of the SDK are made inside the
 * connector, so their classes are listened to.
 */
export function startRecording(): { readonly calls: readonly RecordedCall[]; readonly stop: () => void } {
  const calls: RecordedCall[] = [];
  const undo = [
    listen(DynamoDBClient, (command) => calls.push(awsCall('dynamodb', command))),
    listen(SQSClient, (command) => calls.push(awsCall('sqs', command))),
    listenToAgent((request) => calls.push({ to: 'platform', request })),
  ];
  return { calls, stop: () => undo.forEach((end) => void end()) };
}

const awsCall = (to: AwsCall['to'], command: object): AwsCall => ({
  to,
  make: command.constructor as new (input: never) => object,
  input: (command as { readonly input: unknown }).input,
});

function listen(of: { readonly prototype: object }, heard: (command: object) => void): () => void {
  const prototype = of.prototype as { send: Send };
  const { send } = prototype;
  prototype.send = function (this: unknown, command, ...rest) {
    heard(command);
    return send.call(this, command, ...rest);
  };
  return () => {
    prototype.send = send;
  };
}

function listenToAgent(heard: (request: Dispatcher.RequestOptions) => void): () => void {
  const prototype = Agent.prototype as unknown as {
    request: (options: Dispatcher.RequestOptions) => unknown;
  };
  const inherited = prototype.request;
  const isOwn = Object.hasOwn(prototype, 'request');
  prototype.request = function (this: unknown, options) {
    heard(options);
    return inherited.call(this, options);
  };
  return () => {
    if (isOwn) prototype.request = inherited;
    else delete (prototype as { request?: unknown }).request;
  };
}
