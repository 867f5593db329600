import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { TABLE } from '../../shared/contract/topology.ts';

/** Stands between one function and AWS, and writes down what it calls, as IAM names it. */
export interface Recorder {
  readonly url: string;
  /** `service:Action on resource`, each once. */
  readonly calls: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Where a service really is. */
export type Upstream = (service: 'dynamodb' | 'sqs' | 'secretsmanager') => string;

const SERVICES = {
  DynamoDB_20120810: 'dynamodb',
  AmazonSQS: 'sqs',
  secretsmanager: 'secretsmanager',
} as const;

/** The parts of a request that say which resource it is about. */
const Subject = z.object({
  IndexName: z.string().optional(),
  QueueUrl: z.string().optional(),
  SecretId: z.string().optional(),
});

export async function startRecorder(upstream: Upstream): Promise<Recorder> {
  const calls = new Set<string>();
  const server = createServer(async (request, response) => {
    try {
      const body = await readAll(request);
      const { service, call } = describeCall(String(request.headers['x-amz-target']), body);
      calls.add(call);
      const real = upstream(service);
      const answer = await fetch(real, {
        method: request.method ?? 'POST',
        headers: forwarded(request),
        // Queue URLs name this recorder, because the SDK sends to the host that they name.
        body: body.replaceAll(`http://${request.headers.host}`, new URL(real).origin),
      });
      const headers = [...answer.headers].filter(
        ([name]) => !/^(content-encoding|transfer-encoding|connection|keep-alive)$/.test(name),
      );
      response.writeHead(answer.status, Object.fromEntries(headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, calls, close: () => close(server) };
}

/** A batch needs the right to its single action (service authorization reference of Amazon SQS). */
function describeCall(target: string, body: string) {
  const [api = '', operation = ''] = target.split('.');
  const service = SERVICES[api as keyof typeof SERVICES];
  if (service === undefined) throw new Error(`expected DynamoDB, SQS or Secrets Manager, got ${target}`);
  const { IndexName, QueueUrl, SecretId } = Subject.parse(JSON.parse(body));
  const resource =
    QueueUrl?.split('/').at(-1) ?? SecretId ?? (IndexName === TABLE.index.name ? 'index' : 'table');
  const action = service === 'sqs' ? operation.replace(/Batch$/, '') : operation;
  return { service, call: `${service}:${action} on ${resource}` };
}

const forwarded = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    ['authorization', 'content-type', 'x-amz-target', 'x-amz-date', 'x-amz-security-token'].flatMap(
      (name) => {
        const value = headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      },
    ),
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
