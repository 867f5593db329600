import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { TABLE } from '../../shared/contract/topology.ts';

/** A proxy between one function and AWS. It records each call of the function under its IAM action. */
export interface Recorder {
  readonly url: string;
  /** The calls as `service:Action on resource`, without duplicates. */
  readonly calls: ReadonlySet<string>;
  /** The partition keys of all calls to the table and its index, for the IAM condition `dynamodb:LeadingKeys`. */
  readonly leadingKeys: ReadonlySet<string>;
  /** The names of all attributes in writes to the table, for the IAM condition `dynamodb:Attributes`. */
  readonly written: ReadonlySet<string>;
  close(): Promise<void>;
}

type Upstream = (service: 'dynamodb' | 'sqs' | 'secretsmanager' | 'lambda' | 'scheduler') => string;

const SERVICES = {
  DynamoDB_20120810: 'dynamodb',
  AmazonSQS: 'sqs',
  secretsmanager: 'secretsmanager',
} as const;

/** In requests to Lambda and Scheduler, the path of the URL contains the operation and the resource. */
const PATHS = [
  ['lambda', 'InvokeFunction', /^\/[\d-]+\/functions\/([^/]+)\/invocations/],
  ['lambda', 'GetFunctionConfiguration', /^\/[\d-]+\/functions\/([^/]+)\/configuration/],
  ['lambda', 'GetPolicy', /^\/[\d-]+\/functions\/([^/]+)\/policy/],
  ['lambda', 'ListEventSourceMappings', /^\/[\d-]+\/event-source-mappings()/],
  ['scheduler', 'GetSchedule', /^\/schedules\/([^/?]+)/],
] as const;

const Subject = z.object({
  IndexName: z.string().optional(),
  QueueUrl: z.string().optional(),
  SecretId: z.string().optional(),
  Name: z.string().optional(),
  QueueName: z.string().optional(),
});

export async function startRecorder(upstream: Upstream): Promise<Recorder> {
  const calls = new Set<string>();
  const leadingKeys = new Set<string>();
  const written = new Set<string>();
  const server = createServer(async (request, response) => {
    try {
      const body = await readAll(request);
      const { headers, url = '/' } = request;
      const { service, call } = describeCall(String(headers['x-amz-target'] ?? url), body);
      calls.add(call);
      if (service === 'dynamodb') for (const key of leadingKeysIn(body)) leadingKeys.add(key);
      for (const name of attributesWritten(call, body)) written.add(name);
      const real = upstream(service);
      const answer = await fetch(`${new URL(real).origin}${url}`, {
        method: request.method ?? 'POST',
        headers: forwarded(request),
        // Queue URLs contain the address of the recorder, because the SDK sends requests to the host of the queue URL.
        // The recorder replaces this address with the address of the real service.
        body: body === '' ? null : body.replaceAll(`http://${headers.host}`, new URL(real).origin),
      });
      const kept = [...answer.headers].filter(
        ([name]) => !/^(content-length|content-encoding|transfer-encoding|connection|keep-alive)$/.test(name),
      );
      response.writeHead(answer.status, Object.fromEntries(kept));
      response.end((await answer.text()).replaceAll(new URL(real).origin, `http://${headers.host}`));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, calls, leadingKeys, written, close: () => close(server) };
}

/**
 * Returns the service and the name of the call in the recording. A batch call needs the IAM permission of the single
 * call (service authorization reference of Amazon SQS).
 */
function describeCall(target: string, body: string) {
  for (const [service, action, path] of PATHS) {
    const [, resource] = path.exec(target) ?? [];
    if (resource !== undefined) return { service, call: `${service}:${action} on ${resource || 'any'}` };
  }
  const [api = '', operation = ''] = target.split('.');
  const service = SERVICES[api as keyof typeof SERVICES];
  if (service === undefined) throw new Error(`expected DynamoDB, SQS or Secrets Manager, got ${target}`);
  const { IndexName, QueueUrl, QueueName, Name, SecretId } = Subject.parse(JSON.parse(body));
  const resource =
    QueueUrl?.split('/').at(-1) ??
    QueueName ??
    SecretId ??
    Name ??
    (IndexName === TABLE.index.name ? 'index' : 'table');
  const action = service === 'sqs' ? operation.replace(/Batch$/, '') : operation;
  return { service, call: `${service}:${action} on ${resource}` };
}

const Item = z.record(z.string(), z.unknown());
const Write = z.object({
  Item: Item.default({}),
  ExpressionAttributeNames: z.record(z.string(), z.string()).default({}),
  RequestItems: z
    .record(z.string(), z.array(z.object({ PutRequest: z.object({ Item }).optional() })))
    .default({}),
});

function attributesWritten(call: string, body: string): readonly string[] {
  if (!/^dynamodb:(?:UpdateItem|PutItem|BatchWriteItem) /.test(call)) return [];
  const { Item: put, ExpressionAttributeNames: named, RequestItems } = Write.parse(JSON.parse(body));
  const batched = Object.values(RequestItems).flatMap((all) =>
    all.map(({ PutRequest }) => PutRequest?.Item ?? {}),
  );
  return [...Object.values(named), ...[put, ...batched].flatMap((item) => Object.keys(item))];
}

const Keyed = z.object({ pk: z.object({ S: z.string() }) });
const Read = z.object({
  RequestItems: z
    .record(
      z.string(),
      z.object({ Keys: z.array(Keyed).default([]) }).or(
        z.array(
          z.object({
            PutRequest: z.object({ Item: Keyed }).optional(),
            DeleteRequest: z.object({ Key: Keyed }).optional(),
          }),
        ),
      ),
    )
    .optional(),
  Key: Keyed.optional(),
  Item: Keyed.optional(),
  ExpressionAttributeValues: z.object({ ':pk': z.object({ S: z.string() }).optional() }).optional(),
});

function leadingKeysIn(body: string): readonly string[] {
  const { RequestItems = {}, Key, Item: put, ExpressionAttributeValues } = Read.parse(JSON.parse(body));
  const batched = Object.values(RequestItems).flatMap((of) =>
    Array.isArray(of)
      ? of.map(({ PutRequest, DeleteRequest }) => PutRequest?.Item ?? DeleteRequest?.Key)
      : of.Keys,
  );
  const queried = ExpressionAttributeValues?.[':pk']?.S;
  return [...[...batched, Key, put].map((keyed) => keyed?.pk.S), queried].filter((key) => key !== undefined);
}

const forwarded = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    [
      'authorization',
      'content-type',
      'x-amz-invocation-type',
      'x-amz-target',
      'x-amz-date',
      'x-amz-security-token',
    ].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
