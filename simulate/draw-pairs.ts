import { actsOf } from './acts.ts';
import { ALL_CRASHES } from './draw-crashes.ts';
import type { Town } from './draw-people.ts';
import { takeBack, toScim } from './draw-takeovers.ts';
import { APPROVERS, OPERATORS } from './persons.ts';
import { PLATFORM_FAULTS, type PlatformFault } from './platform-faults.ts';
import { between, type Random, some } from './random.ts';
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

/** Two features, `FIRST > SECOND` (features.ts), that one group of the run must meet in this order. */
export type Pair = string;

/** The time between two pairs of one group, so that the work of the first pair can end. */
const APART_MS = 3 * HOUR_MS;
const FAULT_MS = 90 * MINUTE_MS;

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
  return pairs.flatMap((pair, index) => {
    const [first = '', second = ''] = pair.split(' > ');
    const group = town.groups[index % town.groups.length] as string;
    const round = Math.floor(index / town.groups.length);
    const place = { town, group, members: Array.from({ length: 9 }, (_, n) => `p${n}`) };
    const atMs = HOUR_MS + ((round * APART_MS + between(random, 0, HOUR_MS)) % (endMs - 5 * HOUR_MS));
    const { event, operator } = actsOf(town.name);
    const name = `Pair ${group} ${town.name}`;
    const [leaver = 'p0'] = some(random, place.members, 1);
    const ends: readonly OperatorAction[] = [
      { kind: 'resume', group },
      { kind: 'resume_all' },
      { kind: 'unblock', role: roleOf(place) },
      ...(/operator:(?:release|adopt)/.test(pair) ? [{ kind: 'adopt', group } as const] : []),
      { kind: 'set', key: 'groups.policies', value: [] },
      { kind: 'set', key: 'mode', value: town.settings['mode'] },
      { kind: 'set', key: 'fourEyes', value: town.settings['fourEyes'] === true },
    ];
    const [ended, confirmer] = [atMs + 2 * HOUR_MS, APPROVERS[0]];
    return [
      event(atMs, { kind: 'snapshot', group, name, members: place.members, parts: 1 }),
      ...happeningsOf(first, place, atMs + 20 * MINUTE_MS),
      ...happeningsOf(second, place, atMs + 40 * MINUTE_MS),
      event(atMs + HOUR_MS, { kind: 'leave', group, members: [leaver] }),
      // Ends what the pair began, so that the next pair finds an ordinary group.
      ...ends.map((action, at) => operator(ended + at * MINUTE_MS, action, OPERATORS[0])),
      operator(ended + 10 * MINUTE_MS, { kind: 'confirm' }, confirmer),
    ];
  });
}

/** Returns the happenings that make a feature take effect on the group; none for an option. */
function happeningsOf(feature: string, place: Place, atMs: number): readonly Happening[] {
  const [sort, kind = ''] = split(feature);
  const { event, company, client, aws, operator } = actsOf(place.town.name);
  switch (sort) {
    case 'directory':
      return [event(atMs, eventOf(kind, place))];
    case 'way': {
      const join = { kind: 'join', group: place.group, members: ['p10'] } as const;
      return [event(atMs, join, { form: kind as Way['form'] })];
    }
    case 'company':
      return [company(atMs, companyOf(kind, place))];
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

function split(feature: string): readonly [sort: string, kind: string] {
  const colon = feature.indexOf(':');
  return [feature.slice(0, colon), feature.slice(colon + 1)];
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
  const forMs = FAULT_MS;
  const of: Readonly<Record<string, AwsAction>> = {
    crash: ALL_CRASHES[atMs % ALL_CRASHES.length] as AwsAction,
    slow_table: { kind: 'slow_table', forMs, msPerRequest: 100 },
    skew: { kind: 'skew', forMs, skewMs: 3_000 },
  };
  return of[kind] ?? { kind: kind as 'throttled', forMs, share: 0.2 };
}

/** A fault, with an event that makes groupsync write the group while it lasts. */
function faultOf(platformFault: PlatformFault, place: Place, atMs: number): readonly Happening[] {
  const { group, town } = place;
  const [, , , about] = PLATFORM_FAULTS[platformFault] as readonly unknown[];
  // A platform that keeps a removed user and hides the same user cannot be distinguished from a correct one.
  const user = platformFault === 'answers_lack_users' ? 'p0' : 'p6';
  const given = {
    ...(about === 'users' && { about: [`u-r-${town.name}-${user}`] }),
    ...(about === 'retryAfter' && { about: ['30'] }),
  };
  const action = { kind: 'platformFault', platformFault, forMs: FAULT_MS, ...given } as const;
  const rejoin = { kind: 'leave', group, members: ['p6'] } as const;
  const { platform, event } = actsOf(town.name);
  return [
    platform(atMs, action),
    event(atMs + MINUTE_MS, rejoin),
    event(atMs + 5 * MINUTE_MS, { ...rejoin, kind: 'join' }),
    ...(NEEDS[platformFault]?.(group) ?? []).map((one, at) => event(atMs + (7 + 5 * at) * MINUTE_MS, one)),
  ];
}

/** The events that a fault needs in addition to a leave and a join. */
const NEEDS: Readonly<Partial<Record<PlatformFault, (group: string) => readonly DirectoryAction[]>>> = {
  deletes_ignored: (group) => [
    { kind: 'delete', group },
    { kind: 'snapshot', group, name: `Pair ${group} back`, members: ['p0', 'p1', 'p2'], parts: 1 },
  ],
  refuses_name: (group) => [{ kind: 'name', group, name: `Refused ${group}` }],
};

const newValueOf = (key: string, { group }: Place): unknown =>
  key === 'groups.policies' ? [{ match: group, mode: 'additive' }] : VALUES[key];

const VALUES: Readonly<Record<string, unknown>> = {
  mode: 'additive',
  onGroupDeleted: 'release',
  'guard.maxRemovedCount': 20,
  'guard.perHourCount': 50,
  includeStates: ['ACTIVE', 'HIRED'],
  nameTemplate: '{name} [{id}]',
  'groups.exclude': [],
  fourEyes: true,
};

function operatorOf(kind: string, place: Place, atMs: number): readonly Happening[] {
  const { group, town } = place;
  const { event, operator } = actsOf(town.name);
  const operate = (earlierMs: number, action: OperatorAction, by?: string) =>
    operator(atMs - earlierMs, action, by);
  const directory = (earlierMs: number, action: DirectoryAction) => event(atMs - earlierMs, action);
  switch (kind) {
    case 'approve':
    case 'reject':
      return [
        directory(15 * MINUTE_MS, { kind: 'snapshot', group, name: null, members: ['p0'], parts: 1 }),
        operate(0, { kind, group, oldMs: 0 }, APPROVERS[0]),
      ];
    case 'resume':
      return [operate(10 * MINUTE_MS, { kind: 'pause', group }), operate(0, { kind, group })];
    case 'resume_all':
      return [operate(10 * MINUTE_MS, { kind: 'pause_all' }), operate(0, { kind })];
    case 'adopt':
      return [operate(10 * MINUTE_MS, { kind: 'release', group }), operate(0, { kind, group })];
    case 'pause':
    case 'release':
    case 'sync':
      return [operate(0, { kind, group })];
    case 'block':
      return [operate(0, { kind, role: roleOf(place) })];
    case 'unblock':
      return [
        operate(10 * MINUTE_MS, { kind: 'block', role: roleOf(place) }),
        operate(0, { kind, role: roleOf(place) }),
      ];
    case 'rebind':
      return [operate(0, { kind, member: 'p7', role: `r-${town.name}-p14` })];
    case 'forget':
      return [operate(0, { kind, member: 'p8' })];
    case 'connect':
      return [operate(0, { kind, company: town.company })];
    case 'import':
    case 'undo_import': {
      const members = place.members.slice(0, 5);
      const imports = { kind: 'import', group, members, lists: 'snapshot', ageMs: 0 } as const;
      if (kind === 'import') return [operate(0, imports)];
      return [operate(10 * MINUTE_MS, imports), operate(0, { kind, group })];
    }
    case 'undo':
      return [
        directory(10 * MINUTE_MS, { kind: 'leave', group, members: ['p2', 'p4'] }),
        operate(0, { kind, group, agoMs: 12 * MINUTE_MS }),
      ];
    case 'send':
      return [operate(0, { kind, event: { kind: 'leave', group, members: ['p1'] } })];
    case 'confirm': {
      const set = (value: boolean) => ({ kind: 'set', key: 'fourEyes', value }) as const;
      const [author] = OPERATORS;
      const [confirmer] = APPROVERS;
      return [
        operate(10 * MINUTE_MS, set(true), author),
        operate(5 * MINUTE_MS, set(false), author),
        operate(0, { kind }, confirmer),
      ];
    }
    case 'replay_all':
    case 'discard_one':
      return [directory(20 * MINUTE_MS, { kind: 'rubbish', body: '{}' }), operate(0, { kind })];
    case 'edit_one': {
      // The time of the message is an hour ahead, and the operator sets it to the present.
      const refused = { kind: 'join', group, members: ['p11'] } as const;
      return [event(atMs - 20 * MINUTE_MS, refused, { time: 'future' }), operate(0, { kind })];
    }
    case 'remove_connection':
      return [operate(0, { kind }), operate(-5 * MINUTE_MS, { kind: 'connect', company: town.company })];
    default:
      return [operate(0, { kind: kind as 'pause_all' })];
  }
}
