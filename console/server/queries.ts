import type { ShownDeadLetter } from '../../shared/contract/answers.ts';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import type { GroupState } from '../../shared/domain/group-state.ts';
import type { Hold } from '../../shared/domain/hold.ts';
import { type ConnectionName, type GroupRef, type MemberId, memberId } from '../../shared/domain/ids.ts';
import { readStamp } from '../../shared/domain/stamp.ts';
import { describeDeadLetter } from '../../shared/operate/dead-letters/describe.ts';
import { surveyDeadLetters } from '../../shared/operate/dead-letters/survey.ts';
import { readDirectoryStatus } from '../../shared/operate/directory/status.ts';
import { examine } from '../../shared/operate/doctor/doctor.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { findGroup, NotFound } from '../../shared/operate/find-group.ts';
import { groupsOfMember } from '../../shared/operate/groups-of-member.ts';
import { holdRow } from '../../shared/operate/lists.ts';
import { tokenRow } from '../../shared/operate/scim-tokens.ts';
import { rowsOf } from '../../shared/operate/setting-requests.ts';
import { listConnections, requireConnection } from '../../shared/operate/settings.ts';
import { readGroupStatus, readStatus } from '../../shared/operate/status.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { personsBoundTo } from '../../shared/sync/match/bound-person.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { listTokens } from '../../shared/sync/scim/tokens.ts';
import type {
  Activity,
  Checks,
  ConnectionPage,
  DeadLetters,
  Entry,
  GroupDetail,
  HeldPerson,
  HoldPage,
  PersonName,
  PersonPage,
} from '../answers.ts';
import { matchesFilter } from './activity.ts';
import type { Overview } from './overview.ts';
import { findPeople, type KnownMember, knownMembers, nameOf } from './people.ts';
import { BOTH_QUEUES, type Session } from './session.ts';

export interface RequestContext {
  readonly connection: ConnectionName;
  readonly prefix: string;
  readonly ports: ToolPorts;
  readonly overview: Overview;
  readonly session: Session;
  readonly formatCommands: (text: string, connection: ConnectionName) => string;
  /** Aborted when the page closes. */
  readonly signal: AbortSignal;
}

const DEAD_LETTERS_SHOWN = 1_000;
const PAGE = 200;

type Query = (query: URLSearchParams, context: RequestContext) => Promise<unknown>;

/** The read-only queries of the page, by the last part of the path. */
export const QUERIES: Readonly<Record<string, Query>> = {
  home: (_, { overview }) => overview.home(),
  live: (_, { overview }) => overview.live(),
  groups: (query, { overview }) =>
    overview.groups({
      text: query.get('text') ?? '',
      state: query.get('state') || undefined,
      sort: query.get('sort') ?? 'state',
      ...rangeOf(query),
    }),
  group: async (query, context) => groupDetail(await refOf(query, context), context),
  plan: async (query, context) => namedPlan(await refOf(query, context), context),
  hold: async (query, context) => holdPage(await refOf(query, context), context),
  people: (query, { connection, overview, ports }) =>
    findPeople(connection, query.get('text') ?? '', overview.allMembers, ports),
  person: (query, context) => personPage(query.get('member') ?? '', context),
  explain: async (query, context) => {
    const connection = await requireConnection(context.connection, context.ports);
    const ref = await refOf(query, context);
    return explainMember(ref, query.get('member') ?? '', { connection, ports: context.ports });
  },
  activity: async (query, { overview }): Promise<Activity> => {
    const { entries, isCut } = await overview.activity();
    const { from, count } = rangeOf(query);
    const given = (name: string) => query.get(name) || undefined;
    const since = given('since');
    const filter = {
      group: given('group'),
      person: given('person'),
      actor: given('actor'),
      action: given('action'),
      outcome: given('outcome'),
      sinceMs: since === undefined ? undefined : Date.parse(since),
    };
    const found = entries.filter((entry) => matchesFilter(entry, filter));
    return { entries: found.slice(from, from + count), found: found.length, isCut };
  },
  deadLetters: async (_, { connection, ports, session, overview, signal }): Promise<DeadLetters> => {
    const options = { queues: BOTH_QUEUES, limit: DEAD_LETTERS_SHOWN, signal, patienceSeconds: 0 };
    const survey = await session.inSequence(() => surveyDeadLetters(ports, options));
    const names = new Map<string, string>();
    for (const { group, connection: of } of survey.messages) {
      const name = group === null || of !== connection ? null : await overview.nameOf(group);
      if (group !== null && name !== null) names.set(group, name);
    }
    return { ...survey, names: Object.fromEntries(names) };
  },
  deadLetter: async (query, { ports, session }): Promise<ShownDeadLetter> =>
    (await describeDeadLetter(await session.find(query.get('id') ?? ''), ports)).document,
  connection: (_, context) => connectionPage(context),
  doctor: async (_, { prefix, connection, ports, formatCommands }): Promise<Checks> => {
    const { checks } = await examine({ prefix, connection }, ports);
    return { checks: checks.map((one) => ({ ...one, fix: one.fix && formatCommands(one.fix, connection) })) };
  },
};

function rangeOf(query: URLSearchParams): { readonly from: number; readonly count: number } {
  const whole = (name: string, otherwise: number) =>
    Math.max(0, Math.trunc(Number(query.get(name) ?? otherwise)));
  return { from: whole('from', 0) || 0, count: Math.min(whole('count', PAGE) || PAGE, 10_000) };
}

const refOf = (query: URLSearchParams, { connection, ports }: RequestContext): Promise<GroupRef> =>
  findGroup(connection, query.get('group') ?? '', ports);

/** Returns the plan of a group, with the group's name. @param settings replaces the settings of the connection */
export async function namedPlan(
  ref: GroupRef,
  { ports, overview }: RequestContext,
  settings?: ConnectionSettings,
) {
  const [plan, name] = await Promise.all([planGroup(ref, ports, settings), overview.nameOf(ref.group)]);
  return { ...plan, name };
}

async function stateOf(ref: GroupRef, { ports }: RequestContext): Promise<GroupState> {
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new NotFound(`there is no group ${ref.group}`);
  return state;
}

/** Returns the users of the platform group from its stored view; empty if there is none. */
async function usersOf(state: GroupState, { ports }: RequestContext): Promise<ReadonlySet<string>> {
  const view = state.link && (await ports.groups.readView(state.ref, state.link.view));
  return new Set(view?.users.keys());
}

async function heldOf(state: GroupState, context: RequestContext): Promise<ReadonlySet<string>> {
  return readSet(state, state.hold, context);
}

/** Returns the users of a hold; empty if there is no hold, or if its set cannot be read. */
async function readSet(
  { ref }: GroupState,
  hold: Hold | undefined,
  { ports }: RequestContext,
): Promise<ReadonlySet<string>> {
  return (hold && (await ports.groups.readHeld(ref, hold))) ?? new Set();
}

async function groupDetail(ref: GroupRef, context: RequestContext): Promise<GroupDetail> {
  const state = await stateOf(ref, context);
  const [status, known, users, held, { entries }] = await Promise.all([
    readGroupStatus(ref, context.ports),
    knownMembers(state, context.ports),
    usersOf(state, context),
    heldOf(state, context),
    context.overview.activity(),
  ]);
  if (status === undefined) throw new NotFound(`there is no group ${ref.group}`);
  const members = known
    .filter(({ isWanted, user }) => isWanted || users.has(user ?? ''))
    .map(({ register, state, user, isWanted }) => ({
      ...nameOf(register.member, state),
      directory: isWanted,
      pending: isWanted ? (register.pending?.cause ?? null) : null,
      held: held.has(user ?? ''),
      user: user ?? null,
      platform: users.has(user ?? ''),
    }));
  const knownUsers = new Set(known.map(({ user }) => user));
  const unknownUsers = [...users]
    .filter((user) => !knownUsers.has(user))
    .map((user) => ({ ...UNKNOWN, user }));
  return {
    status,
    held: state.hold?.decision.kind === 'waiting',
    members: [...members, ...unknownUsers].sort(byName),
    history: entries.filter(({ group }) => group === ref.group),
  };
}

/** A user of the platform group without any directory event in it. */
const UNKNOWN = {
  id: '',
  name: null,
  email: null,
  directory: false,
  pending: null,
  held: false,
  platform: true,
};

const byName = (a: PersonName, b: PersonName) => (a.name ?? a.id).localeCompare(b.name ?? b.id);

async function holdPage(ref: GroupRef, context: RequestContext): Promise<HoldPage> {
  const state = await stateOf(ref, context);
  const { hold, approval } = state;
  const [known, users, held, approved] = await Promise.all([
    knownMembers(state, context.ports),
    usersOf(state, context),
    heldOf(state, context),
    readSet(state, approval, context),
  ]);
  const byUser = new Map(known.map((one) => [one.user, one]));
  const person = (user: string) => heldPerson(user, byUser.get(user), state);
  const decision = hold?.decision;
  const decided = decision === undefined || decision.kind === 'waiting' ? undefined : decision;
  return {
    group: ref.group,
    name: state.registers.name?.value ?? null,
    hold:
      hold === undefined
        ? null
        : {
            ...holdRow({ group: ref.group, hold }),
            by: decided?.by ?? null,
            reason: decided?.reason ?? null,
          },
    approved:
      approval?.decision.kind === 'approved' ? { removes: approval.removes, ...approval.decision } : null,
    leaving: [...held].map(person).sort(byName),
    staying: [...users]
      .filter((user) => !held.has(user) && !approved.has(user))
      .map(person)
      .sort(byName),
  };
}

function heldPerson(user: string, known: KnownMember | undefined, { registers }: GroupState): HeldPerson {
  if (known === undefined)
    return { id: '', name: null, email: null, user, department: null, lastEvent: null };
  const { register, state, isWanted } = known;
  const isOutOfList = !isWanted && register.value === 'present';
  const absent = isOutOfList ? 'left_out' : 'removed';
  const what = isWanted ? 'present' : absent;
  const stamp = readStamp(isOutOfList ? latestOf(registers, state?.floor) : register.stamp);
  const { time = null, id = null, source = null } = stamp ?? {};
  return {
    ...nameOf(register.member, state),
    user,
    department: state?.attributes.get('department')?.value ?? null,
    lastEvent: { what, at: time, event: id, source },
  };
}

/** Returns the latest event that removed members without naming them: a snapshot or a deletion. */
const latestOf = ({ snapshot, deleted }: GroupState['registers'], floor: string = ''): string =>
  [snapshot, deleted, floor].reduce((latest, stamp) => (stamp > latest ? stamp : latest), '');

async function personPage(text: string, context: RequestContext): Promise<PersonPage> {
  const { connection, ports, overview } = context;
  const member = memberId(text);
  const user = (await ports.users.read(connection, [member])).get(member);
  const role = user?.role;
  const current = await ports.connections.find(connection);
  const [bound] = current && user ? await personsBoundTo([user], current, ports.people) : [];
  const groups: PersonPage['groups'][number][] = [];
  for (const group of await groupsOfMember(connection, member, ports)) {
    const state = await ports.groups.read({ connection, group });
    if (state !== undefined) groups.push(await personGroup(state, member, context));
  }
  const { entries } = await overview.activity();
  const ids = new Set([member, role, bound?.role, bound?.userId].filter((id) => id !== undefined));
  const isAbout = ({ changes }: Entry) =>
    changes.some(({ member, before, after }) =>
      [member, ...(before?.split(', ') ?? []), ...(after?.split(', ') ?? [])].some((id) =>
        ids.has(id as never),
      ),
    );
  if (user === undefined && groups.length === 0) throw new NotFound(`no person with the id ${text} is known`);
  return {
    person: nameOf(member, user),
    attributes: Object.fromEntries([...(user?.attributes ?? [])].map(([key, { value }]) => [key, value])),
    bound:
      role === undefined
        ? null
        : { id: bound?.role ?? role, user: bound?.userId ?? null, state: bound?.state ?? 'unknown' },
    groups: groups.sort((a, b) => (a.name ?? a.group).localeCompare(b.name ?? b.group)),
    timeline: entries.filter(isAbout),
  };
}

async function personGroup(
  state: GroupState,
  member: MemberId,
  context: RequestContext,
): Promise<PersonPage['groups'][number]> {
  const [known] = await knownMembers(state, context.ports, [member]);
  const isWanted = known?.isWanted === true;
  return {
    group: state.ref.group,
    name: state.registers.name?.value ?? null,
    directory: isWanted,
    platform: (await usersOf(state, context)).has(known?.user ?? ''),
    pending: isWanted ? (known?.register.pending?.cause ?? null) : null,
  };
}

async function connectionPage({ connection, ports }: RequestContext): Promise<ConnectionPage> {
  const known = await requireConnection(connection, ports);
  const isRead = known.settings.directory !== null;
  const [rows, status, tokens, reader] = await Promise.all([
    listConnections(ports),
    readStatus(known, ports),
    listTokens(connection, ports),
    isRead ? readDirectoryStatus(known, ports) : null,
  ]);
  const row = rows.find(({ name }) => name === connection);
  if (row === undefined) throw new NotFound(`there is no connection ${connection}`);
  return {
    row,
    credential: status.credential,
    feedAgeMs: status.feed.cursorAgeMs,
    sources: status.sources,
    reader,
    backlog: status.backlog,
    settings: known.settings,
    requests: rowsOf(known),
    tokens: tokens.map(tokenRow),
  };
}
