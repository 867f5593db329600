import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished } from 'vitest';
import { createTable } from '../../../local/emulators/dynamodb.ts';
import { startFrontThread } from '../../../local/emulators/front-thread.ts';
import { createSecretsManager } from '../../../local/emulators/secrets-manager.ts';
import { CREDENTIALS } from '../support/queue.ts';

it('the front serves DynamoDB in a separate thread and other services in the main thread, and refuses unknown services', async () => {
  const front = await startFrontThread({ port: 0, services: [createSecretsManager()] });
  onTestFinished(() => front.close());
  const settings = { ...CREDENTIALS, endpoint: front.url };
  const dynamoDb = new DynamoDBClient(settings);
  await createTable(dynamoDb, 'state');
  const describe = new DescribeTableCommand({ TableName: 'state' });
  const { $metadata, ...here } = await dynamoDb.send(describe);
  expect(here.Table?.TableStatus).toBe('ACTIVE');
  // A request with an abort signal goes over TCP, like the requests of other programs.
  expect(await dynamoDb.send(describe, { abortSignal: AbortSignal.timeout(9_000) })).toMatchObject(here);
  const secrets = new SecretsManagerClient(settings);
  await secrets.send(new CreateSecretCommand({ Name: 'a', SecretString: 'größe' }));
  const read = (SecretId: string) => secrets.send(new GetSecretValueCommand({ SecretId }));
  expect((await read('a')).SecretString).toBe('größe');
  await expect(read('b')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  const sqs = new SQSClient({ ...settings, maxAttempts: 1 });
  await expect(sqs.send(new ListQueuesCommand({}))).rejects.toMatchObject({
    name: expect.stringContaining('UnknownOperation'),
  });
  await front.close();
  await expect(dynamoDb.send(describe)).rejects.toThrow('ECONNREFUSED');
});
