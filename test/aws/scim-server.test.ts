import {
  GetFunctionConfigurationCommand,
  GetPolicyCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, it } from 'vitest';
import { createDeployment, createScimServer } from '../../shared/aws/deployment.ts';
import type { Sdk } from '../../shared/aws/sdk.ts';
import { startServer } from './support/server.ts';

const client = new LambdaClient({ region: 'eu-west-1' });
const lambda = mockClient(client);
afterEach(() => lambda.reset());

const serverOf = (url?: string) =>
  createScimServer({ lambda: client } as unknown as Sdk, {
    prefix: 'acme',
    known: url === undefined ? undefined : { state: 'Active', url },
  });

/** The policy that API Gateway's integration adds to the function. */
const policyFor = (arn: string) =>
  JSON.stringify({ Statement: [{ Effect: 'Allow', Condition: { ArnLike: { 'AWS:SourceArn': arn } } }] });

it.each([
  ['aws', 'eu-west-1', 'https://a1b2.execute-api.eu-west-1.amazonaws.com/scim/v2'],
  ['aws-cn', 'cn-north-1', 'https://a1b2.execute-api.cn-north-1.amazonaws.com.cn/scim/v2'],
])('the SCIM URL comes from the policy of the function (partition %s)', async (partition, region, url) => {
  lambda.on(GetFunctionConfigurationCommand, { FunctionName: 'acme-scim' }).resolves({ State: 'Active' });
  const arn = `arn:${partition}:execute-api:${region}:111122223333:a1b2/*/*/scim/v2/{proxy+}`;
  lambda.on(GetPolicyCommand, { FunctionName: 'acme-scim' }).resolves({ Policy: policyFor(arn) });
  expect(await serverOf().scim()).toEqual({ state: 'Active', url });
});

it('the URL of the SCIM server is unknown if the policy of the function cannot be read or names no API', async () => {
  lambda.on(GetFunctionConfigurationCommand).resolves({ State: 'Active' });
  lambda.on(GetPolicyCommand).rejects(Object.assign(new Error('no'), { name: 'AccessDeniedException' }));
  expect(await serverOf().scim()).toEqual({ state: 'Active', url: undefined });
  lambda.on(GetPolicyCommand).resolves({ Policy: policyFor('arn:aws:s3:::bucket') });
  expect(await serverOf().scim()).toEqual({ state: 'Active', url: undefined });
});

it('a deployment without the SCIM function has no SCIM server', async () => {
  lambda
    .on(GetFunctionConfigurationCommand)
    .rejects(new ResourceNotFoundException({ message: 'no', Type: 'User', $metadata: {} }));
  expect(await serverOf().scim()).toBeUndefined();
});

it('the SCIM server of a local stack has the URL that the stack reports', async () => {
  const url = await startServer((_, response) => void response.writeHead(401).end('no'));
  expect(await serverOf(url).scim()).toEqual({ state: 'Active', url });
  expect(await serverOf(url).statusOf(url)).toBe(401);
  await expect(serverOf().statusOf('http://127.0.0.1:9')).rejects.toThrow();
});

it('if a function has several event sources and one is not enabled, the state of this source is reported', async () => {
  lambda.on(GetFunctionConfigurationCommand).resolves({ State: 'Active' });
  const EventSourceMappings = ['Enabled', 'Disabled', 'Enabled'].map((State) => ({ State }));
  lambda.on(ListEventSourceMappingsCommand).resolves({ EventSourceMappings });
  const deployment = createDeployment({ lambda: client } as unknown as Sdk, {} as never, async () => '');
  expect(await deployment.function('ingest')).toMatchObject({ eventSource: 'Disabled' });
});
