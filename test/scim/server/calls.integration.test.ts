import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { createTable } from '../../../local/emulators/dynamodb.ts';
import { connectionName } from '../../../shared/domain/ids.ts';
import { createToken } from '../../../shared/scim/tokens/tokens.ts';
import { createDynamoTable } from '../../../shared/store/dynamo-table.ts';
import { allStoresOver } from '../../../simulate/engine.ts';
import { startFront } from '../../local/support/front.ts';
import { clientOf, createWorld, fullUser } from './support/server.ts';

/** Starts the server with an emulated DynamoDB, and records the requests to DynamoDB. */
async function startWorld() {
  const dynamo = new DynamoDBClient(await startFront());
  onTestFinished(() => dynamo.destroy());
  await createTable(dynamo, 'state');
  const calls: string[] = [];
  dynamo.middlewareStack.add(
    (next, context) => (args) => {
      calls.push(String(context['commandName']).replace('Command', ''));
      return next(args);
    },
    { step: 'initialize' },
  );
  const world = createWorld();
  const table = createDynamoTable(dynamo, { tableName: 'state', sleep: async () => {} });
  const ports = { ...world.ports, ...allStoresOver(table) };
  const { token } = await createToken(connectionName('default'), ports);
  const client = clientOf(ports, { authorization: `Bearer ${token}` });
  return { client, calls };
}

it('the SCIM server creates a user with four requests to DynamoDB', async () => {
  const { client, calls } = await startWorld();
  await client.post('/Users', fullUser('ann'));
  calls.length = 0;
  expect((await client.post('/Users', fullUser('bob'))).status).toBe(201);
  // The requests read the token, claim the name, write the indexes and the desired state, and write the user.
  expect(calls).toEqual(['BatchGetItem', 'PutItem', 'BatchWriteItem', 'PutItem']);
});

it('the SCIM server finds a user by its name with two requests to DynamoDB', async () => {
  const { client, calls } = await startWorld();
  await client.post('/Users', fullUser('ann'));
  calls.length = 0;
  expect((await client.get('/Users?filter=userName eq "ann"')).body.totalResults).toBe(1);
  // The requests read the token with the claim of the name, and the user.
  expect(calls).toEqual(['BatchGetItem', 'BatchGetItem']);
});

it('SCIM requests for pages that arrive together share their reads of the list, and show all earlier users', async () => {
  const { client, calls } = await startWorld();
  await client.post('/Users', fullUser('ann'));
  await client.get('/Users');
  calls.length = 0;
  const first = client.get('/Users');
  const added = client.post('/Users', fullUser('bob')).then(() => client.get('/Users'));
  const others = Array.from({ length: 10 }, () => client.get('/Users'));
  expect((await added).body.totalResults).toBe(2);
  for (const page of [first, ...others]) expect((await page).status).toBe(200);
  // Each of the 12 requests queries its page. The list of ids is read for the first, the ten others and the last.
  expect(calls.filter((call) => call === 'Query').length).toBeLessThanOrEqual(12 + 3);
});
