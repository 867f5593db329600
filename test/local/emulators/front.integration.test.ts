import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
} from '@aws-sdk/lib-dynamodb';
import database from 'dynalite/db/index.js';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createTable } from '../../../local/emulators/dynamodb.ts';
import { startAwsFront } from '../../../local/emulators/front.ts';
import { startSqs } from '../../../local/emulators/sqs.ts';
import { TABLE } from '../../../shared/contract/topology.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { startFront } from '../support/front.ts';
import { CREDENTIALS } from '../support/queue.ts';

it('the table is created once with its index, and a later start repairs index keys after a crash', async () => {
  const client = new DynamoDBClient(await startFront());
  await createTable(client, 'groupsync-state');
  await createTable(client, 'groupsync-state');
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'groupsync-state' }));
  expect(Table?.TableStatus).toBe('ACTIVE');
  const documents = DynamoDBDocumentClient.from(client);
  const item = { pk: 'G#default#g1', sk: 'GROUP', gpk: 'groups#default#0', gsk: '~#g1', name: 'Größe 🚀' };
  const put = (more: object) =>
    documents.send(new PutCommand({ TableName: 'groupsync-state', Item: { ...item, ...more } }));
  const query = new QueryCommand({
    TableName: 'groupsync-state',
    IndexName: TABLE.index.name,
    KeyConditionExpression: 'gpk = :g',
    ExpressionAttributeValues: { ':g': 'groups#default#0' },
  });
  await put({});
  expect((await documents.send(query)).Items).toEqual([item]);
  const others = ['a', 'b', 'c'].map((sk) => ({ sk, gsk: `~#${sk}`, name: 'before' }));
  for (const other of others) await put(other);
  const unwritten = vi
    .spyOn(database, 'updateIndexes')
    .mockImplementation((...all) => (all.at(-1) as () => void)());
  await put({ gsk: '0#g1', more: 1 });
  await put({ ...others[0], name: 'after' });
  await documents.send(new DeleteCommand({ TableName: 'groupsync-state', Key: { pk: item.pk, sk: 'b' } }));
  await put({ sk: 'c', gpk: undefined, gsk: undefined });
  await put({ sk: 'd', gsk: '~#d' });
  unwritten.mockRestore();
  expect((await documents.send(query)).Items).toHaveLength(4);
  await createTable(client, 'groupsync-state');
  expect((await documents.send(query)).Items).toEqual([
    { ...item, gsk: '0#g1' },
    { ...item, ...others[0], name: 'after' },
    { ...item, sk: 'd', gsk: '~#d' },
  ]);
  const { Item } = await documents.send(
    new GetCommand({ TableName: 'groupsync-state', Key: { pk: item.pk, sk: 'GROUP' } }),
  );
  expect(Item).toEqual({ ...item, gsk: '0#g1', more: 1 });
});

it('the front survives a client that disconnects in the middle of a request', async () => {
  const settings = await startFront();
  const client = new DynamoDBClient(settings);
  await createTable(client, 'groupsync-state');
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(new URL(settings.endpoint).port), '127.0.0.1', () => {
      socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{"half', () =>
        socket.resetAndDestroy(),
      );
    });
    socket.on('close', () => resolve());
    socket.on('error', reject);
  });
  const get = new GetCommand({ TableName: 'groupsync-state', Key: { pk: 'a', sk: 'b' } });
  await expect(DynamoDBDocumentClient.from(client).send(get)).resolves.toMatchObject({});
});

it('the front answers requests in flight while it stops, but closes the connections of later requests', async () => {
  const front = await startAwsFront({ port: 0, services: [] });
  const client = new DynamoDBClient({ ...CREDENTIALS, endpoint: front.url, maxAttempts: 1 });
  await createTable(client, 'groupsync-state');
  const documents = DynamoDBDocumentClient.from(client);
  const put = (sk: string) =>
    documents.send(new PutCommand({ TableName: 'groupsync-state', Item: { pk: 'a', sk } }));
  const outcomes: Promise<string>[] = [];
  let isOver = false;
  const load = (async () => {
    for (let n = 0; !isOver; n += 1) {
      outcomes.push(put(String(n)).then(...['answered', 'cut off'].map((outcome) => () => outcome)));
      if (n % 20 === 19) await outcomes[n];
    }
  })();
  await vi.waitUntil(() => outcomes.length > 40, { timeout: PATIENCE_MS, interval: 1 });
  await front.close();
  isOver = true;
  await load;
  const counts = new Set(await Promise.all(outcomes));
  expect(counts).toEqual(new Set(['answered', 'cut off']));
});

it.each([
  ['a program', {}, 200],
  ['a page whose host name was rebound to this address', { host: 'evil.test:80' }, 403],
  ['a page of another origin', { origin: 'https://evil.test' }, 403],
])('the DynamoDB and SQS emulators give the same answer to a request from %s', async (_, headers, status) => {
  const { endpoint } = await startFront();
  const sqs = await startSqs(0);
  onTestFinished(() => sqs.close());
  const authorization = `AWS4-HMAC-SHA256 Credential=local/20261120/us-east-1/x/aws4_request, SignedHeaders=host, Signature=x`;
  for (const [url, target, version] of [
    [endpoint, 'DynamoDB_20120810.ListTables', '1.0'],
    [sqs.url, 'AmazonSQS.ListQueues', '1.0'],
  ] as const) {
    const common = {
      authorization,
      'x-amz-date': '20261120T000000Z',
      'x-amz-target': target,
      'content-type': `application/x-amz-json-${version}`,
    };
    const sent = request(url, { method: 'POST', headers: { ...common, ...headers } }).end('{}');
    const [response] = await once(sent, 'response');
    response.resume();
    expect(response.statusCode, target).toBe(status);
  }
});
