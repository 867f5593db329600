import { MESSAGE_ATTRIBUTES } from '../shared/contract/names.ts';
import type { Removals } from '../shared/domain/hold.ts';
import { actsOf } from './acts.ts';
import { heldUsers } from './checks/stored.ts';
import { baseUrlOf, type Cloud, groupItem, linkIn, platformOf } from './cloud.ts';
import { requestByScim, type ScimLanes } from './consumers.ts';
import { type DirectoryHappening, messagesOf } from './messages.ts';
import { type OperatorDone, operate, type Screen, type Session } from './operators.ts';
import { OPERATORS, personIn } from './persons.ts';
import type { SimulatedPlatform } from './platform/platform.ts';
import { keptSpokeId } from './platform/rules.ts';
import { IMPORT_SOURCES, ownEvents } from './reader/reader-events.ts';
import { readOnce } from './reader/readers.ts';
import { type Happening, MINUTE_MS, originalName, type SourceAction, START_MS } from './simulation-run.ts';

type OperatorHappening = Extract<Happening, { readonly actor: 'operator' }>;

/** An operator stops a command that runs longer than this. */
const PATIENCE_MS = 30 * MINUTE_MS;

export function startHappenings(cloud: Cloud): void {
  const screens = createScreens(cloud);
  const lanes: ScimLanes = new Map();
  for (const happening of cloud.run.happenings) {
    if (happening.actor === 'operator') screens.rememberScreen(happening);
    cloud.time.at(START_MS + happening.atMs, () => happen(happening));
  }

  function happen(happening: Happening): void {
    const { connection, actor, action } = happening;
    const { runLog, lambdas } = cloud;
    const platform = platformOf(cloud, connection);
    const group = 'group' in action && typeof action.group === 'string' ? { group: action.group } : {};
    if ('forMs' in action)
      cloud.troubledUntilMs = Math.max(cloud.troubledUntilMs, cloud.nowMs() + action.forMs);
    const isFault = actor === 'platform' || action.kind === 'directoryFault';
    const what = `${isFault ? 'begins: ' : ''}${describe(action)}`;
    const lane = actor === 'source' ? 'directory' : actor;
    if (lane !== 'operator') runLog.log({ lane, connection, ...group, what });
    switch (actor) {
      case 'directory':
        sendToIngest(cloud, happening, lanes);
        return;
      case 'source':
        cloud.sources.get(connection)?.happen(action as SourceAction);
        return;
      case 'company':
        cloud.companyActions += 1;
        platform?.company(happening.action);
        return;
      case 'platform':
        platform?.begin(happening.action);
        return;
      case 'client': {
        const item = groupItem(cloud, connection, group.group ?? '');
        platform?.otherClient(happening.action, linkIn(item)?.id, undefined, { connection, ...group });
        return;
      }
      case 'operator':
        cloud.start(operateUntilDone(cloud, happening, screens.at));
        return;
      case 'aws':
        lambdas.begin(happening.action);
        return;
    }
  }
}

function sendToIngest(cloud: Cloud, happening: DirectoryHappening, lanes: ScimLanes): void {
  const { runLog, directory, nowMs, queues } = cloud;
  const { action, way, connection } = happening;
  if (way.form !== 'scim_request' && isUnread(cloud, happening)) return;
  const where = {
    connection,
    ...('group' in action && { group: action.group }),
    ...('member' in action && { member: action.member }),
  };
  runLog.fired(`directory:${action.kind}`, where);
  if (way.eventId !== undefined) runLog.fired('way:equal_stamps');
  if ('members' in action && action.members.some((one) => one.startsWith('n'))) runLog.fired('way:numbered');
  if (way.by !== undefined) runLog.fired('way:actor');
  const token = cloud.scimTokens.get(connection);
  if (way.form === 'scim_request' && token !== undefined) requestByScim(cloud, happening, lanes, token);
  for (const message of messagesOf(happening, nowMs())) {
    runLog.fired(`way:${way.form}`, where);
    const attributes = { [MESSAGE_ATTRIBUTES.connection]: message.connection };
    const sent = queues.of.events.send({ body: message.body, attributes }, message.delayMs, message.copies);
    if (sent !== undefined) directory.sent(message, { messageId: sent.id, sentAtMs: sent.sentAtMs });
  }
}

/** Returns whether the reader has not read this group yet. Until then, no other producer sends its events. */
function isUnread(
  { sources, table }: Cloud,
  { connection, action }: Pick<Happening, 'connection' | 'action'>,
) {
  const group = 'group' in action ? action.group : '';
  return sources.has(connection) && !table.items.has(`C#${connection} READER#${group}`);
}

/** Stores the screens of operators. An operator may decide later, when the screen is outdated. */
function createScreens(cloud: Cloud) {
  const seen = new Map<string, Screen | undefined>();
  const screenOf = (connection: string, group: string): Screen | undefined => {
    const item = groupItem(cloud, connection, group);
    const [hold] = (item?.['removals'] as Removals | undefined)?.sets ?? [];
    return hold && { ...hold, users: heldUsers(cloud.under, connection, group, hold.digest) };
  };
  return {
    rememberScreen({ atMs, connection, action }: OperatorHappening) {
      if (!('oldMs' in action) || action.oldMs === 0) return;
      const thenMs = START_MS + atMs - action.oldMs;
      cloud.time.at(thenMs, () =>
        seen.set(`${connection} ${action.group} ${thenMs}`, screenOf(connection, action.group)),
      );
    },
    at: (connection: string, group: string, oldMs: number): Screen | undefined =>
      oldMs === 0 ? screenOf(connection, group) : seen.get(`${connection} ${group} ${cloud.nowMs() - oldMs}`),
  };
}

/** Returns the id of the platform group with this external id, or of the one that groupsync wrote last with this id. */
function platformGroupIdOf({ groups, traits, writes }: SimulatedPlatform, group: string) {
  const spokeId = keptSpokeId(group, traits.spokeIds);
  const shown = [...groups.values()].find((one) => one.spokeId === spokeId);
  return (shown ?? writes.findLast((one) => one.spokeId === spokeId && groups.has(one.id)))?.id;
}

type ScreenOf = (connection: string, group: string, oldMs: number) => Screen | undefined;

const REPEATED_AFTER_MS = 10 * MINUTE_MS;

/**
 * Performs an action of an operator. If the run removes a connection and connects it again under another name, both
 * commands are repeated until they succeed. So is a takeover. If a removal crashed after its last step, the repeated command finds
 * nothing to remove.
 */
async function operateUntilDone(cloud: Cloud, happening: OperatorHappening, screenOf: ScreenOf) {
  const { connection, action } = happening;
  const isReturn = cloud.run.connections.some(
    ({ isLater, name }) => isLater && originalName(name) === originalName(connection),
  );
  const isStored = () => cloud.table.items.has(`C#${connection} CONNECTION`);
  const isLeft = () =>
    action.kind === 'takeover' ||
    (isReturn && (action.kind === 'connect' || (action.kind === 'remove_connection' && isStored())));
  while (!(await operateIn(cloud, happening, screenOf)) && isLeft() && !cloud.isOver) {
    await cloud.time.sleep(REPEATED_AFTER_MS);
  }
}

export async function operateIn(
  cloud: Cloud,
  { connection, action: drawn, by = FIRST }: Pick<OperatorHappening, 'connection' | 'action' | 'by'>,
  screenOf: ScreenOf = () => undefined,
): Promise<boolean> {
  const { connections, directory, nowMs } = cloud;
  // The server gave the groups of SCIM other ids than the run.
  const group = 'group' in drawn ? (directory.idOf(connection, drawn.group) ?? drawn.group) : '';
  const idOf = (member: string) => directory.idOf(connection, member) ?? member;
  const action = {
    ...drawn,
    ...('group' in drawn && { group }),
    ...('members' in drawn && { members: drawn.members.map(idOf) }),
  } as typeof drawn;
  if (action.kind === 'import' && isUnread(cloud, { connection, action })) return true;
  const spec = cloud.run.connections.find(({ name }) => name === connection);
  const screen = 'oldMs' in action ? screenOf(connection, action.group, action.oldMs) : undefined;
  const userId = 'role' in action && platformOf(cloud, connection)?.employees.get(action.role)?.userId;
  const about = {
    ...{ connection, kind: action.kind, action, by },
    ...('group' in action && { group: action.group }),
    ...('member' in action && { member: action.member }),
    ...('role' in action && { role: action.role }),
    startedMs: nowMs(),
    ...(userId && { userId }),
  };
  let planned: Pick<OperatorDone, 'moves'> = {};
  const completed = await cloud.invoke('operator', PATIENCE_MS, async (container) => {
    const onPlan = (moves: NonNullable<OperatorDone['moves']>) => {
      planned = { moves };
    };
    const session = { ...container, ...sessionOf(cloud, about), screen, onPlan };
    const { confirmed, ...outcome } = await operate(about, container.ports, session);
    note(cloud, { ...about, ...outcome, atMs: nowMs(), done: outcome.answer === 'done' });
    for (const one of confirmed ?? []) note(cloud, { ...one, atMs: nowMs(), confirmedBy: by });
  });
  // Two operators may connect and remove the same connection at the same time, so either command may take effect last.
  // A crashed command may also have completed. So only the stored state shows the result.
  const stored = cloud.table.items.get(`C#${connection} CONNECTION`);
  if (stored === undefined) connections.delete(connection);
  else if (spec !== undefined && !connections.has(connection))
    connections.set(connection, { ...spec, company: String(stored['company']) });
  // A crashed command may have done any part of its work. So the checks accept each possible state.
  const half = { answer: 'unanswered', done: action.kind !== 'release', crashed: true } as const;
  if (completed) return true;
  const mayBeDone = action.kind === 'confirm' ? openRequests(cloud, connection) : [];
  cloud.actions.push({ ...about, ...planned, atMs: nowMs(), ...half, removals: screen?.users ?? [] });
  for (const one of mayBeDone) cloud.actions.push({ ...one, atMs: nowMs(), ...half, confirmedBy: by });
  return false;
}

const [FIRST = ''] = OPERATORS;

/** Returns what a command needs in addition to its container. */
function sessionOf(
  cloud: Cloud,
  { connection, action, by }: Pick<OperatorDone, 'connection' | 'action' | 'by'>,
): Omit<Session, 'screen' | 'sqs' | 'secretsManager' | 'onPlan'> {
  const { nowMs, directory } = cloud;
  const spec = cloud.run.connections.find(({ name }) => name === connection);
  return {
    candidate: () => {
      const platform = platformOf(cloud, connection);
      return 'group' in action && platform ? platformGroupIdOf(platform, action.group) : undefined;
    },
    token: (company) => {
      const token = `token-${connection}-${company}-${nowMs()}`;
      cloud.platforms.get(company)?.tokens.add(token);
      return token;
    },
    withPresentTime: (body) => directory.withPresentTime(body, nowMs()),
    async *linesOf(event) {
      const happening = actsOf(connection).event(nowMs(), event) as DirectoryHappening;
      for (const [index, message] of messagesOf(happening, nowMs()).entries()) {
        directory.sent({ ...message, sentBy: [by] }, { messageId: '', sentAtMs: nowMs() });
        yield { line: index + 1, text: message.body };
      }
    },
    recording: ({ send }) => ({
      send(messages) {
        for (const { body } of messages) {
          const events = ownEvents(body, IMPORT_SOURCES);
          const message = { connection, body, events, delayMs: 0, copies: 1, sentBy: [by] };
          directory.sent(message, { messageId: '', sentAtMs: nowMs() });
        }
        return send(messages);
      },
    }),
    lastImport() {
      const isOfGroup = (one: OperatorDone) => 'group' in action && one.group === action.group;
      const own = cloud.actions.filter((one) => one.connection === connection && isOfGroup(one));
      return own.findLast(({ imported }) => imported?.id !== undefined)?.imported?.id ?? 'none';
    },
    acceptDeletions: () => readOnce(cloud, connection, true),
    settingsFor: (company) => ({ baseUrl: baseUrlOf(company), ...spec?.settings }),
    openRequests: () => openRequests(cloud, connection),
  };
}

/** Returns the actions that wait for a second person. Deciding about one of them ends all of them. */
function openRequests({ actions }: Cloud, connection: string): readonly OperatorDone[] {
  const own = actions.filter((one) => one.connection === connection);
  const last = own.findLastIndex(({ kind, done }) => done && /^(?:confirm|reject_requests)$/.test(kind));
  return own.slice(last + 1).filter(({ answer }) => answer === 'requested');
}

/** Records an answered action. If it was done, the checks and the SCIM client use its result from now on. */
function note(cloud: Cloud, record: OperatorDone): void {
  const { runLog, connections, actions } = cloud;
  const {
    action,
    kind,
    connection,
    group,
    member,
    role,
    answer,
    by,
    confirmedBy,
    token,
    done,
    moves = [],
  } = record;
  // The checks accept no token that was created after the removal of its connection.
  const isOfRemoved = actions.some(
    (one) => one.kind === 'remove_connection' && one.connection === connection,
  );
  actions.push(record);
  const place = { connection, ...(group !== undefined && { group }) };
  const what = `${personIn(confirmedBy ?? by)}: ${describe(action)}${done ? '' : `: ${answer}`}`;
  runLog.log({ lane: 'operator', ...place, what });
  runLog.fired(done ? `operator:${kind}` : `operator:${kind}:${answer}`, { ...place, member, role });
  if (!done) return;
  if (action.kind === 'takeover')
    for (const { from } of moves) runLog.fired(`takeover:${action.to}`, { connection, group: from });
  if (token !== undefined && !isOfRemoved)
    cloud.scimTokens.set(connection, {
      token,
      creators: confirmedBy === undefined ? [by] : [by, confirmedBy],
    });
  const spec = cloud.run.connections.find(({ name }) => name === connection);
  const now = connections.get(connection);
  if (action.kind === 'connect' && spec?.isLater) runLog.fired('returned');
  if (action.kind === 'connect' && spec !== undefined)
    connections.set(connection, { ...spec, company: action.company });
  if (action.kind !== 'set') return;
  runLog.fired(`set:${action.key}`, { connection });
  if (now !== undefined)
    connections.set(connection, { ...now, settings: { ...now.settings, [action.key]: action.value } });
}

function describe({ kind, ...rest }: Happening['action']): string {
  // The log line already contains the group. Durations are shown in minutes.
  const parts = Object.entries(rest).flatMap(([name, value]) => {
    if (name.endsWith('Ms')) return `${name.slice(0, -2)} ${Math.round(Number(value) / MINUTE_MS)} minutes`;
    return name === 'group' ? [] : `${name} ${JSON.stringify(value)}`;
  });
  return [kind, ...parts].join(' · ').slice(0, 200);
}
