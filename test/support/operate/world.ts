import type { ProbeReport } from '../../../shared/contract/answers/connect.ts';
import { parseSettings } from '../../../shared/contract/change-setting.ts';
import { DEFAULT_CONNECTION } from '../../../shared/contract/names.ts';
import type { ConnectionSettings } from '../../../shared/contract/settings.ts';
import { connectionName, type GroupRef, groupId, roleId } from '../../../shared/domain/ids.ts';
import { carryOut } from '../../../shared/operate/decisions.ts';
import { createMailbox } from '../../../shared/queues/mailbox.ts';
import { createConnectionStore } from '../../../shared/store/connection-store.ts';
import { createConsoleSessionStore } from '../../../shared/store/console-session-store.ts';
import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import { ingest } from '../../../shared/sync/ingest/ingest.ts';
import type { ToolPorts } from '../../../shared/sync/ports/bundles.ts';
import type { DecidedHold, DecidedRequests } from '../../../shared/sync/ports/decisions.ts';
import type { Applicant } from '../../../shared/sync/ports/platform.ts';
import type { DeadMessage, RejectedMessage } from '../../../shared/sync/ports/queues.ts';
import { portsOver } from '../../../simulate/engine.ts';
import { createQueues, type Queues, queueUrl } from '../../../simulate/queues.ts';
import { seededRandom } from '../../../simulate/random.ts';
import { MemoryTable } from '../../../simulate/table.ts';
import { runCli } from '../cli/io.ts';
import { asking } from '../console/asking.ts';
import { type PlatformOptions, TestPlatform } from '../engine/platform.ts';
import { calledBy } from '../engine/test-engine.ts';

export const NOW_MS = Date.UTC(2026, 10, 20, 10);
export const OF_ACME = { queue: 'groupsync-events-acme', to: connectionName('acme') };
/** The queue of an event source that was removed. */
const OF_REMOVED = { queue: 'groupsync-events-gone', to: undefined };
export const bindingOf = async (queue?: string) => [OF_ACME, OF_REMOVED].find((one) => one.queue === queue);

const UNTIL_DONE = new AbortController().signal;

/** Performs decisions in this process. The actor of a decision is the caller of the ports. */
const decisionsIn = (ports: () => ToolPorts): ToolPorts['decisions'] => ({
  hold: (decision) => carryOut({ about: 'hold', ...decision }, ports(), UNTIL_DONE) as Promise<DecidedHold>,
  settings: (decision) =>
    carryOut({ about: 'settings', ...decision }, ports(), UNTIL_DONE) as Promise<DecidedRequests>,
  probe: (order) => carryOut({ about: 'probe', ...order }, ports(), UNTIL_DONE) as Promise<ProbeReport>,
});

export function portsAs(by: string, ports: ToolPorts): ToolPorts {
  const own: ToolPorts = { ...ports, ...calledBy(by), decisions: decisionsIn(() => own) };
  return own;
}

/** A native event without the fields that tests of the command line do not need. */
export interface ShortEvent {
  readonly type: string;
  readonly data: unknown;
  readonly id?: string;
  readonly time?: string;
  readonly actor?: string;
  readonly connection?: string | undefined;
}

const noApplicant = () => {
  throw new Error('this world has no platform for a credential check');
};

/** Returns a dead-letter queue of the simulation. A test adds messages with chosen ids to this queue. */
function mailboxOf(name: 'events' | 'apply', queues: Queues, clock: { ms: number }) {
  const queue = queues.of[`${name}Dlq`];
  const client = queues.client(async (operation) => {
    if (operation !== 'ReceiveMessage') return;
    mailbox.onTake();
    // A long poll ends after its waiting time if no message arrives.
    if (!queue.messages.some(({ visibleAtMs }) => visibleAtMs <= clock.ms)) clock.ms += 1_000;
  });
  const mailbox = {
    ...createMailbox(client, { name, queueUrl: async () => queueUrl(`${name}Dlq`), bindingOf }),
    onTake: () => {},
    add(
      deadLetter: Partial<DeadMessage & Omit<RejectedMessage, 'code'>> & {
        readonly id: string;
        readonly body: string;
      },
    ): void {
      const { id, body, sentAtMs = clock.ms, code = 'invalid_event' } = deadLetter;
      const { originalMessageId, failedBefore, queue: from, connection, sentBy } = deadLetter;
      const attributes = {
        errorCode: code,
        errorMessage: 'expected something else',
        failedAt: new Date(clock.ms).toISOString(),
        // The JSON conversion drops undefined attributes.
        ...JSON.parse(JSON.stringify({ originalMessageId, failedBefore, queue: from, connection, sentBy })),
      };
      Object.assign(queue.send({ body, attributes }), { id, sentAtMs });
    },
    ids: (): readonly string[] => queue.messages.map(({ id }) => id),
    /** The largest number of receives of one message. */
    mostTaken: () => Math.max(...queue.messages.map(({ receives }) => receives)),
  };
  return mailbox;
}

/** Creates the ports of the command line's use cases. They use memory, and the real stores, ingest and apply. */
export function createWorld(
  settings: Partial<ConnectionSettings> = {},
  traits: Omit<PlatformOptions, 'nowMs'> = {},
) {
  const clock = { ms: NOW_MS };
  const now = () => clock.ms;
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id-${String(ids).padStart(6, '0')}`;
  };
  const table = new MemoryTable();
  const platform = new TestPlatform({ ...traits, nowMs: now });
  const woken: GroupRef[] = [];
  const deadLettered: unknown[] = [];
  const worker = { name: 'tool', skewMs: 0, effect: async () => {}, isDead: () => false };
  const sent: { body: string; connection?: string | undefined; stamp?: string | undefined }[] = [];
  const sleep = async (ms: number) => {
    clock.ms += ms;
  };
  const queues = createQueues({ nowMs: now, random: seededRandom(1) });
  const mailboxes = { events: mailboxOf('events', queues, clock), apply: mailboxOf('apply', queues, clock) };
  const engine = portsOver({
    table,
    sqs: queues.client(),
    queueUrl,
    dispatcher: platform.dispatcherFor(worker, () => 'none'),
    secrets: platform.secrets,
    clock: now,
    random: () => 0.5,
    newId,
    sleep,
    coalesceMs: 0,
    createSettleMs: 0,
    source: 'apply',
  });
  const ports: ToolPorts = {
    ...engine,
    caller: async () => ({ kind: 'operator', id: 'local:tester' }),
    randomHex: (bytes) =>
      newId()
        .padStart(bytes * 2, '0')
        .slice(-bytes * 2),
    connections: createConnectionStore(table, { clock: now, rememberMs: 0 }),
    applyQueue: {
      wake: async (groups) => {
        woken.push(...groups);
        return [];
      },
    },
    deadLetters: {
      send: async (deadLetters) => {
        deadLettered.push(...deadLetters);
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
    directoryApplicants: {
      present: async () => {
        throw new Error('this world has no directory');
      },
      store: async () => {},
      remove: async () => {},
    },
    functions: { run: async () => ({ reports: [] }) },
    decisions: decisionsIn(() => ports),
    sessions: createConsoleSessionStore(table),
    deployment: {
      region: 'us-east-1',
      allowsLoopback: false,
      account: async () => '000000000000',
      queue: async () => undefined,
      table: async () => undefined,
      function: async () => undefined,
      executions: async () => undefined,
      schedule: async () => undefined,
      scim: async () => undefined,
      statusOf: async () => 401,
    },
    applicants: { present: noApplicant },
    checkCredential: async () => noApplicant(),
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
  const publish = async (...given: ShortEvent[]) => {
    const messages = given.map(({ type, data, id, time, ...also }) => {
      events += 1;
      const body = {
        specversion: '1.0',
        id: id ?? `e${events}`,
        source: 'test',
        type: `directory.${type}`,
        time: time ?? new Date(clock.ms).toISOString(),
        sequence: String(events),
        data,
        ...also,
      };
      return { messageId: `m${events}`, body: JSON.stringify(body), sentAtMs: clock.ms };
    });
    return ingest(messages, ports);
  };
  const apply = (group: string) => applyGroup(refOf(group), ports);
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
    deadLettered,
    refOf,
    /** For each name, adds an employee with role `r-<name>`, user id `u-<name>` and work e-mail `<name>@acme.test`. */
    async hire(...names: string[]) {
      for (const name of names)
        await ports.people.save(DEFAULT_CONNECTION, employee(name, `${name}@acme.test`), undefined);
    },
    /** Stores the person as terminated. Unlike a refresh of people, this function wakes no groups. */
    async leaves(name: string) {
      const role = roleId(`r-${name}`);
      const seen = (await ports.people.read(DEFAULT_CONNECTION, [role])).get(role);
      if (seen !== undefined)
        await ports.people.save(DEFAULT_CONNECTION, { ...seen, state: 'TERMINATED', fanOutDue: false }, seen);
    },
    publish,
    apply,
    /** Publishes events, and applies a group. */
    async deliver(id: string, ...given: ShortEvent[]) {
      await publish(...given);
      return apply(id);
    },
    /** Changes the platform group of a directory group as another client. */
    async changeAsOther(id: string, change: Parameters<TestPlatform['changeAsOther']>[1]) {
      platform.changeAsOther((await ports.groups.read(refOf(id)))?.link?.id ?? '', change);
    },
    /** Runs a command of the operator `local:tester`. */
    cli: (...args: string[]) => runCli(args, { ports }),
    /** Sends a query or an action of the console's page. */
    ask: asking(ports, DEFAULT_CONNECTION),
    async audit(group: string, of = DEFAULT_CONNECTION) {
      const entries = [];
      for await (const page of ports.audit.read({ ...refOf(group), connection: of })) entries.push(...page);
      return entries;
    },
  };
}

export async function savedWorld(...given: Parameters<typeof createWorld>) {
  const world = createWorld(...given);
  await world.save();
  return world;
}

/** Returns a platform that accepts a new credential of the company. */
export const applicantOf = (company: string): Applicant => ({
  me: async () => ({ company, id: 'me' }),
  markInstalled: async () => {},
  groups: async () => [],
  refusesWrite: async () => false,
  hidesGroups: async () => false,
  employees: async function* () {
    yield [new Map([['workEmail', 'ann@acme.test'] as const, ['userId', 'u-ann'] as const])];
  },
});

export const SIX = ['ann', 'bob', 'cid', 'dee', 'eve', 'fay'];

/** Creates a group `g` that is in sync with these members, who are employees. */
export async function inSync(
  names: readonly string[],
  settings: Partial<ConnectionSettings> = {},
  called = 'Group g',
) {
  const world = await savedWorld(settings);
  await world.hire(...names);
  await world.deliver('g', group('g', called), added('g', ...names));
  return world;
}

export const sixInSync = (settings: Partial<ConnectionSettings> = {}) => inSync(SIX, settings);

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

/** An active employee, with a value of a field. */
export const employee = (name: string, value: string, field = 'workEmail') => ({
  role: roleId(`r-${name}`),
  userId: `u-${name}`,
  state: 'ACTIVE',
  values: new Map([[field, value]]),
  fanOutDue: false,
});
