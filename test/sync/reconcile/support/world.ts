import { ConnectionSettings } from '../../../../shared/contract/settings.ts';
import {
  connectionName,
  groupId,
  type PlatformGroupId,
  platformGroupId,
} from '../../../../shared/domain/ids.ts';
import type { ObservedGroup } from '../../../../shared/domain/view.ts';
import {
  claimKey,
  dueText,
  groupIndexSort,
  groupKey,
  indexPartition,
  NOT_DUE,
  shardOf,
} from '../../../../shared/store/keys.ts';
import type { Attributes, Table } from '../../../../shared/store/table.ts';
import type { Connection } from '../../../../shared/sync/ports/connections.ts';
import {
  type EmployeeRecord,
  type Platform,
  PlatformFailure,
} from '../../../../shared/sync/ports/platform.ts';
import { allStoresOver } from '../../../../simulate/engine.ts';
import { MemoryTable } from '../../../../simulate/table.ts';

export const CONNECTION = connectionName('default');
export const START_MS = Date.UTC(2026, 10, 20, 10);

export interface Shown {
  readonly version?: string;
  readonly spokeId?: string | null;
}

export interface WorldOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly table?: MemoryTable;
  readonly activity?: Platform['activity'];
}

/** What reconcile and people live in: real stores over one table in memory, and a platform told by the test. */
export function createWorld({ settings = {}, activity, table = new MemoryTable() }: WorldOptions = {}) {
  let nowMs = START_MS;
  const shown = new Map<string, ObservedGroup>();
  const calls: string[] = [];
  const woken: string[] = [];
  const world = {
    employees: [] as (readonly EmployeeRecord[] | Error)[],
    /** What is answered by id; nothing is a 404. */
    byId: new Map<string, EmployeeRecord | Error>(),
    /** What the list leaves out, though it is there by id. */
    unlisted: new Set<string>(),
    listFails: undefined as PlatformFailure | undefined,
    probeFails: undefined as PlatformFailure | undefined,
  };
  const platform: Platform = {
    secretVersion: 's1',
    probe: async () => world.probeFails,
    employees: async function* () {
      for (const page of world.employees) {
        if (page instanceof Error) throw page;
        yield page;
      }
    },
    employee: async (role) => {
      calls.push(`employee ${role}`);
      const answer = world.byId.get(role);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    activity:
      activity ??
      async function* () {
        yield { events: [], next: null, done: true };
      },
    groups: {
      list: async () => {
        calls.push('list');
        if (world.listFails !== undefined) throw world.listFails;
        return [...shown.values()].filter(({ id }) => !world.unlisted.has(id));
      },
      get: async (id) => {
        calls.push(`get ${id}`);
        return shown.get(id);
      },
      create: refuse,
      patch: refuse,
      put: refuse,
      delete: refuse,
    },
  };
  const clock = () => nowMs;
  const portsOver = (over: Table) => ({
    clock,
    random: () => 0.5,
    coalesceMs: 0,
    createSettleMs: 600_000,
    ...allStoresOver(over),
    connections: { find: async () => connection, list: async () => [connection] },
    platforms: { open: async () => platform },
    applyQueue: {
      wake: async (refs: readonly { readonly group: string }[]) => {
        woken.push(...refs.map(({ group }) => group));
        return [];
      },
    },
  });
  const connection: Connection = {
    name: CONNECTION,
    company: 'acme',
    settings: ConnectionSettings.parse({ baseUrl: 'https://platform.test', ...settings }),
    observing: false,
  };
  return Object.assign(world, {
    connection,
    table,
    platform,
    shown,
    calls,
    woken,
    portsOver,
    ports: portsOver(table),
    advance: (ms: number) => {
      nowMs += ms;
    },
    ref: (group: string) => ({ connection: CONNECTION, group: groupId(group) }),
    /** A platform group: by default as we last wrote it. */
    show(id: string, { version = 'ours', spokeId = null }: Shown = {}) {
      shown.set(id, { id, name: id, spokeId, users: [], version: version as never });
    },
    /** A directory group that is linked to `platform-<id>`, clean unless `extra` says otherwise. */
    async link(group: string, extra: Attributes = {}, dueMs?: number): Promise<PlatformGroupId> {
      const id = platformGroupId(`platform-${group}`);
      const ref = { connection: CONNECTION, group: groupId(group) };
      const due = dueMs === undefined ? NOT_DUE : dueText(dueMs);
      await table.put({
        ...groupKey(ref),
        connection: CONNECTION,
        group,
        gpk: indexPartition('groups', CONNECTION, shardOf(group)),
        gsk: groupIndexSort(due, ref.group),
        rev: 1,
        platformId: id,
        version: 'ours',
        ...extra,
      });
      await table.put({ ...claimKey('acme', id), platformId: id, connection: CONNECTION, group });
      return id;
    },
    async state(group: string) {
      const state = await allStoresOver(table).groups.read({ connection: CONNECTION, group: groupId(group) });
      if (state === undefined) throw new Error(`there is no group ${group}`);
      return state;
    },
    async drift() {
      const records = [];
      for await (const page of allStoresOver(table).drift.list(CONNECTION)) records.push(...page);
      return records;
    },
  });
}

export type World = ReturnType<typeof createWorld>;

const refuse = (): never => {
  throw new Error('reconcile never writes to the platform');
};

export const failure = (kind: PlatformFailure['kind'], status?: number): PlatformFailure =>
  new PlatformFailure(kind, `the platform failed: ${kind}`, { status });
