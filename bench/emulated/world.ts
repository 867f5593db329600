import { randomUUID } from 'node:crypto';
import type { LoadParts } from '../../local/parts.ts';
import { createSimulator } from '../../local/platform/simulator.ts';
import type { WorldInput } from '../../local/platform/state/world.ts';
import { startStack } from '../../local/stack.ts';

const TOKEN = 'bench-token';
/** An interval in seconds that is longer than any measurement. */
const NEVER = 86_400;

/** A company with one credential. Person n has the role `r<n>`, the user `u<n>` and the address `p<n>@bench.test`. */
const worldOf = (people: number): WorldInput => ({
  companies: [
    {
      id: 'bench',
      name: 'Bench',
      employees: Array.from({ length: people }, (_, n) => ({
        id: `r${n}`,
        userId: `u${n}`,
        roleState: 'ACTIVE' as const,
        workEmail: `p${n}@bench.test`,
      })),
    },
  ],
  credentials: [{ token: TOKEN, kind: 'oauth_app', company: 'bench', employee: 'r0' }],
});

interface BenchStackOptions {
  readonly people: number;
  readonly coalesceSeconds: number;
  readonly loadParts: LoadParts;
}

/** Starts the local stack with the given number of people. The guard is off, and no schedule runs. */
export async function startBenchStack({ people, ...options }: BenchStackOptions) {
  const simulator = createSimulator({ world: worldOf(people), clock: Date.now, newId: randomUUID });
  const { url } = await simulator.listen();
  const stack = await startStack({
    ...options,
    prefix: 'bench',
    ports: { aws: 0, sqs: 0 },
    tables: undefined,
    secrets: undefined,
    platform: { url, token: TOKEN, company: 'bench' },
    settings: [['guard', null]],
    everySeconds: { people: NEVER, pump: NEVER, feed: NEVER, sweep: NEVER, health: NEVER },
    onError: (message) => console.error(message),
  });
  const stop = async () => {
    await stack.stop();
    await simulator.close();
  };
  return { stack, url, token: TOKEN, stop };
}
