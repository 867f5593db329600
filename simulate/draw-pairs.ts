import { actsOf } from './acts.ts';
import { ALL_CRASHES } from './draw-crashes.ts';
import { SETTINGS } from './draw-faults.ts';
import { roleOf as roleIn, type Town } from './draw-people.ts';
import { takeBack, toScim } from './draw-takeovers.ts';
import { changesFor, needsOf, type Pair, POLICY } from './pair-needs.ts';
import { APPROVERS, OPERATORS } from './persons.ts';
import { PLATFORM_FAULTS, type PlatformFault } from './platform-faults.ts';
import { between, type Random } from './random.ts';
import {
  type AwsAction,
  type ClientAction,
  type CompanyAction,
  type DirectoryAction,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  type OperatorAction,
  type Way,
} from './simulation-run.ts';

/** The duration of a fault, so short that the fault of the first feature ends before the second one takes effect. */
const FAULT_MS = 25 * MINUTE_MS;

interface Place {
  readonly town: Town;
  readonly group: string;
  readonly members: readonly string[];
}

/**
 * Draws happenings that make a group meet each pair of features: the group exists, then the first feature, the second
 * one, and a removal. A feature that needs more, such as an open decision, gets it first.
 */
export function drawPairs(
  random: Random,
  town: Town,
  { pairs, endMs }: { readonly pairs: readonly Pair[]; readonly endMs: number },
): readonly Happening[] {
  // All pairs are on a few groups, so that the features of different pairs meet too.
  const groups = town.groups.slice(0, 8);
  // The pairs are spread over the run, because the faults of one pair concern all groups.
  const stepMs = Math.floor((endMs - 5 * HOUR_MS) / Math.max(1, pairs.length));
  return pairs.flatMap((pair, index) => {
    const [first = '', second = ''] = pair.split(' > ');
    const group = groups[index % groups.length] as string;
    const place = { town, group, members: Array.from({ length: 9 }, (_, n) => `p${n}`) };
    const atMs = HOUR_MS + index * stepMs + between(random, 0, stepMs);
    const { event, operator } = actsOf(town.name);
    const ends: readonly OperatorAction[] = [
      { kind: 'resume', group },
      { kind: 'resume_all' },
      { kind: 'restated_all' },
      { kind: 'unblock', role: roleOf(place) },
      ...(/operator:(?:release|adopt)/.test(pair) ? [{ kind: 'adopt', group } as const] : []),
      { kind: 'set', key: 'groups.policies', value: 'groups' in town.settings ? [POLICY] : [] },
      ...['mode', 'onGroupDeleted'].map((key) => ({ kind: 'set', key, value: town.settings[key] }) as const),
      { kind: 'set', key: 'fourEyes', value: town.settings['fourEyes'] === true },
    ];
    const [ended, confirmer] = [atMs + 2 * HOUR_MS, APPROVERS[0]];
    const policies = [{ match: group, mode: 'authoritative' }];
    const written = operator(atMs + 20 * MINUTE_MS, { kind: 'set', key: 'groups.policies', value: policies });
    return [
      event(atMs, { kind: 'snapshot', group, name: `Pair ${group}`, members: place.members, parts: 1 }),
      ...(needsOf(pair)['mode'] === 'report' && WRITES.test(second) ? [written] : []),
      ...happeningsOf(first, place, atMs + 20 * MINUTE_MS),
      ...changesFor(second, town).map((action) => operator(atMs + 50 * MINUTE_MS, action)),
      ...happeningsOf(second, place, atMs + 70 * MINUTE_MS),
      event(atMs + 90 * MINUTE_MS, { kind: 'leave', group, members: [random.pick(place.members)] }),
      // Ends what the pair began, so that the next pair finds an ordinary group.
      ...ends.map((action, at) => operator(ended + at * MINUTE_MS, action, OPERATORS[0])),
      operator(ended + 10 * MINUTE_MS, { kind: 'confirm' }, confirmer),
    ];
  });
}

/** Features that need a written group. After the mode `report`, the group therefore gets another mode. */
const WRITES = /^platformFault:|^client:|^operator:(?:approve|reject|adopt|undo)$/;

/** Returns the happenings that make a feature take effect on the group; none for an option. */
function happeningsOf(feature: string, place: Place, atMs: number): readonly Happening[] {
  const [sort, kind = ''] = feature.split(':');
  const { event, company, client, aws, operator } = actsOf(place.town.name);
  switch (sort) {
    case 'directory':
      return [event(atMs, eventOf(kind, place))];
    case 'way': {
      const join = { kind: 'join', group: place.group, members: ['p10'] } as const;
      return [event(atMs, join, { form: kind as Way['form'] })];
    }
    case 'company': {
      // An earlier pair may have erased the person, or changed the address or the state.
      const state = kind === 'activate' ? 'TERMINATED' : 'ACTIVE';
      const person = { role: roleOf(place), email: `p3@${place.town.name}.test`, state } as const;
      return [company(atMs - 5 * MINUTE_MS, { kind: 'hire', person }), company(atMs, companyOf(kind, place))];
    }
    case 'client':
      return [client(atMs, clientOf(kind, place))];
    case 'aws':
      return [aws(atMs, awsOf(kind, atMs))];
    case 'platformFault':
      return faultOf(kind as PlatformFault, place, atMs);
    case 'set':
      return [operator(atMs, { kind: 'set', key: kind, value: newValueOf(kind, place) })];
    case 'operator':
      return operatorOf(kind, place, atMs);
    case 'takeover':
      return kind === 'scim'
        ? toScim(place, atMs)
        : [...toScim(place, atMs - 5 * MINUTE_MS), ...takeBack(place, atMs, 'events')];
    default:
      return [];
  }
}

const roleOf = ({ town }: Place) => `r-${town.name}-p3`;

function eventOf(kind: string, { group, members, town }: Place): DirectoryAction {
  const name = `Pair ${group} again ${town.name}`;
  const of: Readonly<Record<string, DirectoryAction>> = {
    name: { kind: 'name', group, name },
    delete: { kind: 'delete', group },
    join: { kind: 'join', group, members: ['p11'] },
    leave: { kind: 'leave', group, members: ['p2'] },
    snapshot: { kind: 'snapshot', group, name, members: members.slice(0, 7), parts: 2 },
    profile: { kind: 'profile', member: 'p4', email: `p4@${town.name}.test` },
    forget: { kind: 'forget', member: 'p5' },
    wide: { kind: 'wide', prefix: `v${town.name}`, groups: 3 },
  };
  return of[kind] ?? { kind: 'rubbish', body: '{}' };
}

function companyOf(kind: string, place: Place): CompanyAction {
  const role = roleOf(place);
  const of: Readonly<Record<string, CompanyAction>> = {
    hire: { kind: 'hire', person: { role: `${role}-new`, email: `p12@${place.town.name}.test` } },
    readdress: { kind: 'readdress', role, email: `p3.new@${place.town.name}.test` },
    renumber: { kind: 'renumber', role, number: '7331' },
    change_user_id: { kind: 'change_user_id', role, userId: `u-${role}-2` },
  };
  return of[kind] ?? { kind: kind as 'terminate', role };
}

function clientOf(kind: string, { group, town }: Place): ClientAction {
  if (kind === 'own') return { kind, name: `Pair ${group} ${town.name}`, spokeId: null };
  if (kind !== 'edit') return { kind: kind as 'delete', group };
  return { kind, group, add: [`u-r-${town.name}-p13`], remove: 1, name: 'Edited' };
}

function awsOf(kind: string, atMs: number): AwsAction {
  const of: Readonly<Record<string, AwsAction>> = {
    crash: ALL_CRASHES[atMs % ALL_CRASHES.length] as AwsAction,
    slow_table: { kind: 'slow_table', forMs: FAULT_MS, msPerRequest: 100 },
    skew: { kind: 'skew', forMs: FAULT_MS, skewMs: 3_000 },
  };
  return of[kind] ?? { kind: kind as 'throttled', forMs: FAULT_MS, share: 0.2 };
}

/** A fault, with an event that makes groupsync write the group while it lasts. */
function faultOf(platformFault: PlatformFault, place: Place, atMs: number): readonly Happening[] {
  const { group, town } = place;
  const [, , , about] = PLATFORM_FAULTS[platformFault] as readonly unknown[];
  // A platform that keeps a removed user and hides the same user cannot be distinguished from a correct one.
  const role = roleIn(town.name, platformFault === 'answers_lack_users' ? 'p0' : 'p1');
  const given = {
    ...(about === 'users' && { about: [role, `u-${role}`] }),
    ...(about === 'retryAfter' && { about: ['30'] }),
  };
  const action = { kind: 'platformFault', platformFault, forMs: FAULT_MS, ...given } as const;
  const leave = { kind: 'leave', group, members: ['p1'] } as const;
  const needs = platformFault.startsWith('list_') ? back : NEEDS[platformFault];
  const { platform, event } = actsOf(town.name);
  const leavesMs = platformFault.startsWith('feed_') ? beforeFeed(atMs) : atMs + MINUTE_MS;
  // A token expires once, and the first call with it may be about another group.
  const minutes = platformFault === 'token_expires' ? [0, 1, 2, 5, 6] : [0];
  return [
    ...minutes.map((minute) => platform(atMs + minute * MINUTE_MS, action)),
    event(leavesMs, leave),
    event(leavesMs + 5 * MINUTE_MS, { ...leave, kind: 'join' }),
    ...(needs?.(group) ?? []).map((one, at) => event(atMs + (7 + 5 * at) * MINUTE_MS, one)),
  ];
}

/** Returns a time just before the next read of the feed (schedules.ts), so that a write is open during the read. */
const beforeFeed = (atMs: number): number => Math.ceil(atMs / (5 * MINUTE_MS)) * 5 * MINUTE_MS + 41_000;

const back = (group: string): readonly DirectoryAction[] => [
  { kind: 'delete', group },
  { kind: 'snapshot', group, name: `Pair ${group} back`, members: ['p0', 'p1', 'p2'], parts: 1 },
];

/** The events that a fault needs in addition to a leave and a join. */
const NEEDS: Readonly<Partial<Record<PlatformFault, (group: string) => readonly DirectoryAction[]>>> = {
  deletes_ignored: back,
  refuses_spoke_id: back,
  refuses_name: (group) => [{ kind: 'name', group, name: `Refused ${group}` }],
};

function newValueOf(key: string, { group, town }: Place): unknown {
  if (key === 'groups.policies') return [{ match: group, mode: 'additive' }];
  if (key === 'fourEyes') return true;
  const [first, second] = SETTINGS.find(([name]) => name === key)?.[1] ?? [];
  return second === town.settings[key] ? first : second;
}

/** Returns an action of an operator, and before it the actions and events that it needs. */
function operatorOf(kind: string, place: Place, atMs: number): readonly Happening[] {
  const { group, town, members } = place;
  const { event, operator } = actsOf(town.name);
  const role = roleOf(place);
  const imports = {
    kind: 'import',
    group,
    members: members.slice(0, 5),
    lists: 'snapshot',
    ageMs: 0,
  } as const;
  const set = (value: boolean) => ({ kind: 'set', key: 'fourEyes', value }) as const;
  const connect = { kind: 'connect', company: town.company } as const;
  const few = { kind: 'snapshot', group, name: null, members: ['p0'], parts: 1 } as const;
  const rubbish = { kind: 'rubbish', body: '{}' } as const;
  const before: Readonly<Record<string, readonly OperatorAction[]>> = {
    resume: [{ kind: 'pause', group }],
    resume_all: [{ kind: 'pause_all' }],
    restated_all: [{ kind: 'restore' }, { kind: 'resume_all' }],
    adopt: [{ kind: 'release', group }],
    unblock: [{ kind: 'block', role }],
    undo_import: [imports],
    confirm: [set(true), set(false)],
  };
  const after: Readonly<Record<string, readonly OperatorAction[]>> = {
    remove_connection: [connect],
    restore: [{ kind: 'resume_all' }],
  };
  const events: Readonly<Record<string, DirectoryAction>> = {
    approve: few,
    reject: few,
    undo: { kind: 'leave', group, members: ['p2', 'p4'] },
    replay_all: rubbish,
    discard_one: rubbish,
    // The time of this message is an hour ahead, and the operator sets it to the present.
    edit_one: { kind: 'join', group, members: ['p11'] },
  };
  const actions: Readonly<Record<string, OperatorAction>> = {
    approve: { kind: 'approve', group, oldMs: 0 },
    reject: { kind: 'reject', group, oldMs: 0 },
    block: { kind: 'block', role },
    unblock: { kind: 'unblock', role },
    rebind: { kind: 'rebind', member: 'p7', role: roleIn(town.name, 'p14') },
    forget: { kind: 'forget', member: 'p8' },
    import: imports,
    undo: { kind: 'undo', group, agoMs: 65 * MINUTE_MS },
    send: { kind: 'send', event: { kind: 'leave', group, members: ['p1'] } },
    connect,
  };
  const isOfGroup = /^(?:pause|resume|release|adopt|sync|undo_import)$/.test(kind);
  const plain = { kind, ...(isOfGroup && { group }) } as OperatorAction;
  const isOfApprover = /^(?:approve|reject|confirm)$/.test(kind);
  const needed = events[kind];
  const way = kind === 'edit_one' ? ({ time: 'future' } as const) : {};
  return [
    ...(needed === undefined ? [] : [event(atMs - 15 * MINUTE_MS, needed, way)]),
    ...(before[kind] ?? []).map((one, at) => operator(atMs - (14 - 5 * at) * MINUTE_MS, one, OPERATORS[0])),
    operator(atMs, actions[kind] ?? plain, isOfApprover ? APPROVERS[0] : undefined),
    ...(after[kind] ?? []).map((one) => operator(atMs + 5 * MINUTE_MS, one)),
  ];
}
