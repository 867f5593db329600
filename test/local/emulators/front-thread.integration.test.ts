import { createServer } from 'node:net';
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

async function start() {
  const front = await startFrontThread({ port: 0, services: [createSecretsManager()] });
  onTestFinished(() => front.close());
  return { ...CREDENTIALS, endpoint: front.url };
}

it('serves DynamoDB in the thread and the other services from here, errors included', async () => {
  const settings = await start();
  const dynamoDb = new DynamoDBClient(settings);
  await createTable(dynamoDb, 'state');
  const { Table } = await dynamoDb.send(new DescribeTableCommand({ TableName: 'state' }));
  expect(Table?.TableStatus).toBe('ACTIVE');
  const secrets = new SecretsManagerClient(settings);
  await secrets.send(new CreateSecretCommand({ Name: 'a', SecretString: 'größe' }));
  const read = (SecretId: string) => secrets.send(new GetSecretValueCommand({ SecretId }));
  expect((await read('a')).SecretString).toBe('größe');
  await expect(read('b')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

it('refuses what none of them takes', async () => {
  const sqs = new SQSClient({ ...(await start()), maxAttempts: 1 });
  await expect(sqs.send(new ListQueuesCommand({}))).rejects.toMatchObject({
    name: expect.stringContaining('UnknownOperation'),
  });
});

it('cannot start on a port that is taken, and says so', async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
  });
  onTestFinished(() => void taken.close());
  await expect(startFrontThread({ port, services: [] })).rejects.toThrow(/EADDRINUSE.*127\.0\.0\.1/);
});
