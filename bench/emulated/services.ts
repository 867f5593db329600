import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { Agent } from 'undici';
import { createTable } from '../../local/emulators/dynamodb.ts';
import { startAwsFront } from '../../local/emulators/front.ts';
import { createQueues, startSqs } from '../../local/emulators/sqs.ts';
import { createSimulator } from '../../local/platform/simulator.ts';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { benchPorts } from '../memory/ports.ts';
import { CREDENTIALS, REGION } from '../memory/sdk-wire.ts';
import { TOKEN, worldOf } from './world.ts';

const TABLE_NAME = 'bench';
const COMPANY = 'bench';

/** Starts the local emulators and the platform simulator in this process, with groupsync's ports on top. */
export async function startServices({ people }: { readonly people: number }) {
  const front = await startAwsFront({ port: 0, services: [] });
  const queues = await startSqs(0);
  const simulator = createSimulator({ world: worldOf(people), clock: Date.now, newId: counted() });
  const { url: platform } = await simulator.listen();
  // The benchmark repeats recorded writes, whose version tokens are from an earlier run. So the platform must not check
  // version tokens.
  await fetch(`${platform}/_simulator/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ enforceVersionOnPatch: false }),
  });
  const common = { region: REGION, credentials: CREDENTIALS };
  const dynamodb = new DynamoDBClient({ ...common, endpoint: front.url, cacheMiddleware: true });
  const sqs = new SQSClient({ ...common, endpoint: queues.url });
  await createTable(dynamodb, TABLE_NAME);
  const queueUrls = await createQueues(sqs, { prefix: 'bench' });
  const dispatcher = new Agent({ connections: 16 });
  const ports = benchPorts({
    table: createDynamoTable(dynamodb, { tableName: TABLE_NAME, sleep: async () => {} }),
    sqs,
    queueUrl: (key) => queueUrls[key],
    dispatcher,
    // No coalescing window. But changes of a group share a wake-up that is pending.
    coalesceMs: 0,
    clock: Date.now,
    newId: counted(),
    onSecretRead: () => {},
    token: TOKEN,
  });
  const connection: Connection = {
    name: connectionName('default'),
    company: COMPANY,
    settings: parseSettings({ baseUrl: platform, guard: null }),
    observing: false,
  };
  await ports.connections.save(connection);
  await refreshPeople(connection, ports);
  return {
    ports,
    connection,
    dynamodb,
    sqs,
    queueUrls,
    dispatcher,
    platform,
    async close() {
      dynamodb.destroy();
      sqs.destroy();
      await dispatcher.close();
      await Promise.all([front.close(), queues.close(), simulator.close()]);
    },
  };
}

export type Services = Awaited<ReturnType<typeof startServices>>;

/** Returns a function that creates consecutive ids. Their prefix changes about every 50 days. */
function counted(): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${Date.now().toString(16).padStart(12, '0').slice(0, 4)}${String(last).padStart(16, '0')}`;
  };
}
