import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { createChecks } from '../../simulate/checks/all-checks.ts';
import type { OperatorDone } from '../../simulate/operators.ts';
import {
  type ClientWrite,
  type HeldEmployee,
  type HeldGroup,
  PLAIN_TRAITS,
  type PlatformCall,
  type PlatformWrite,
} from '../../simulate/platform/platform.ts';
import type { QueuedMessage } from '../../simulate/queues.ts';
import type { ReadGroup, Received } from '../../simulate/reading.ts';
import type { CheckName, Violation } from '../../simulate/run-log.ts';
import { HOUR_MS, type SimulationRun, START_MS, type Traits } from '../../simulate/simulation-run.ts';
import type { Seen } from '../../simulate/world.ts';

/*
 * Each case changes a correct world, and lists the violation that the invariant checks must report. The world has the
 * connection `a` of the company acme. Its directory group g1 ("Sales") has the members m1 and m2.
 */

const MEMBERS = ['m1', 'm2'];
const stampOf = (hour: number) =>
  `${new Date(START_MS + hour * HOUR_MS).toISOString().slice(0, 23)}000000Z.00.61.61.00000`;

function makeWorld() {
  const violations: Omit<Violation, 'atMs'>[] = [];
  const actions: OperatorDone[] = [];
  const groups = new Map<string, HeldGroup>();
  const writes: PlatformWrite[] = [];
  const clientWrites: ClientWrite[] = [];
  const calls: PlatformCall[] = [];
  const queues: Record<keyof Seen['queues'], QueuedMessage[]> = {
    events: [],
    eventsDlq: [],
    apply: [],
    applyDlq: [],
  };
  const items = new Map<string, Record<string, unknown>>();
  const happenings: SimulationRun['happenings'][number][] = [];
  const said = new Map<string, ReadGroup>();
  const event: Received = {
    directoryEvent: { kind: 'join', group: 'g1', members: [{ id: 'm1' }] },
    instant: 0n,
    sequence: -1n,
    id: 'e1',
    source: 'okta',
    arrivedAtMs: START_MS,
  };
  const received: Received[] = [event];
  const changedAtMs = new Map<string, number>();
  const table = { largest: { bytes: 10, key: 'small' }, widest: new Map<string, number>() };
  const time = { nowMs: START_MS };
  const traits: { -readonly [Name in keyof Traits]: Traits[Name] } = { ...PLAIN_TRAITS };
  const peopleOf = (roles: readonly string[]) =>
    new Map(
      roles.map((role): [string, HeldEmployee] => [
        role,
        { role, email: `m${role.slice(1)}@a.test`, state: 'ACTIVE', userId: `u-${role}` },
      ]),
    );
  const tokensOf = (token: string) => ({
    valid: new Map([[token, Number.POSITIVE_INFINITY]]),
    refreshTokens: new Set<string>(),
  });
  const acme = {
    companyId: 'acme',
    traits,
    groups,
    employees: peopleOf(['r1', 'r2', 'r3']),
    writes,
    clientWrites,
    calls,
    unacceptable: new Set<string>(),
    refusedValues: new Map<string, number>(),
    tokens: tokensOf('token-a'),
  };
  const birch = {
    ...acme,
    companyId: 'birch',
    groups: new Map(),
    employees: peopleOf(['x1']),
    writes: [],
    clientWrites: [],
    calls: [],
    tokens: tokensOf('token-b'),
  };
  const connection = {
    name: 'a',
    company: 'acme',
    settings: {},
    traits,
    credential: 'static',
    people: [],
  } as const;
  const drawn: SimulationRun['connections'][number][] = [connection];
  const run: SimulationRun = { seed: 1, days: 1, coalesceSeconds: 5, connections: drawn, happenings };
  const connections = new Map([['a', { ...connection, company: 'acme' as string }]]);
  const seen = {
    run,
    nowMs: () => time.nowMs,
    items,
    under: (partition: string, prefix: string) =>
      [...items].flatMap(([key, item]) => (key.startsWith(`${partition} ${prefix}`) ? [item] : [])),
    sources: new Map(),
    platforms: new Map([
      ['acme', acme],
      ['birch', birch],
    ]),
    connections,
    directory: {
      read: () => ({
        groups: said,
        emails: new Map(MEMBERS.map((one) => [one, `${one}@a.test`])),
        inactive: new Set(),
        numbers: new Map(),
        changedAtMs,
        otherNames: new Map(),
      }),
      received: (connection: string) => (connection === 'a' ? received : []),
    },
    operators: { actions },
    secretsManager: { stored: new Map([['a', { value: { refreshToken: 'refresh-a' } }]]), ever: new Set() },
    queues,
    table,
    lambdas: { diedMs: () => 0 },
    lastMessageMs: new Map<string, number>(),
    cutOffMs: new Map<string, readonly number[]>(),
    runLog: {
      deliver() {},
      fired() {},
      violated: (violation: Omit<Violation, 'atMs'>) => violations.push(violation),
    },
  } as unknown as Seen;

  const settings: Record<string, unknown> = { ...parseSettings({ baseUrl: 'https://acme.test' }) };
  items.set('C#a CONNECTION', { settings });
  const readNow = {
    get readAtMs() {
      return time.nowMs;
    },
  };
  for (const name of ['a', 'b']) items.set(`C#${name} FEED`, readNow);
  const world = {
    seen,
    items,
    groups,
    calls,
    actions,
    happenings,
    said,
    table,
    time,
    settings,
    connections,
    birch,
    acme,
    item: (change: object) =>
      Object.assign(items.get(`G#${[...connections.keys()][0]}#g1 GROUP`) ?? {}, change),
    /** Changes the platform group. */
    held: (change: Partial<HeldGroup>) => groups.set('p1', { ...(groups.get('p1') as HeldGroup), ...change }),
    write: (change: Partial<PlatformWrite>) => {
      const write: PlatformWrite = {
        atMs: time.nowMs,
        action: 'patch',
        id: 'p1',
        spokeId: 'g1',
        name: 'Sales',
        removed: [],
        added: [],
        sent: {},
        by: 'apply-1',
        token: 'token-a',
        madeBy: 'us',
        version: `v${writes.length}`,
        late: false,
        isVain: false,
        ...change,
      };
      writes.push(write);
      const atMs = write.atMs + 100;
      items.set(`G#a#g1 A#${atMs}#${writes.length}`, {
        atMs,
        action: write.action,
        cause: 'event e1 of okta',
        actor: { kind: 'directory', id: 'okta' },
        outcome: 'written',
        versionAfter: write.version,
      });
    },
    /** Changes the audit entry of the last write. */
    entry: (change: object) => Object.assign(items.get(world.lastEntry()) ?? {}, change),
    unaudited: (change: Partial<PlatformWrite>) => [world.write(change), items.delete(world.lastEntry())],
    call: (count: number, change: Partial<PlatformCall> = {}) => {
      for (let left = count; left > 0; left -= 1) {
        calls.push({
          atMs: time.nowMs,
          method: 'GET',
          route: '/groups/{id}',
          id: 'p1',
          spokeId: 'g1',
          status: 200,
          platformFaults: [],
          by: 'apply-1',
          token: 'token-a',
          ...change,
        });
      }
    },
    action: (change: Partial<OperatorDone>) =>
      actions.push({
        atMs: time.nowMs,
        connection: 'a',
        kind: 'approve',
        group: 'g1',
        action: { kind: 'approve', group: 'g1', oldMs: 0 },
        by: 'console:ada',
        answer: 'done',
        done: true,
        ...change,
      }),
    set: (change: object) => Object.assign(settings, change),
    loses: () => world.held({ users: ['u-r1'] }),
    gains: () => world.held({ users: ['u-r1', 'u-r2', 'u-z'] }),
    /** Adds a user that is not in the directory group, as another client. */
    theirs: (change: Partial<ClientWrite> = {}) =>
      clientWrites.push({
        ...(writes[0] as PlatformWrite),
        action: 'patch',
        added: ['u-z'],
        atMs: START_MS + HOUR_MS,
        initiator: 'ROLE',
        ...change,
      }),
    drift: (change: object = {}) =>
      items.set('C#a DRIFT#1', {
        group: 'g1',
        platformId: 'p1',
        kind: 'members_added',
        before: [],
        after: ['u-z'],
        initiator: 'ROLE',
        settledBy: 'restore',
        detectedAtMs: START_MS + 2 * HOUR_MS,
        ...change,
      }),
    happens: (happening: object) =>
      happenings.push({
        atMs: HOUR_MS,
        connection: 'a',
        ...happening,
      } as SimulationRun['happenings'][number]),
    colleague: () => drawn.push({ ...connection, name: 'b' }),
    deadLetter: (group: string, queue: 'events' | 'eventsDlq' = 'eventsDlq') =>
      queues[queue].push({ body: `{"group":{"id":"${group}"}}`, visibleAtMs: 0 } as QueuedMessage),
    /** Returns the key of the audit entry of the last write. */
    lastEntry: () => [...items.keys()].at(-1) ?? '',
    hold: (users: readonly string[], decision: object = { kind: 'waiting' }) => {
      const createdAtMs = START_MS;
      world.item({ settled: 'held', removals: { sets: [{ digest: 'd', createdAtMs, decision }] } });
      items.set('G#a#g1 A#held', { atMs: createdAtMs, action: 'hold', cause: 'event', outcome: 'written' });
      items.set('G#a#g1 HELD#d#0000', { text: users.join('\n') });
    },
  };
  said.set('g1', { name: 'Sales', members: new Set(MEMBERS), changedAtMs: START_MS });
  changedAtMs.set('g1', START_MS);
  const users = ['u-r1', 'u-r2'];
  world.write({ action: 'create', added: users, sent: { name: 'Sales', spokeId: 'g1', users } });
  groups.set('p1', {
    id: 'p1',
    name: 'Sales',
    spokeId: 'g1',
    users,
    version: 'v0',
    createdAtMs: START_MS,
    madeBy: 'us',
  });
  items.set('G#a#g1 GROUP', {
    group: 'g1',
    upserted: stampOf(0),
    name: { value: 'Sales', stamp: stampOf(0) },
    settled: 'in_sync',
    link: { id: 'p1' },
  });
  for (const member of MEMBERS)
    items.set(`G#a#g1 M#${member}`, { member, presence: 'present', stamp: stampOf(0) });
  items.set('L#acme#0 p1', { platformId: 'p1', connection: 'a', group: 'g1' });
  return world;
}

type World = ReturnType<typeof makeWorld>;

/**
 * Calls `change` and then the checks once an hour, and returns the causes of the violations. The last call is a final
 * check if `end` is true.
 */
function causesOf(
  change: (world: World, hour: number) => unknown,
  { hours = 6, end = true } = {},
): readonly string[] {
  const world = makeWorld();
  const found: string[] = [];
  Object.assign(world.seen.runLog, {
    violated: ({ check, cause }: Violation) => found.push(`${check} ${cause}`),
  });
  const look = createChecks();
  for (let hour = 1; hour <= hours; hour += 1) {
    world.time.nowMs = START_MS + hour * HOUR_MS;
    change(world, hour);
    look(world.seen, end && hour === hours);
  }
  return found;
}

const once = (run: (world: World) => unknown) => (world: World, hour: number) => {
  if (hour === 2) run(world);
};
const twenty = Array.from({ length: 20 }, (_, index) => `u-${index}`);

/** A change of the world, and the cause of the violation that the check must report, if there is one. */
type Case = readonly [what: string, change: (world: World) => unknown, cause?: string];

const AT_END = { end: true };
const NOT_YET = { end: false };

const checks = (check: CheckName, options: typeof NOT_YET, cases: readonly Case[]) =>
  it.each(cases.map(([what, change, cause]) => ({ what, change, cause, result: cause ?? 'no violation' })))(
    `the check ${check} reports $result if $what`,
    ({ change, cause }) => {
      const found = causesOf(once(change), options);
      if (cause === undefined) expect(found).toEqual([]);
      else expect(found).toContain(`${check} ${cause}`);
    },
  );

checks('end', AT_END, [
  ['the platform equals the directory', () => {}],
  [
    'the name differs, and groupsync reports a refusal that the platform never gave',
    (w) => [w.held({ name: 'Old' }), w.item({ refusedFields: { name: { value: 'Sales' } } })],
    'name',
  ],
  ['the external id differs', (w) => w.held({ spokeId: 'G1' }), 'spoke_id'],
  ['the platform group has no spokeId', (w) => w.held({ spokeId: null }), 'spoke_id'],
  [
    'an unwanted user is still in the group hours after an operator approved the removal',
    (w) => [w.gains(), w.hold(['u-z'], { kind: 'approved', atMs: START_MS })],
    'extra_user',
  ],
  [
    "the gate is closed because of another connection's refresh token",
    (w) => [
      w.items.set('C#a GATE', { state: 'unauthorized' }),
      w.call(1, { route: '/oauth/token', status: 400, token: 'refresh-b' }),
    ],
    'gate_closed',
  ],
  ['the gate is closed', (w) => w.items.set('C#a GATE', { state: 'backoff' }), 'gate_closed'],
  [
    'the feed was read to its end more than half a day ago',
    (w) => w.items.set('C#a FEED', { readAtMs: START_MS - 7 * HOUR_MS }),
    'feed_not_read',
  ],
]);

checks('truth', NOT_YET, [
  [
    'a group differs for hours, and its open drift record is about another value',
    (w) => [w.loses(), w.item({ openDrift: ['1'] }), w.drift()],
    'in_sync_but_different',
  ],
  [
    'a leaver stays in a failed group on a platform that refuses users',
    (w) => [
      w.held({ users: ['u-r1', 'u-r2', 'u-r3'] }),
      w.item({ failedAt: START_MS }),
      w.colleague(),
      w.happens({
        actor: 'platform',
        connection: 'b',
        action: { kind: 'platformFault', platformFault: 'refuses_user_422', forMs: HOUR_MS },
      }),
    ],
    'extra_in_given_up',
  ],
  [
    'a group failed because of an earlier refusal',
    (w) => [w.item({ failedAt: START_MS }), w.call(1, { method: 'PATCH', status: 422 })],
    'given_up',
  ],
  [
    'the gate stays closed although the platform works',
    (w) => w.items.set('C#a GATE', { state: 'backoff', sinceMs: w.time.nowMs }),
    'gate_stuck',
  ],
]);

const cut =
  (count: number, change: Partial<PlatformWrite> = {}) =>
  ({ write, acme }: World) => {
    Object.assign(acme, { employees: acme.employees });
    write({ added: twenty, sent: { users: twenty } });
    write({ removed: twenty.slice(0, count), sent: { users: twenty.slice(count) }, ...change });
  };
/** Each of several writes removes one user and adds another user, until only one of the first users is left. */
checks('guard', NOT_YET, [
  [
    'a write removes more members than an operator approved',
    (w) => [w.action({ removals: twenty.slice(0, 2), atMs: START_MS }), cut(17)(w)],
    'write_over_share',
  ],
  [
    'a write removes a member although an operator rejected this removal',
    (w) => [w.action({ kind: 'reject', removals: twenty.slice(0, 1), atMs: w.time.nowMs - 1 }), cut(2)(w)],
    'rejected_removal',
  ],
  [
    'a write removes the members of a deleted group before its release',
    (w) => [w.item({ deleted: stampOf(1) }), w.said.delete('g1'), cut(20)(w)],
    'write_over_share',
  ],
  ['a write deletes a wanted group', cut(20, { action: 'delete', sent: {} }), 'write_over_share'],
]);

checks('ownership', AT_END, [
  [
    'groupsync writes a group long after the connection was removed',
    (w) => [w.action({ kind: 'remove_connection', atMs: START_MS }), w.connections.delete('a'), w.write({})],
    'write_after_removal',
  ],
  [
    'groupsync writes a group after an operator released it',
    (w) => [w.action({ kind: 'release', atMs: START_MS }), w.write({})],
    'write_after_release',
  ],
  ['groupsync writes in mode report', (w) => [w.set({ mode: 'report' }), w.write({})], 'write_in_report'],
  [
    'groupsync deletes a group in the mode additive',
    (w) => [w.set({ mode: 'additive' }), w.write({ action: 'delete', sent: {} })],
    'deleted_in_additive',
  ],
  [
    'groupsync removes a user who is no employee from an additive group',
    (w) => [w.set({ mode: 'additive' }), w.write({ removed: ['u-z'], sent: { users: [] } })],
    'removed_in_additive',
  ],
  [
    'another company gets the token of this company',
    (w) => [w.call(1), w.birch.calls.push(w.calls[0] as never)],
    'token_of_another_company',
  ],
  [
    'a group contains a user of another company',
    (w) => w.write({ added: ['u-x1'], sent: { users: ['u-x1'] } }),
    'user_of_another_company',
  ],
  [
    'the people index has a person of another company',
    (w) => w.items.set('R#a#x1 PERSON', { role: 'x1' }),
    'person_of_another_company',
  ],
]);

checks('nothing_lost', AT_END, [
  ['a message waits in the events queue', (w) => w.deadLetter('g9', 'events'), 'queue_events'],
  ['a fan-out does not end', (w) => w.items.set('U#a#m1 USER', { member: 'm1', fanOut: 3 }), 'open_walk'],
]);

checks('bounded', AT_END, [
  ['an item is too large', (w) => Object.assign(w.table.largest, { bytes: 360_000 }), 'item_size'],
  ['one read returns more than a page of the audit', (w) => w.table.widest.set('A#', 101), 'read_audit'],
  ['one read returns over a page of drift records', (w) => w.table.widest.set('DRIFT#', 101), 'read_drift'],
]);

checks('on_record', AT_END, [
  [
    'the audit entry of a write names an approval that no operator gave',
    (w) => [w.write({}), w.entry({ cause: 'approved by jo: so', actor: { kind: 'operator', id: 'jo' } })],
    'false_cause',
  ],
  [
    'the audit entry of a write names drift without a drift record',
    (w) => [w.write({}), w.entry({ cause: 'drift d1', actor: { kind: 'groupsync', id: 'groupsync' } })],
    'false_cause',
  ],
  ['a late write has no audit entry', (w) => w.unaudited({ late: true }), 'late_write_without_audit'],
  ['two writes, one entry', (w) => [w.write({}), w.unaudited({ version: 'v1' })], 'write_without_audit'],
  [
    'the gate closed without an audit entry',
    (w) => w.items.set('C#a GATE', { state: 'backoff', sinceMs: w.time.nowMs }),
    'gate_without_audit',
  ],
  ['drift names a wrong author', (w) => [w.theirs(), w.drift({ initiator: 'SYSTEM' })], 'drift_of_another'],
]);
