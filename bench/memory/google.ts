import { CALM_SETTINGS } from '../../directory-simulator/engine/settings.ts';
import { createDirectorySimulator } from '../../directory-simulator/engine/simulator.ts';
import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { google } from '../../directory-simulator/google/dialect.ts';
import type { Totals } from './totals.ts';

export interface CompanySize {
  readonly users: number;
  readonly groups: number;
  /** Direct members of all groups together; about this many are generated. */
  readonly memberships: number;
}

export const ADMINISTRATOR = 'admin@bench.test';
export const BASE_URL = 'http://localhost';

const NESTED_EVERY = 100;

/**
 * Returns the number of members of a group. A few groups have a fifth of all memberships, one group in ten is large, and
 * the others are small. Of a million memberships in 10,000 groups: ten of 20,000, a thousand of 400, the others of 44 or 45.
 */
function membersOf(index: number, { groups, memberships, users }: CompanySize): number {
  const mean = memberships / groups;
  if (index % 1_000 === 0) return Math.min(Math.round(200 * mean), Math.floor(users / 5));
  if (index % 10 === 1) return Math.min(Math.round(4 * mean), users);
  return Math.round(0.445 * mean) + (index % 2);
}

/** Returns a company of this size. Every 100th group contains the group after it. */
export function companyOf(size: CompanySize): WorldInput {
  const users = Array.from({ length: size.users }, (_, n) => ({
    id: `1${String(n).padStart(20, '0')}`,
    primaryEmail: `person${n}@bench.test`,
  }));
  const idOf = (index: number) => `03${String(index).padStart(13, '0')}`;
  const groups = Array.from({ length: size.groups }, (_, index) => {
    const first = (index * 97) % size.users;
    const people = Array.from({ length: membersOf(index, size) }, (_, n) => ({
      member: users[(first + n) % size.users]?.id ?? '',
      kind: 'user' as const,
    }));
    const nested = index % NESTED_EVERY === 7 && index + 1 < size.groups;
    const below = nested ? [{ member: idOf(index + 1), kind: 'group' as const }] : [];
    return {
      id: idOf(index),
      email: `group${index}@bench.test`,
      name: `Group ${index}`,
      members: [...people, ...below],
    };
  });
  const administrator = { id: 'administrator', primaryEmail: ADMINISTRATOR, isAdmin: true };
  return { domain: 'bench.test', users: [administrator, ...users], groups };
}

const ENDPOINTS: readonly (readonly [name: string, path: RegExp])[] = [
  ['groups.list', /\/v1\/groups(?:\?|$)/],
  ['groups.get', /\/v1\/groups\/[^/?]+(?:\?|$)/],
  ['members.list', /\/members(?:\?|$)/],
  ['members.get', /\/members\/[^/?]+(?:\?|$)/],
  ['users.get', /\/v1\/users\/[^/?]+(?:\?|$)/],
  ['activities.list', /\/activity\/users\/all\/applications\//],
  ['token', /\/token$/],
];

/** The names of the counts of calls, in the order of the figure. */
export const GOOGLE_CALLS = ENDPOINTS.map(([name]) => name);

export interface GoogleRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The time of the caller, in milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * The project's Google simulator, without lag and failures and with full pages, as Google's documents describe them.
 * The limit of queries per minute is the documented limit.
 */
export async function createCountedGoogle(company: WorldInput, totals: Totals) {
  let nowMs = 0;
  const simulator = createDirectorySimulator({
    dialect: google(),
    world: company,
    seed: '1',
    clock: () => nowMs,
    settings: CALM_SETTINGS,
  });
  const { app } = simulator;
  const answer = await app.inject({
    method: 'POST',
    url: '/_simulator/service-account-key',
    payload: { url: BASE_URL },
  });
  return {
    key: answer.json() as unknown,
    async request({ method, path, body, headers = {}, nowMs: atMs }: GoogleRequest) {
      nowMs = Math.max(nowMs, atMs);
      const endpoint = ENDPOINTS.find(([, pattern]) => pattern.test(path))?.[0];
      if (endpoint === undefined) throw new Error(`expected a known endpoint, got ${path}`);
      totals.add(`google ${endpoint}`);
      const given = { method: method as 'GET', url: path, headers, ...(body && { payload: body }) };
      const { statusCode, headers: shown, rawPayload } = await app.inject(given);
      if (statusCode === 403 || statusCode === 429) totals.add('google over the limit');
      // The simulated clock is not the clock of the machine, which the header Date shows.
      const { date: _, ...others } = shown;
      return { statusCode, headers: others, body: rawPayload };
    },
    close: () => app.close(),
  };
}
