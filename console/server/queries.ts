import { SentEvents } from '../../shared/contract/answers/deliveries.ts';
import { readDirectoryStatus } from '../../shared/directory/operate/status.ts';
import { blockOf } from '../../shared/domain/block.ts';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { type GroupRef, type MemberId, memberId } from '../../shared/domain/ids.ts';
import { listSessions } from '../../shared/operate/console-sessions.ts';
import { describeDeadLetter } from '../../shared/operate/dead-letters/describe.ts';
import { surveyDeadLetters } from '../../shared/operate/dead-letters/survey.ts';
import { examine } from '../../shared/operate/doctor/doctor.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { groupsOfMember } from '../../shared/operate/find-member.ts';
import { findGroup, NotFound } from '../../shared/operate/names.ts';
import { membersOfEmployee } from '../../shared/operate/person.ts';
import { listPlatformGroups } from '../../shared/operate/platform-groups.ts';
import { rehireOf } from '../../shared/operate/rehires.ts';
import { rowsOf } from '../../shared/operate/setting-requests.ts';
import { listConnections, readableConnection, requireConnection } from '../../shared/operate/settings.ts';
import { formatKeptMembers, readStatus } from '../../shared/operate/status.ts';
import { formatTask } from '../../shared/operate/tasks.ts';
import { blockRow } from '../../shared/operate/who.ts';
import { tokenRow } from '../../shared/scim/operate/tokens.ts';
import { listTokens } from '../../shared/scim/tokens/tokens.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { personsBoundTo } from '../../shared/sync/match/resolve.ts';
import { parseSearch } from '../search.ts';
import { withoutHiddenOwners, withoutMessages } from './access.ts';
import { type Entry, matchesFilter } from './activity.ts';
import type { RequestContext } from './context.ts';
import { deliveriesPage } from './deliveries.ts';
import { groupDetail } from './group.ts';
import { usersOf } from './group-reads.ts';
import { holdPage } from './hold.ts';
import { groupTimeline, pastMembers } from './past.ts';
import { findPeople, knownMembers, nameOf, sinceOf } from './people.ts';
import { BOTH_QUEUES } from './session.ts';
import { settingFields } from './setting-fields.ts';

const DEAD_LETTERS_SHOWN = 1_000;
const PAGE = 200;

export type ConsoleQuery = (query: URLSearchParams, context: RequestContext) => Promise<unknown>;

/** The read-only queries of the page, by the last part of the path. */
export const QUERIES = {
  home: async (_, { overview, seesMessages }) => {
    const home = await overview.home();
    return seesMessages ? home : { ...withoutMessages(home), causes: [] };
  },
  live: (_, { overview }) => overview.live(),
  groups: (query, { overview }) =>
    overview.groups({
      text: query.get('text') ?? '',
      state: query.get('state') || undefined,
      sort: query.get('sort') || 'state',
      ...rangeOf(query),
    }),
  group: async (query, context) => groupDetail(await refOf(query, context), context),
  timeline: async (query, context) => groupTimeline(await refOf(query, context), query.get('span'), context),
  past: async (query, context) => pastMembers(await refOf(query, context), query.get('at'), context),
  plan: async (query, context) => {
    const ref = await refOf(query, context);
    return { ...(await planGroup(ref, context.ports)), name: await context.overview.nameOf(ref.group) };
  },
  holds: (_, { overview }) => overview.holds(),
  platformGroups: async (_, { connection, ports, sees }) =>
    withoutHiddenOwners(await listPlatformGroups(await requireConnection(connection, ports), ports), sees),
  hold: async (query, context) =>
    holdPage(await refOf(query, context), query.get('set') ?? undefined, context),
  people: (query, { connection, overview, ports }) =>
    findPeople(connection, query.get('text') ?? '', overview.allMembers, ports),
  unmatched: (query, { overview }) =>
    overview.unmatched({
      cause: query.get('cause') || undefined,
      sort: query.get('sort') ?? '',
      ...rangeOf(query),
    }),
  person: (query, context) => personPage(query.get('member') ?? '', context),
  explain: async (query, context) => {
    const connection = await requireConnection(context.connection, context.ports);
    const ref = await refOf(query, context);
    return explainMember(ref, query.get('member') ?? '', { connection, ports: context.ports });
  },
  activity: async (query, { overview }) => {
    const { entries, isCut } = await overview.activity();
    const { from, count } = rangeOf(query);
    const since = query.get('since') || undefined;
    const delivery = query.get('delivery');
    const filter = {
      delivery: delivery === null ? undefined : SentEvents.parse(JSON.parse(delivery)),
      ...parseSearch(query.get('text') ?? ''),
      sinceMs: since === undefined ? undefined : Date.parse(since),
    };
    const found = entries.filter((entry) => matchesFilter(entry, filter));
    return { entries: found.slice(from, from + count), found: found.length, isCut };
  },
  deliveries: deliveriesPage,
  deliverySurvey: (_, { overview }) => overview.deliveries(),
  deadLetters: async (_, { connection, ports, session, overview, signal }) => {
    const options = { queues: BOTH_QUEUES, limit: DEAD_LETTERS_SHOWN, signal, patienceSeconds: 0 };
    const survey = await session.inSequence(() => surveyDeadLetters(ports, options));
    const names = new Map<string, string>();
    for (const { group, connection: of } of survey.messages) {
      const name = group === null || of !== connection ? null : await overview.nameOf(group);
      if (group !== null && name !== null) names.set(group, name);
    }
    return { ...survey, names: Object.fromEntries(names) };
  },
  deadLetter: async (query, { ports, session }) =>
    (await describeDeadLetter(await session.find(query.get('id') ?? ''), ports)).document,
  sessions: async (_, { connection, ports }) => ({
    sessions: await listSessions(connection, ports),
  }),
  connection: (_, context) => connectionPage(context),
  doctor: async (_, { prefix, connection, ports, formatCommands }) => {
    const { checks } = await examine({ prefix, connection }, ports);
    return { checks: checks.map((one) => ({ ...one, fix: one.fix && formatCommands(one.fix, connection) })) };
  },
} satisfies Readonly<Record<string, ConsoleQuery>>;

function rangeOf(query: URLSearchParams): { readonly from: number; readonly count: number } {
  const whole = (name: string, otherwise: number) =>
    Math.max(0, Math.trunc(Number(query.get(name) ?? otherwise)));
  return { from: whole('from', 0) || 0, count: Math.min(whole('count', PAGE) || PAGE, 10_000) };
}

const refOf = (query: URLSearchParams, { connection, ports }: RequestContext): Promise<GroupRef> =>
  findGroup(connection, query.get('group') ?? '', ports);

async function personPage(text: string, context: RequestContext) {
  const { connection, ports, overview } = context;
  const member = memberId(text);
  const user = (await ports.users.read(connection, [member])).get(member);
  const role = user?.role;
  const current = await ports.connections.find(connection);
  const [bound] = current && user ? await personsBoundTo([user], current, ports.people) : [];
  const members = current === undefined ? [member] : await membersOfEmployee(member, current, ports);
  const block = blockOf(current?.blocks, { ...(bound ?? user), member });
  const groups: Awaited<ReturnType<typeof personGroup>>[] = [];
  for (const id of members) {
    for (const group of await groupsOfMember(connection, id, ports)) {
      const state = await ports.groups.read({ connection, group });
      if (state !== undefined) groups.push(await personGroup(state, id, context));
    }
  }
  const { entries } = await overview.activity();
  const ids = new Set([...members, role, bound?.role, bound?.userId].filter((id) => id !== undefined));
  const isAbout = ({ member, before, after }: Entry['changes'][number]) =>
    [member, ...(before?.split(', ') ?? []), ...(after?.split(', ') ?? [])].some((id) =>
      ids.has(id as never),
    );
  const timeline = entries.flatMap((entry) => {
    const changes = entry.changes.filter(isAbout);
    // For a person, the creation of a group is an addition to it.
    const action = entry.action === 'create' ? 'patch' : entry.action;
    return changes.length === 0 ? [] : [{ ...entry, action, changes, changeCount: changes.length }];
  });
  if (user === undefined && groups.length === 0) throw new NotFound(`no person with the id ${text} is known`);
  return {
    person: nameOf(member, user),
    attributes: Object.fromEntries([...(user?.attributes ?? [])].map(([key, { value }]) => [key, value])),
    bound:
      role === undefined
        ? null
        : { id: bound?.role ?? role, user: bound?.userId ?? null, state: bound?.state ?? 'unknown' },
    rehire: (current && (await rehireOf(user, current, ports))) ?? null,
    blocked: block === undefined ? null : blockRow(block),
    groups: groups.sort(
      (a, b) => Number(isSame(a)) - Number(isSame(b)) || (a.name ?? a.group).localeCompare(b.name ?? b.group),
    ),
    timeline,
  };
}

const isSame = ({ directory, platform }: { directory: boolean; platform: boolean }) => directory === platform;

async function personGroup(state: GroupState, member: MemberId, context: RequestContext) {
  const [known] = await knownMembers(state, context.ports, [member]);
  const isWanted = known?.isWanted === true;
  return {
    group: state.ref.group,
    member,
    name: state.registers.name?.value ?? null,
    directory: isWanted,
    platform: (await usersOf(state, context)).has(known?.user ?? ''),
    pending: isWanted ? (known?.register.pending?.cause ?? null) : null,
    since: known === undefined ? null : sinceOf(known, state),
  };
}

async function connectionPage({ connection, ports }: RequestContext) {
  const known = await readableConnection(connection, ports);
  const isRead = known.settings.directory !== null;
  const [rows, status, tokens, reader, scim] = await Promise.all([
    listConnections(ports),
    readStatus(known, ports),
    listTokens(connection, ports),
    isRead ? readDirectoryStatus(known, ports) : null,
    ports.deployment.scim().catch(() => undefined),
  ]);
  const row = rows.find(({ name }) => name === connection);
  if (row === undefined) throw new NotFound(`there is no connection ${connection}`);
  return {
    row,
    credential: status.credential,
    tasks: status.tasks.map((one) => [one.task, formatTask(one)] as const),
    sources: status.sources,
    keptMembers: status.keptMembers.total === 0 ? null : formatKeptMembers(status.keptMembers),
    openMoves: status.openMoves,
    reader,
    backlog: status.backlog,
    settings: known.settings,
    fields: settingFields(),
    requests: rowsOf(known),
    blocked: status.blocked,
    tokens: tokens.map(tokenRow),
    scimUrl: scim?.url ?? null,
  };
}
