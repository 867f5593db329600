import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { localSettings } from '../../local/connection.ts';
import { loadParts } from '../../local/load-parts.ts';
import { createSimulator } from '../../local/platform/simulator.ts';
import { startStack } from '../../local/stack.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { percentile } from '../figure.ts';
import { startRecording } from './recorder.ts';
import { createTenant, type Tenant } from './scim-tenant.ts';
import { worldOf } from './world.ts';

/*
 * Identity providers at work on the local stack, pollers and apply included, in a process of its own because the
 * handlers read their environment once:
 *
 *     node --import tsx bench/emulated/scim-load.ts
 *
 * The last line of its output is the result; the lines before it are the handlers' logs.
 */

const TOKEN = 'bench-token';
const COMPANY = 'bench';
const NEVER_SECONDS = 86_400;
/** What Entra ID expects of one tenant (Microsoft: at least 25 requests a second). */
const PER_SECOND = 25;
const SECONDS = 20;
const LARGE = 20_000;
const REMOVED = 256;

interface Request {
  readonly ms: number;
  readonly calls: number;
}

async function main(): Promise<void> {
  const simulator = createSimulator({
    world: worldOf({ people: 1, token: TOKEN }),
    clock: Date.now,
    newId: randomUUID,
  });
  const { url: platform } = await simulator.listen();
  const stack = await startStack({
    prefix: 'bench',
    coalesceSeconds: 5,
    ports: { aws: 0, sqs: 0 },
    tables: undefined,
    secrets: undefined,
    platform: { url: platform, token: TOKEN, company: COMPANY },
    settings: [['guard', null]],
    everySeconds: {
      people: NEVER_SECONDS,
      feed: NEVER_SECONDS,
      sweep: NEVER_SECONDS,
      pump: NEVER_SECONDS,
      health: NEVER_SECONDS,
    },
    loadParts,
    onError: (message) => console.error(message),
  });
  const { scim, scimToken } = stack.address;
  const second = connectionName('second');
  await stack.parts.putConnection({
    name: second,
    company: COMPANY,
    settings: localSettings(platform, [['guard', null]]),
  });
  const endpoint = await stack.parts.startScim(second);
  const tenants = [
    createTenant('first', { url: scim, token: scimToken }),
    createTenant('second', endpoint),
  ] as const;

  const load = await steady(tenants);
  const large = await largeGroup(tenants[0]);
  console.log(JSON.stringify({ ...large, ...load }));
  await endpoint.stop();
  await stack.stop();
  await simulator.close();
}

/** One request of each kind that names very many; measured before apply begins, which waits for the window's end. */
async function largeGroup({ send }: Tenant) {
  const ids = Array.from({ length: LARGE }, (_, n) => `member-${n}`);
  let id = '';
  const made = await measured(async () => {
    const members = ids.map((value) => ({ value }));
    const body = await send('POST', '/Groups?excludedAttributes=members', { displayName: 'Large', members });
    id = String(body['id']);
  });
  const remove = (from: number) =>
    measured(() =>
      send('PATCH', `/Groups/${id}`, {
        Operations: ids
          .slice(from, from + REMOVED)
          .map((value) => ({ op: 'remove', path: `members[value eq "${value}"]` })),
      }),
    );
  return { made, removals: [await remove(0), await remove(REMOVED), await remove(2 * REMOVED)] };
}

async function measured(run: () => Promise<unknown>): Promise<Request> {
  const recording = startRecording();
  const startedMs = performance.now();
  await run();
  const ms = performance.now() - startedMs;
  recording.stop();
  return { ms, calls: recording.calls.filter(({ to }) => to === 'dynamodb').length };
}

/** Requests begin at their time, whether or not those before them have ended: a slow server gets no respite. */
async function steady(tenants: readonly Tenant[]) {
  for (const tenant of tenants) await tenant.prepare();
  const startedMs = performance.now();
  const latencies: number[] = [];
  const underWay: Promise<void>[] = [];
  for (let n = 0; n < PER_SECOND * SECONDS; n += 1) {
    const dueMs = startedMs + (n * 1_000) / PER_SECOND;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    for (const tenant of tenants) {
      const run = async () => {
        await tenant.next(n);
        latencies.push(performance.now() - dueMs);
      };
      underWay.push(run());
    }
  }
  await Promise.all(underWay);
  const seconds = (performance.now() - startedMs) / 1_000;
  for (const tenant of tenants) await tenant.check();
  return {
    perTenantPerSecond: latencies.length / tenants.length / seconds,
    percentiles: [0.5, 0.95, 0.99].map((share) => percentile(latencies, share)),
  };
}

await main();
process.exit(0);
