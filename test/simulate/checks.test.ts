import { expect, it } from 'vitest';
import type { Explanation } from '../../shared/contract/answers/explain.ts';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import type { GroupPlan } from '../../shared/sync/apply/plan-group.ts';
import { createChecks } from '../../simulate/checks/all-checks.ts';
import { type Around, checkExplain, checkPlan } from '../../simulate/checks/one-decision.ts';
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
import {
  HOUR_MS,
  MINUTE_MS,
  type SimulationRun,
  START_MS,
  type Traits,
} from '../../simulate/simulation-run.ts';
import type { Seen } from '../../simulate/world.ts';

/*
 * Each case changes a correct world, and lists the violation that the invariant checks must report. The world has the
 * connection `a` of the company acme. Its directory group g1 ("Sales") has the members m1 and m2.
 */

const MEMBERS = ['m1', 'm2'];
const stampOf = (hour: number) =>
  `${new Date(START_MS + hour * HOUR_MS).toISOString().slice(0, 23)}000000Z.00.61.61.00000`;

function makeWorld() {
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
    groups: new Map(),
    employees: peopleOf(['x1']),
    writes: [],
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
        changedAtMs,
        otherNames: new Map(),
      }),
      received: (connection: string) => (connection === 'a' ? received : []),
    },
    operators: { actions },
    queues,
    table,
    lambdas: { diedMs: () => 0 },
    lastMessageMs: new Map<string, number>(),
    runLog: {},
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
    received,
    said,
    table,
    time,
    connections,
    birch,
    item: (change: object) =>
      Object.assign(items.get(`G#${[...connections.keys()][0]}#g1 GROUP`) ?? {}, change),
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
      });
    },
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
        after: ['u-z'],
        initiator: 'ROLE',
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
    upserted: stampOf(0),
    name: { value: 'Sales', stamp: stampOf(0) },
    settled: 'in_sync',
    link: { id: 'p1' },
  });
  for (const member of MEMBERS)
    items.set(`G#a#g1 M#${member}`, { member, presence: 'present', stamp: stampOf(0) });
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
        connection: 'b',
        action: { kind: 'platformFault', platformFault: 'refuses_user_422', forMs: HOUR_MS },
      }),
    ],
    'extra_in_given_up',
  ],
]);

it('the check truth finds a confirmed binding that changes without a command of an operator', () => {
  const rebound = (world: World, hour: number) =>
    hour === 4 && world.action({ kind: 'rebind', atMs: START_MS + 3.5 * HOUR_MS });
  const moves = ({ items }: World, hour: number) =>
    items.set('U#a#m1 USER', { member: 'm1', role: hour < 4 ? 'r1' : 'r9' });
  expect(causesOf(moves, NOT_YET)).toEqual(['truth binding_moved']);
  expect(causesOf((world, hour) => [rebound(world, hour), moves(world, hour)], NOT_YET)).toEqual([]);
  const unconfirmed = ({ items }: World) => items.set('R#a#r1 M#m1', { gsk: '#r1#m1' });
  expect(causesOf((world, hour) => [unconfirmed(world), moves(world, hour)], NOT_YET)).toEqual([]);
});

const cut =
  (count: number, change: Partial<PlatformWrite> = {}) =>
  ({ write }: World) => {
    write({ added: twenty, sent: { users: twenty } });
    write({ removed: twenty.slice(0, count), sent: { users: twenty.slice(count) }, ...change });
  };
checks('guard', NOT_YET, [
  [
    'a write removes more members than an operator approved',
    (w) => [w.action({ removals: twenty.slice(0, 2), atMs: START_MS }), cut(17)(w)],
    'write_over_share',
  ],
  [
    'a write removes the members of a deleted group before its release',
    (w) => [w.item({ deleted: stampOf(1) }), w.said.delete('g1'), cut(20)(w)],
    'write_over_share',
  ],
  ['a write deletes a wanted group', cut(20, { action: 'delete', sent: {} }), 'write_over_share'],
]);

it('the check of the guard reports three deletions of groups within an hour without an approval', () => {
  const goes = ({ write }: World, id: string, spokeId: string, minute: number) =>
    write({ id, spokeId, action: 'delete', atMs: START_MS + 5 * HOUR_MS - minute * MINUTE_MS, sent: {} });
  const three =
    (minutes: readonly number[], approved = false) =>
    (world: World, hour: number) => {
      if (approved) world.action({ kind: 'approve', atMs: START_MS });
      if (hour !== 5) return;
      for (const [at, minute] of minutes.entries()) goes(world, `p${at}`, 'g1', minute);
    };
  expect(causesOf(three([30, 20]), NOT_YET)).not.toContain('guard deleted_groups');
  expect(causesOf(three([30, 20, 10]), NOT_YET)).toContain('guard deleted_groups');
  expect(causesOf(three([30, 20, 10], true), NOT_YET)).not.toContain('guard deleted_groups');
  expect(causesOf(three([100, 20, 10]), NOT_YET)).not.toContain('guard deleted_groups');
});

it('the check of the guard reports three small groups that lose most of their users within an hour', () => {
  const emptied =
    (minutes: readonly number[], size = 4, lost = 3) =>
    ({ write }: World, hour: number) => {
      if (hour !== 5) return;
      const users = twenty.slice(0, size);
      for (const [at, minute] of minutes.entries()) {
        const of = { id: `q${at}`, spokeId: 'g1', atMs: START_MS + 5 * HOUR_MS - minute * MINUTE_MS };
        write({ ...of, atMs: of.atMs - 1, added: users, sent: { users } });
        write({ ...of, removed: users.slice(0, lost), sent: { users: users.slice(lost) } });
      }
    };
  expect(causesOf(emptied([30, 20]), NOT_YET)).toEqual([]);
  expect(causesOf(emptied([30, 20, 10]), NOT_YET)).toEqual(['guard emptied_groups']);
  expect(causesOf(emptied([100, 20, 10]), NOT_YET)).toEqual([]);
  expect(causesOf(emptied([30, 20, 10], 4, 2), NOT_YET)).toEqual([]);
  expect(causesOf(emptied([30, 20, 10], 5), NOT_YET)).toEqual(['guard write_over_share']);
});

it('the check of the guard reports removals above the hourly limit within any sixty minutes', () => {
  const guard = { minSize: 50, maxRemovedShare: 1, maxRemovedCount: 8, perHourCount: 6 };
  const removed = (world: World, hour: number, minute: number) =>
    world.write({
      atMs: START_MS + hour * HOUR_MS - minute * MINUTE_MS,
      removed: twenty.slice(0, 4),
      sent: { users: [] },
    });
  const slow = (world: World, hour: number) => [world.set({ guard }), removed(world, hour, 30)];
  const fast = (world: World, hour: number) => [slow(world, hour), hour === 5 && removed(world, hour, 10)];
  expect(causesOf(slow, NOT_YET)).toEqual([]);
  expect(causesOf(fast, NOT_YET)).toEqual(['guard removals_over_limit']);
});

const strange =
  (change: Partial<HeldGroup>) =>
  ({ groups, held, item, write }: World) => {
    groups.set('p9', { ...(held({}).get('p1') as HeldGroup), id: 'p9', madeBy: 'client', ...change });
    item({ link: { id: 'p9' } });
    return () => write({ id: 'p9', action: 'put', madeBy: 'client', spokeId: 'g1' });
  };
const adopts = (change: Partial<HeldGroup>, before: (world: World) => void = () => {}) => {
  let write = () => {};
  return causesOf((world, hour) => {
    if (hour === 1) before(world);
    if (hour === 2) write = strange(change)(world);
    if (hour === 3) write();
  }, NOT_YET);
};
it('the check of ownership accepts a write to an unmanaged group only if groupsync may adopt the group', () => {
  expect(adopts({ spokeId: 'g1' })).toEqual([]);
  expect(adopts({ spokeId: null })).toContain('ownership write_to_a_stranger');
  expect(adopts({ spokeId: null }, ({ action }) => action({ kind: 'adopt' }))).not.toContain(
    'ownership write_to_a_stranger',
  );
});
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

it('the check of bounded work finds an idle connection with more calls than its schedules require', () => {
  const sweeping = (count: number) =>
    causesOf((world, hour) => {
      if (hour === 6) world.call(count, { route: '/groups', by: 'sweep-1' });
    }, NOT_YET);
  expect(sweeping(2)).toEqual([]);
  expect(sweeping(3)).toEqual(['bounded idle_calls']);
  expect(causesOf((world, hour) => hour === 6 && world.call(1), NOT_YET)).toEqual(['bounded idle_calls']);
  expect(causesOf((world, hour) => hour === 6 && world.call(9, { by: 'operator-1' }), NOT_YET)).toEqual([]);
});

checks('bounded', AT_END, [
  ['an item is too large', (w) => Object.assign(w.table.largest, { bytes: 360_000 }), 'item_size'],
  ['one read returns more than a page of the audit', (w) => w.table.widest.set('A#', 101), 'read_audit'],
  ['one read returns over a page of drift records', (w) => w.table.widest.set('DRIFT#', 101), 'read_drift'],
]);

/** The directory sends two events of Ada at one instant: the cause of the write, and an event with this id. */
function sendsTwoAtOnce({ received }: World, id: string): void {
  const sent = received.map((one) => ({ ...one, directoryEvent: { ...one.directoryEvent, by: 'ada' } }));
  received.splice(0, 1, ...sent, ...sent.map((one) => ({ ...one, id })));
}

checks('on_record', AT_END, [
  [
    'an entry lacks the actor of an event, because an event with a later id has an actor',
    (w) => sendsTwoAtOnce(w, 'e2'),
  ],
  ['an entry lacks the actor of the latest event', (w) => sendsTwoAtOnce(w, 'e0'), 'false_cause'],
  ['a late write has no audit entry', (w) => w.unaudited({ late: true }), 'late_write_without_audit'],
  ['drift names a wrong author', (w) => [w.theirs(), w.drift({ initiator: 'SYSTEM' })], 'drift_of_another'],
]);

it('the check of the audit finds a drift record that lacks its initiator hours after the feed reported it', () => {
  const change = (w: World, hour: number) => hour === 2 && [w.theirs(), w.drift({ initiator: 'UNKNOWN' })];
  expect(causesOf(change, { hours: 20 })).toEqual(['on_record drift_without_initiator']);
  expect(causesOf(change, { hours: 4 })).toEqual([]);
});

const stood = (users: readonly string[], name = 'Sales') => ({ id: 'p1', name, users });
const around = { connection: 'a', group: 'g1', outcome: 'written', isSeen: true };
const checked = (check: (seen: Seen) => void): readonly string[] => {
  const causes: string[] = [];
  const { seen } = makeWorld();
  Object.assign(seen.runLog, { violated: ({ cause }: Violation) => causes.push(cause) });
  check(seen);
  return causes;
};
const explained = (
  outcome: string,
  wanted: boolean,
  users: { readonly before: readonly string[]; readonly after: readonly string[] },
  isSeen = true,
) =>
  checked((seen) => {
    const answer = {
      wanted,
      match: { user: 'u' },
      decision: { outcome },
    } as unknown as Explanation;
    const stands = { before: stood(users.before), after: stood(users.after) };
    checkExplain(seen, { ...around, ...stands, answer, isSeen });
  });

it.each([
  ['waiting', true, [], ['u'], []],
  ['waiting', true, [], [], ['explain_waiting']],
  ['waiting', false, ['u'], [], []],
  ['waiting', false, ['u'], ['u'], ['explain_waiting']],
  ['held', false, ['u'], ['u'], []],
  ['held', false, ['u'], [], ['explain_held']],
  ['in_sync', true, ['u'], [], ['explain_in_sync']],
  ['pending:unknown', true, [], ['u'], ['explain_pending_unknown']],
  ['not_wanted', false, [], [], []],
] as const)(
  'explain answers %s for a member (wanted: %s, users of the group before: %j, after: %j), and the check reports %j',
  (outcome, wanted, before, after, causes) => {
    expect(explained(outcome, wanted, { before, after })).toEqual(causes);
  },
);

it('the check accepts a wrong answer of explain if groupsync has not yet read a change of the group', () => {
  expect(explained('in_sync', true, { before: [], after: [] })).toEqual(['explain_in_sync']);
  expect(explained('in_sync', true, { before: [], after: [] }, false)).toEqual([]);
});

const planned = (plan: Partial<GroupPlan>, { before, after }: Pick<Around<GroupPlan>, 'before' | 'after'>) =>
  checked((seen) => {
    const answer = {
      action: 'none',
      changes: [],
      held: [],
      note: null,
      ...plan,
    } as GroupPlan;
    checkPlan(seen, { ...around, answer, before, after });
  });
const add = { kind: 'add_member', member: 'm1', before: null, after: 'u', reason: '' };

it('the check of one decision finds a plan that differs from the following write', () => {
  const both = { before: stood([]), after: stood(['u']) };
  expect(planned({ action: 'patch', changes: [add] }, both)).toEqual([]);
  expect(planned({ action: 'patch', changes: [] }, both)).toEqual(['plan_patch']);
  expect(planned({ action: 'none' }, both)).toEqual(['plan_none']);
  expect(planned({ action: 'delete' }, { ...both, after: undefined })).toEqual([]);
  expect(planned({ action: 'delete' }, both)).toEqual(['plan_delete']);
  expect(planned({ action: 'none', note: 'the platform could not be asked' }, both)).toEqual([]);
});
