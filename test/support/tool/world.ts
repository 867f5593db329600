import { parseSettings } from '../../../shared/contract/change-setting.ts';
import { DEFAULT_CONNECTION } from '../../../shared/contract/names.ts';
import type { ConnectionSettings } from '../../../shared/contract/settings.ts';
import { type GroupRef, groupId, roleId } from '../../../shared/domain/ids.ts';
import { createAuditLog } from '../../../shared/store/audit-log.ts';
import { createClaimStore } from '../../../shared/store/claim-store.ts';
import { createConnectionStore } from '../../../shared/store/connection-store.ts';
import { createDesiredStore } from '../../../shared/store/desired-store.ts';
import { createDriftLog } from '../../../shared/store/drift-log.ts';
import { createGateStore } from '../../../shared/store/gate-store.ts';
import { createGroupIndex } from '../../../shared/store/group-index.ts';
import { createGroupStore } from '../../../shared/store/group-store.ts';
import { createGuardStore } from '../../../shared/store/guard-store.ts';
import { createHealthStore } from '../../../shared/store/health-store.ts';
import { createOverlayTable } from '../../../shared/store/overlay-table.ts';
import { createPeopleStore } from '../../../shared/store/people-store.ts';
import { createFeedStore } from '../../../shared/store/reconcile-store.ts';
import { createScimStore } from '../../../shared/store/scim-store.ts';
import { createScimTokenStore } from '../../../shared/store/scim-token-store.ts';
import type { Table } from '../../../shared/store/table.ts';
import { createUserStore } from '../../../shared/store/user-store.ts';
import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import type { RehearsalStores } from '../../../shared/sync/apply/plan-group.ts';
import { ingest } from '../../../shared/sync/ingest/ingest.ts';
import type { ToolPorts } from '../../../shared/sync/tool/ports.ts';
import { FakePlatform, type PlatformFault } from '../engine/platform.ts';
import { MemoryTable } from '../memory-table.ts';
import { FakeMailbox } from './mailbox.ts';

export const NOW_MS = Date.UTC(2026, 10, 20, 10);

/** A native event without the parts that no test of the tool cares about. */
export interface ShortEvent {
  readonly type: string;
  readonly data: unknown;
  readonly id?: string;
  readonly time?: string;
}

const storesOver = (table: Table): RehearsalStores => ({
  groups: createGroupStore(table),
  users: createUserStore(table),
  people: createPeopleStore(table),
  claims: createClaimStore(table),
  guard: createGuardStore(table),
  gates: createGateStore(table),
  audit: createAuditLog(table),
  drift: createDriftLog(table),
});

/** Everything the command line's use cases need, in memory, with the real stores and the real ingest and apply. */
export function createWorld(settings: Partial<ConnectionSettings> = {}) {
  const clock = { ms: NOW_MS };
  const now = () => clock.ms;
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id-${String(ids).padStart(6, '0')}`;
  };
  const table = new MemoryTable();
  const platform = new FakePlatform({ nowMs: now });
  const woken: GroupRef[] = [];
  const buried: unknown[] = [];
  const fault: { next: PlatformFault } = { next: 'none' };
  const worker = { name: 'tool', skewMs: 0, effect: async () => {}, isDead: () => false };
  const mailboxes = { events: new FakeMailbox('events', clock), apply: new FakeMailbox('apply', clock) };
  const sent: { body: string; connection?: string | undefined; stamp?: string | undefined }[] = [];
  const ports: ToolPorts = {
    ...storesOver(table),
    rehearse: () => storesOver(createOverlayTable(table)),
    index: createGroupIndex(table),
    desired: createDesiredStore(table),
    feed: createFeedStore(table),
    health: createHealthStore(table),
    scim: createScimStore(table),
    tokens: createScimTokenStore(table),
    randomHex: (bytes) =>
      newId()
        .padStart(bytes * 2, '0')
        .slice(-bytes * 2),
    connections: createConnectionStore(table, { clock: now, rememberMs: 0 }),
    platforms: platform.portFor(worker, () => fault.next),
    applyQueue: {
      wake: async (groups) => {
        woken.push(...groups);
        return [];
      },
    },
    deadLetters: {
      bury: async (letters) => {
        buried.push(...letters);
        return [];
      },
    },
    mailboxes,
    events: {
      send: async (messages) => {
        sent.push(...messages);
        return messages.map((_, position) => ({ messageId: `sent-${sent.length}-${position}` }));
      },
    },
    vault: { store: async () => 'v1', remove: async () => true },
    functions: { run: async () => ({ reports: [] }) },
    deployment: {
      region: 'us-east-1',
      isLocal: false,
      account: async () => '000000000000',
      queue: async () => undefined,
      table: async () => undefined,
      function: async () => undefined,
      schedule: async () => undefined,
      scim: async () => undefined,
      statusOf: async () => 401,
    },
    applicants: {
      present: () => {
        throw new Error('no applicant in this world');
      },
      stored: async () => {
        throw new Error('no applicant in this world');
      },
    },
    clock: now,
    newId,
    random: () => 0.5,
    coalesceMs: 0,
    createSettleMs: 0,
    sleep: async (ms) => {
      clock.ms += ms;
    },
  };
  const connection = {
    name: DEFAULT_CONNECTION,
    company: 'company',
    settings: parseSettings({ baseUrl: 'https://platform.test', ...settings }),
    observing: false,
  };
  const save = () => ports.connections.save(connection);
  const refOf = (group: string): GroupRef => ({ connection: DEFAULT_CONNECTION, group: groupId(group) });

  let events = 0;
  return {
    ports,
    table,
    platform,
    mailboxes,
    clock,
    connection,
    save,
    sent,
    woken,
    buried,
    fault,
    refOf,
    /** Employees `r<id>` with user id `u<id>` and work e-mail `<id>@acme.test`. */
    async hire(...names: string[]) {
      for (const name of names) {
        await ports.people.save(
          DEFAULT_CONNECTION,
          {
            role: roleId(`r-${name}`),
            userId: `u-${name}`,
            state: 'ACTIVE',
            values: new Map([['workEmail', `${name}@acme.test`]]),
            unheard: false,
          },
          undefined,
        );
      }
    },
    async publish(...given: ShortEvent[]) {
      const messages = given.map(({ type, data, id, time }) => {
        events += 1;
        const body = {
          specversion: '1.0',
          id: id ?? `e${events}`,
          source: 'test',
          type: `directory.${type}`,
          time: time ?? new Date(clock.ms).toISOString(),
          sequence: String(events),
          data,
        };
        return { messageId: `m${events}`, body: JSON.stringify(body), sentAtMs: clock.ms };
      });
      return ingest(messages, ports);
    },
    apply: (group: string) => applyGroup(refOf(group), ports),
    async audit(group: string) {
      const entries = [];
      for await (const page of ports.audit.read(refOf(group))) entries.push(...page);
      return entries;
    },
  };
}

export const group = (id: string, name = `Group ${id}`): ShortEvent => ({
  type: 'group.upserted',
  data: { group: { id, name } },
});

const asMembers = (names: readonly string[]) =>
  names.map((name) => ({ id: `m-${name}`, email: `${name}@acme.test` }));

export const added = (id: string, ...names: string[]): ShortEvent => ({
  type: 'group.member.added',
  data: { group: { id }, members: asMembers(names) },
});

export const removed = (id: string, ...names: string[]): ShortEvent => ({
  type: 'group.member.removed',
  data: { group: { id }, members: asMembers(names) },
});

export const deleted = (id: string): ShortEvent => ({ type: 'group.deleted', data: { group: { id } } });
