import type { OpenDialect } from '../../directory-simulator/engine/dialect.ts';
import { CALM_SETTINGS } from '../../directory-simulator/engine/settings.ts';
import {
  createDirectorySimulator,
  type DirectorySimulator,
} from '../../directory-simulator/engine/simulator.ts';
import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { CLIENT_ID } from '../../directory-simulator/entra/application.ts';
import { entra } from '../../directory-simulator/entra/dialect.ts';
import { google } from '../../directory-simulator/google/dialect.ts';
import { okta } from '../../directory-simulator/okta/dialect.ts';
import type { DirectoryKind } from '../../shared/contract/directory-settings.ts';
import type { Totals } from './totals.ts';

export interface CompanySize {
  readonly users: number;
  readonly groups: number;
  /** The approximate number of direct members of all groups together. */
  readonly memberships: number;
}

const DOMAIN = 'bench.test';
const ADMINISTRATOR = 'admin@bench.test';
const BASE_URL = 'http://localhost';

const NESTED_EVERY = 100;

/**
 * Returns the number of members of a group. A few groups have a fifth of all memberships, one group in ten is large,
 * and all other groups are small. Example with a million memberships in 10,000 groups: ten groups have 20,000 members,
 * a thousand groups have 400, and all other groups have 45 or 46.
 */
function membersOf(index: number, { groups, memberships, users }: CompanySize): number {
  const mean = memberships / groups;
  if (index % 1_000 === 0) return Math.min(Math.round(200 * mean), Math.floor(users / 5));
  if (index % 10 === 1) return Math.min(Math.round(4 * mean), users);
  return Math.round(0.445 * mean) + (index % 2);
}

/** Returns a company of this size. Every 100th group contains the group after it, if the vendor has nested groups. */
export function companyOf(size: CompanySize, kind: DirectoryKind): WorldInput {
  const { hasNestedGroups } = VENDORS[kind];
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
    const nested = hasNestedGroups && index % NESTED_EVERY === 7 && index + 1 < size.groups;
    const below = nested ? [{ member: idOf(index + 1), kind: 'group' as const }] : [];
    return {
      id: idOf(index),
      email: `group${index}@bench.test`,
      name: `Group ${index}`,
      members: [...people, ...below],
    };
  });
  const administrator = { id: 'administrator', primaryEmail: ADMINISTRATOR, isAdmin: true };
  return { domain: DOMAIN, users: [administrator, ...users], groups };
}

interface Vendor {
  readonly dialect: () => OpenDialect;
  readonly setting: object;
  /** The names of the calls, in the order of the table. The first pattern that matches the path applies. */
  readonly calls: readonly (readonly [name: string, path: RegExp])[];
  readonly callsPerMinute: number;
  /** True if the simulator must use `callsPerMinute` as its limit. Its default limit differs. */
  readonly simulatesLimit?: true;
  readonly mostQuietCalls: number;
  /** The goal for a full read of the largest company. */
  readonly mostDollars: number;
  readonly hasNestedGroups: boolean;
  /** Returns the secret in the form that is stored for the vendor. */
  readonly secretOf: (app: DirectorySimulator['app']) => Promise<unknown>;
}

const control = async (app: DirectorySimulator['app'], name: string, payload: object = {}) =>
  (await app.inject({ method: 'POST', url: `/_simulator/${name}`, payload })).json();

export const VENDORS: Readonly<Record<DirectoryKind, Vendor>> = {
  google: {
    dialect: () => google(),
    setting: { kind: 'google', administrator: ADMINISTRATOR, baseUrl: BASE_URL },
    calls: [
      ['groups.list', /\/v1\/groups(?:\?|$)/],
      ['groups.get', /\/v1\/groups\/[^/?]+(?:\?|$)/],
      ['members.list', /\/members(?:\?|$)/],
      ['members.get', /\/members\/[^/?]+(?:\?|$)/],
      ['users.get', /\/v1\/users\/[^/?]+(?:\?|$)/],
      ['activities.list', /\/activity\/users\/all\/applications\//],
      ['token', /\/token$/],
    ],
    // Queries per minute and user ("Directory API: Limits and quotas").
    callsPerMinute: 2_400,
    mostQuietCalls: 2,
    mostDollars: 0.05,
    hasNestedGroups: true,
    secretOf: (app) => control(app, 'service-account-key', { url: BASE_URL }),
  },
  entra: {
    dialect: () => entra(),
    setting: { kind: 'entra', tenant: DOMAIN, clientId: CLIENT_ID, cloud: 'public', baseUrl: BASE_URL },
    calls: [
      ['delta', /\/delta\?/],
      ['groups.list', /\/groups\?/],
      ['groups.get', /\/groups\/[^/?]+\?/],
      ['members.list', /\/members\//],
      ['users.get', /\/users\/[^/?]+\?/],
      ['token', /\/token$/],
    ],
    // A tenant with more than 500 users has 8,000 units in ten seconds. A list of members costs three units ("Microsoft
    // Graph service-specific throttling limits").
    callsPerMinute: 16_000,
    simulatesLimit: true,
    mostQuietCalls: 3,
    mostDollars: 0.05,
    hasNestedGroups: true,
    async secretOf(app) {
      await control(app, 'client-secret', { secret: 'bench' });
      return { clientSecret: 'bench' };
    },
  },
  okta: {
    dialect: () => okta({ orgUrl: BASE_URL }),
    setting: { kind: 'okta', orgUrl: BASE_URL },
    calls: [
      ['groups.list', /\/groups\?/],
      ['groups.get', /\/groups\/[^/?]+$/],
      ['members.list', /\/groups\/[^/?]+\/users\?/],
      ['users.list', /\/users\?/],
      ['users.get', /\/users\/[^/?]+$/],
      ['logs', /\/logs\?/],
    ],
    // Half of Okta's limit of 500 calls for one client and the members of groups. Most calls of a full read use this
    // limit.
    callsPerMinute: 250,
    // With this limit, a full read of 10,000 groups needs four runs. Each run reads the stored users again, which costs
    // more.
    mostDollars: 0.1,
    mostQuietCalls: 3,
    hasNestedGroups: false,
    secretOf: async (app) => ({ apiToken: (await control(app, 'client')).apiToken }),
  },
};

export const callNamesOf = (kind: DirectoryKind): readonly string[] =>
  VENDORS[kind].calls.map(([name]) => name);

export interface VendorRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The time of the caller, in milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * Starts the project's simulator of a vendor without lag and failures. The pages have the maximum size in the vendor's
 * documents.
 */
export async function createCountedVendor(kind: DirectoryKind, company: WorldInput, totals: Totals) {
  const { dialect, calls, secretOf, callsPerMinute, simulatesLimit } = VENDORS[kind];
  let nowMs = 0;
  const simulator = createDirectorySimulator({
    dialect: dialect(),
    world: company,
    seed: '1',
    clock: () => nowMs,
    settings: simulatesLimit ? { ...CALM_SETTINGS, queriesPerMinute: callsPerMinute } : CALM_SETTINGS,
  });
  const { app } = simulator;
  return {
    secret: await secretOf(app),
    async request({ method, path, body, headers = {}, nowMs: atMs }: VendorRequest) {
      nowMs = Math.max(nowMs, atMs);
      const name = calls.find(([, pattern]) => pattern.test(path))?.[0];
      if (name === undefined) throw new Error(`expected a known call of ${kind}, got ${path}`);
      totals.add(`directory ${name}`);
      const given = { method: method as 'GET', url: path, headers, ...(body && { payload: body }) };
      const { statusCode, headers: shown, rawPayload } = await app.inject(given);
      if (statusCode === 403 || statusCode === 429) totals.add('directory over the limit');
      // The header Date is removed, because it contains the machine's time instead of the simulated time.
      const { date: _, ...others } = shown;
      return { statusCode, headers: others, body: rawPayload };
    },
    close: () => app.close(),
  };
}
