import type { Dispatcher } from 'undici';
import {
  createSimulatedPlatform,
  PLAIN_TRAITS,
  type SimulatedPlatform,
} from '../../simulate/platform/platform.ts';
import { seededRandom } from '../../simulate/random.ts';
import type { Totals } from './totals.ts';

/** The id of the company. It is short, because all keys contain it. */
export const COMPANY = 'b';

const CALLS: Readonly<Record<string, string>> = {
  'platform.list': 'platform GET /groups',
  'platform.create': 'platform POST /groups',
  'platform.get': 'platform GET /groups/{id}',
  'platform.put': 'platform PUT /groups/{id}',
  'platform.patch': 'platform PATCH /groups/{id}',
  'platform.delete': 'platform DELETE /groups/{id}',
  'platform.me': 'platform GET /me',
  'platform.employees': 'platform GET /employees',
  'platform.activity': 'platform GET /activity',
};

/**
 * Creates a platform without faults that counts its requests. Each response takes one turn of the event loop, so counts
 * do not depend on the machine. Person n has the role `r<n>`, the user `u<n>` and the address `p<n>@bench.test`.
 */
export function createCountedPlatform(options: {
  readonly totals: Totals;
  readonly clock: () => number;
  readonly people: number;
  readonly token: string;
  readonly company?: string;
}): SimulatedPlatform & { readonly dispatcher: Dispatcher } {
  const { totals, clock, people, token, company = COMPANY } = options;
  const platform = createSimulatedPlatform({
    company,
    clock,
    random: seededRandom(1),
    traits: PLAIN_TRAITS,
    runLog: { log() {}, fired() {}, violated() {} },
    sleep: async () => {},
    people: Array.from({ length: people }, (_, n) => ({
      role: `r${n}`,
      userId: `u${n}`,
      email: `p${n}@bench.test`,
    })),
  });
  platform.tokens.add(token);
  const dispatcher = platform.dispatcherFor({
    name: 'bench',
    skewMs: 0,
    isDead: () => false,
    async effect(kind) {
      totals.add(CALLS[kind] ?? kind);
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  return { ...platform, dispatcher };
}
