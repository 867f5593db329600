import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it } from 'vitest';
import type { Sdk } from '../../shared/aws/sdk.ts';
import { bindingsOf } from '../../shared/runtime/wire-tool.ts';

it('bindingsOf reads the configuration of ingest only for a message that is not from the common queue', async () => {
  const lambda = mockClient(LambdaClient);
  const Environment = { Variables: { GROUPSYNC_BOUND_QUEUES: 'p-events-okta=acme' } };
  lambda.on(GetFunctionConfigurationCommand, { FunctionName: 'p-ingest' }).resolves({ Environment });
  const bindingOf = bindingsOf({ lambda: new LambdaClient() } as Sdk, 'p');
  expect((await bindingOf()) ?? (await bindingOf('p-events'))).toBeUndefined();
  const reader = 'p-events-directory';
  expect(await bindingOf(reader, 'acme')).toEqual({ isOfReader: true, queue: reader, to: 'acme' });
  expect(lambda.calls()).toEqual([]);
  const [own, gone] = ['p-events-okta', 'p-events-gone'];
  expect(await bindingOf(own)).toEqual({ queue: own, to: 'acme' });
  expect(await bindingOf(gone)).toEqual({ queue: gone, to: undefined });
  expect(lambda.calls()).toHaveLength(1);
});
