import { connect } from 'node:net';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it, vi } from 'vitest';
import { createTable } from '../../../local/emulators/dynamodb.ts';
import { startAwsFront } from '../../../local/emulators/front.ts';
import { TABLE } from '../../../shared/contract/topology.ts';
import { startFront } from '../support/front.ts';
import { CREDENTIALS } from '../support/queue.ts';

it('serves the table with its index', async () => {
  const client = new DynamoDBClient(await startFront());
  await createTable(client, 'groupsync-state');
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'groupsync-state' }));
  expect(Table?.TableStatus).toBe('ACTIVE');
  const documents = DynamoDBDocumentClient.from(client);
  const item = { pk: 'G#default#g1', sk: 'GROUP', gpk: 'groups#default#0', gsk: '~#g1', name: 'Größe 🚀' };
  await documents.send(new PutCommand({ TableName: 'groupsync-state', Item: item }));
  const query = new QueryCommand({
    TableName: 'groupsync-state',
    IndexName: TABLE.index.name,
    KeyConditionExpression: 'gpk = :g',
    ExpressionAttributeValues: { ':g': 'groups#default#0' },
  });
  expect((await documents.send(query)).Items).toEqual([item]);
});

it('creates the table again without harm', async () => {
  const client = new DynamoDBClient(await startFront());
  await createTable(client, 'groupsync-state');
  await expect(createTable(client, 'groupsync-state')).resolves.toBeUndefined();
});

it('outlives a client that goes away in the middle of a request', async () => {
  const settings = await startFront();
  const client = new DynamoDBClient(settings);
  await createTable(client, 'groupsync-state');
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(new URL(settings.endpoint).port), '127.0.0.1', () => {
      socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"half', () =>
        socket.resetAndDestroy(),
      );
    });
    socket.on('close', () => resolve());
    socket.on('error', reject);
  });
  const get = new GetCommand({ TableName: 'groupsync-state', Key: { pk: 'a', sk: 'b' } });
  await expect(DynamoDBDocumentClient.from(client).send(get)).resolves.toMatchObject({});
});

it('ends under load without harm: what is under way is answered, what comes later is cut off', async () => {
  const front = await startAwsFront({ port: 0, services: [] });
  const client = new DynamoDBClient({ ...CREDENTIALS, endpoint: front.url, maxAttempts: 1 });
  await createTable(client, 'groupsync-state');
  const documents = DynamoDBDocumentClient.from(client);
  const put = (sk: string) =>
    documents.send(new PutCommand({ TableName: 'groupsync-state', Item: { pk: 'a', sk } }));
  const outcomes: Promise<'answered' | 'cut off'>[] = [];
  let isOver = false;
  const load = (async () => {
    for (let n = 0; !isOver; n += 1) {
      const outcome = put(String(n)).then(
        () => 'answered' as const,
        () => 'cut off' as const,
      );
      outcomes.push(outcome);
      if (n % 20 === 19) await outcome;
    }
  })();
  await vi.waitUntil(() => outcomes.length > 40, { interval: 1 });
  await front.close();
  isOver = true;
  await load;
  const counts = new Set(await Promise.all(outcomes));
  expect(counts).toEqual(new Set(['answered', 'cut off']));
});
