import type { SQSClient } from '@aws-sdk/client-sqs';
import { InvalidSettingError, parseSettings } from '../shared/contract/change-setting.ts';
import {
  recordAcceptedDeletions,
  recordDeletedGroups,
} from '../shared/directory/operate/accept-deletions.ts';
import { planTakeover, type TakeoverTarget, takeOverGroups } from '../shared/directory/operate/takeover.ts';
import type { Hold } from '../shared/domain/hold.ts';
import {
  type ConnectionName,
  connectionName,
  type GroupRef,
  groupId,
  memberId,
  platformGroupId,
  platformUserId,
  roleId,
} from '../shared/domain/ids.ts';
import { blockPerson, unblockPerson } from '../shared/operate/block.ts';
import { storeConnection } from '../shared/operate/connect/connect.ts';
import {
  discardDeadLetters,
  findDeadLetters,
  problemsOf,
  sendAmended,
} from '../shared/operate/dead-letters/amend.ts';
import { replayDeadLetters } from '../shared/operate/dead-letters/replay.ts';
import { surveyDeadLetters } from '../shared/operate/dead-letters/survey.ts';
import { decideRequests } from '../shared/operate/decisions.ts';
import { type EventLine, sendEvents } from '../shared/operate/events.ts';
import { forgetMember } from '../shared/operate/forget.ts';
import { approveHold, rejectHold } from '../shared/operate/holds.ts';
import { NotFound, Refused } from '../shared/operate/names.ts';
import { adoptGroup, releaseGroup } from '../shared/operate/ownership.ts';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../shared/operate/pausing.ts';
import { rebindMember } from '../shared/operate/rebind.ts';
import { endRestore } from '../shared/operate/restated.ts';
import { rowsOf } from '../shared/operate/setting-requests.ts';
import { changeSettings, planSettings, removeConnection } from '../shared/operate/settings.ts';
import { createMailbox } from '../shared/queues/mailbox.ts';
import { createEventSender } from '../shared/queues/sqs-batch.ts';
import { issueToken } from '../shared/scim/operate/tokens.ts';
import type { Connection } from '../shared/sync/ports/connections.ts';
import type { CredentialVault } from '../shared/sync/ports/secrets.ts';
import { wakeGroups } from '../shared/sync/wake.ts';
import type { EnginePorts } from './engine.ts';
import { type Imported, type ImportSession, importMembers, undoImport, undoTo } from './imports.ts';
import { isAdministrator, PERSONS } from './persons.ts';
import { queueUrl } from './queues.ts';
import type { DirectoryAction, OperatorAction } from './simulation-run.ts';

/**
 * The answer to an action. `requested`: a second person must confirm it. `first`: the first of two approvals.
 * `nothing`: there was nothing to do. `unanswered`: the command crashed.
 */
type Answer = 'done' | 'refused' | 'requested' | 'first' | 'nothing' | 'unanswered';

/** An action that a person performed, as the person knows it. */
export interface OperatorDone {
  /** The time of the answer. */
  readonly atMs: number;
  readonly connection: string;
  readonly kind: OperatorAction['kind'];
  /** The whole action, with its arguments. */
  readonly action: OperatorAction;
  /** The actor id of the person. */
  readonly by: string;
  readonly answer: Answer;
  /** The actor id of the person who confirmed the request of `by`. */
  readonly confirmedBy?: string;
  readonly group?: string;
  readonly member?: string;
  /** The role that the action names, and its user id on the platform at the start of the command. */
  readonly role?: string;
  readonly userId?: string;
  /** The start of the command. */
  readonly startedMs?: number;
  /** True if the action was done, or may have been done by a command that crashed. */
  readonly done: boolean;
  readonly crashed?: boolean;
  /** A new SCIM token. It is not valid until the request is confirmed. */
  readonly token?: string;
  /** The groups that move to another source, with the groups of that source. */
  readonly moves?: readonly { readonly from: string; readonly to: string }[];
  /** The users whose removal the decision covers. */
  readonly removals?: readonly string[];
  readonly imported?: Imported;
}

/** Returns whether a takeover made another source the owner of the group, and no later one gave it back. */
export const hasMoved =
  (actions: readonly OperatorDone[]) =>
  (connection: string, group: string): boolean => {
    const moves = actions.flatMap((one) => (one.connection === connection && one.moves) || []);
    return moves.findLast(({ from, to }) => from === group || to === group)?.from === group;
  };

/** The hold as the operator's screen showed it. The hold may have changed since then. */
export type Screen = Pick<Hold, 'digest' | 'decision'> & { readonly users: readonly string[] };

/** The data that a command of an operator needs, in addition to the ports of the engine. */
export interface Session extends ImportSession {
  readonly sqs: SQSClient;
  readonly secretsManager: CredentialVault;
  /** The hold as the operator's screen showed it; undefined if the screen showed no hold. */
  readonly screen: Screen | undefined;
  /** Returns the id of a platform group that the directory group of this action can adopt. */
  readonly candidate: () => string | undefined;
  /** Returns a valid credential for the platform of the company. */
  readonly token: (company: string) => string;
  readonly settingsFor: (company: string) => object;
  /** Returns the lines of a file with this event. */
  readonly linesOf: (event: DirectoryAction) => AsyncIterable<EventLine>;
  /** Reads the directory, and deletes the groups that it misses. @returns the deleted groups */
  readonly acceptDeletions: () => Promise<readonly string[]>;
  readonly openRequests: () => readonly OperatorDone[];
  /** Called with the plan of a takeover, which the command shows before it begins. */
  readonly onPlan: (moves: NonNullable<OperatorDone['moves']>) => void;
  /** Returns the edited body of a dead-lettered message. */
  readonly withPresentTime: (body: string) => string;
}

const REASON = 'simulated action';

interface Outcome extends Pick<OperatorDone, 'answer' | 'removals' | 'token' | 'moves' | 'imported'> {
  /** The requests that the action confirmed. */
  readonly confirmed?: readonly OperatorDone[];
}

/** Performs an action of a person with the functions that the command line uses. */
export async function operate(
  { connection, action, by }: Pick<OperatorDone, 'connection' | 'action' | 'by'>,
  ports: EnginePorts,
  session: Session,
): Promise<Outcome> {
  const caller = async () => ({ kind: 'operator' as const, id: by });
  const tool = { ...ports, ...toolsOf(session, caller), caller, persons: PERSONS };
  const on = { name: connectionName(connection), by, tool, session };
  const outcome = await (COMMANDS[action.kind] as Command<OperatorAction>)(on, action).catch(answerOf);
  const whole = typeof outcome === 'object' ? outcome : ({ answer: outcome ? 'done' : 'nothing' } as const);
  return { ...whole, ...(session.screen && { removals: decidedBy(action, session.screen) }) };
}

/** @throws the error, if it may have happened after a part of the action was done */
function answerOf(error: unknown): Outcome {
  if (error instanceof Refused && error.message.startsWith('nothing was removed yet'))
    return { answer: 'first' };
  const isKnown = [Refused, InvalidSettingError, NotFound].some((known) => error instanceof known);
  if (isKnown || (error instanceof Error && error.message.startsWith('nothing was changed')))
    return { answer: 'refused' };
  throw error;
}

const decidedBy = (action: OperatorAction, { users }: Screen): readonly string[] =>
  'isPart' in action && action.isPart ? users.filter((_, at) => at % 2 === 0) : users;

/** What a command of the person `by` works with. */
interface On {
  readonly name: ConnectionName;
  readonly by: string;
  readonly tool: Tool;
  readonly session: Session;
}
type Command<Action> = (on: On, action: Action) => Promise<boolean | Outcome>;
/** The part of the union that has this kind. */
type ActionOf<Kind, One = OperatorAction> = One extends { readonly kind: infer Own }
  ? Kind extends Own
    ? One
    : never
  : never;

const refOf = ({ name }: On, { group }: { readonly group: string }): GroupRef => ({
  connection: name,
  group: groupId(group),
});
const done = () => true;

/** A command returns true if it was done, and false if there was nothing to do. */
const COMMANDS: { readonly [Kind in OperatorAction['kind']]: Command<ActionOf<Kind>> } = {
  approve: decide,
  reject: decide,
  pause: (on, action) => pauseGroup(refOf(on, action), on.tool),
  resume: (on, action) => resumeGroup(refOf(on, action), on.tool),
  release: (on, action) => releaseGroup(refOf(on, action), on.tool),
  async adopt(on, action) {
    const candidate = on.session.candidate();
    if (candidate === undefined) return false;
    return (await adoptGroup(refOf(on, action), platformGroupId(candidate), on.tool)).kind === 'adopted';
  },
  sync: async (on, action) => (await wakeGroups([refOf(on, action)], on.tool, 'asked')).length === 0,
  pause_all: ({ name, tool }) => pauseConnection(name, REASON, tool).then(done),
  resume_all: ({ name, tool }) => resumeConnection(name, tool),
  async observe(on) {
    const known = await on.tool.connections.current(on.name);
    return known !== undefined && store(on, known, { ...known, observing: true });
  },
  async restore({ name, tool }) {
    const known = await tool.connections.current(name);
    const restored = known && { ...known, observing: true, restoredAtMs: tool.clock() };
    return restored !== undefined && tool.connections.save(restored).then(done);
  },
  async restated_all({ name, tool }) {
    const known = await tool.connections.current(name);
    return known !== undefined && (await endRestore(known, tool)) !== undefined;
  },
  async rebind({ name, tool }, { member, role }) {
    const binding = { member: memberId(member), role: roleId(role) };
    return (await rebindMember(name, binding, tool)) !== undefined;
  },
  block: changeBlock,
  unblock: changeBlock,
  forget: async ({ name, tool }, { member }) =>
    (await forgetMember(name, memberId(member), tool)) !== undefined,
  async set({ name, tool }, { key, value }) {
    const plan = await planSettings(name, [{ key, value }], tool);
    const { requested } = await changeSettings(plan, tool);
    return requested.length === 0 || { answer: 'requested' };
  },
  remove_connection: ({ name, tool }) => removeConnection(name, tool).then(done),
  async connect(on, { company }) {
    const settings = parseSettings(on.session.settingsFor(company));
    const known = await on.tool.connections.current(on.name);
    return store(on, known, { company, settings, observing: false });
  },
  async replay_all({ name, tool }) {
    const { replayed } = await replayDeadLetters('events', tool, { connection: name, selection: {} });
    await replayDeadLetters('apply', tool, { connection: name, selection: {} });
    return replayed > 0;
  },
  async discard_one(on) {
    const [first] = await deadLettersOf(on);
    if (first === undefined) return false;
    const { queue, message } = first;
    return (await discardDeadLetters(queue, new Set([message.id]), { reason: REASON, ports: on.tool })) === 1;
  },
  async edit_one(on) {
    for (const one of await deadLettersOf(on)) {
      const body = on.session.withPresentTime(one.message.body);
      const isValid =
        body !== one.message.body && problemsOf(body, one.message, on.tool.clock()).length === 0;
      if (isValid) return sendAmended(one, { body, reason: REASON }, on.tool);
    }
    return false;
  },
  async new_token({ name, tool }) {
    const { token, kept } = await issueToken(name, undefined, tool);
    return { answer: kept.isRequested ? 'requested' : 'done', token };
  },
  async new_client({ name, tool }) {
    const { kept } = await issueToken(name, undefined, tool, 'client');
    return { answer: kept.isRequested ? 'requested' : 'done' };
  },
  confirm: decideAllRequests,
  reject_requests: decideAllRequests,
  async takeover({ name, tool, session }, { to }) {
    const connection = await tool.connections.current(name);
    if (connection === undefined) return false;
    const target: TakeoverTarget =
      to === 'directory'
        ? { source: to, directory: await tool.directories.open(connection), replaces: false }
        : { source: to, sameIds: false };
    const plan = await planTakeover(connection, target, tool);
    if (plan.groups.length === 0) return false;
    const moves = plan.groups.map(({ group, target }) => ({ from: group, to: target }));
    session.onPlan(moves);
    await takeOverGroups(connection, plan, tool);
    return { answer: 'done', moves };
  },
  async send({ name, tool, session }, { event }) {
    const options = { connection: name, keptBy: name };
    return (await sendEvents(session.linesOf(event), options, tool)).messages > 0;
  },
  import: importMembers,
  undo_import: undoImport,
  undo: undoTo,
  async accept_deletions({ name, tool, session }) {
    await recordAcceptedDeletions(name, tool);
    await recordDeletedGroups(name, await session.acceptDeletions(), tool);
    return true;
  },
};

async function decide(on: On, action: ActionOf<'approve'>): Promise<boolean> {
  const {
    by,
    tool,
    session: { screen },
  } = on;
  if (screen === undefined) return false;
  const { digest, decision } = screen;
  const users = action.isPart ? decidedBy(action, screen).map(platformUserId) : undefined;
  const request = { reason: REASON, digest, decision, users, isAdministrator: isAdministrator(by) };
  const change = action.kind === 'approve' ? approveHold : rejectHold;
  return (await change(refOf(on, action), request, tool)).kind === 'decided';
}

async function store(
  { name, tool, session }: On,
  known: Connection | undefined,
  wanted: Omit<Connection, 'name'>,
): Promise<boolean> {
  const token = session.token(wanted.company);
  await storeConnection({ ...wanted, name, known, token }, tool);
  return true;
}

/** The keys of requests that are not about a setting. */
const KEYS: Readonly<Partial<Record<OperatorDone['kind'], string>>> = {
  new_token: 'scim_token',
  new_client: 'scim_token',
  unblock: 'unblock',
};

async function decideAllRequests(
  { name, tool, session }: On,
  { kind }: ActionOf<'confirm'>,
): Promise<boolean | Outcome> {
  const known = await tool.connections.current(name);
  const shown = known === undefined ? [] : rowsOf(known);
  if (shown.length === 0) return false;
  const asked = session.openRequests();
  await decideRequests(name, { isConfirmed: kind === 'confirm', shown }, tool);
  const keyOf = ({ action }: OperatorDone) =>
    action.kind === 'set' ? action.key.split('.')[0] : KEYS[action.kind];
  const confirmed = asked.filter((one) => shown.some(({ key }) => key === keyOf(one)));
  return { answer: 'done', confirmed: kind === 'confirm' ? confirmed.map(asDone) : [] };
}

const asDone = (one: OperatorDone): OperatorDone => ({ ...one, answer: 'done', done: true });

async function deadLettersOf({ name, tool }: On) {
  const { messages } = await surveyDeadLetters(tool, { queues: ['events'], limit: 10 });
  const ids = messages.map(({ id }) => id);
  const found = await findDeadLetters(ids, ['events'], tool);
  return found.filter(({ message }) => message.connection === name);
}

async function changeBlock(
  { name, tool }: On,
  { kind, role }: ActionOf<'block'>,
): Promise<boolean | Outcome> {
  const change = kind === 'block' ? blockPerson : unblockPerson;
  const { outcome } = await change(name, { text: role, reason: REASON }, tool);
  return outcome === 'requested' ? { answer: outcome } : outcome === `${kind}ed`;
}

type Tool = EnginePorts & ReturnType<typeof toolsOf> & { readonly persons: typeof PERSONS };

function toolsOf({ sqs, secretsManager }: Session, caller: EnginePorts['caller']) {
  return {
    vault: secretsManager,
    events: createEventSender(sqs, async () => queueUrl('events'), caller),
    mailboxes: {
      events: createMailbox(sqs, { name: 'events', queueUrl: async () => queueUrl('eventsDlq') }),
      apply: createMailbox(sqs, { name: 'apply', queueUrl: async () => queueUrl('applyDlq') }),
    },
  };
}
