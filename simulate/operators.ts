import type { SQSClient } from '@aws-sdk/client-sqs';
import { parseSettings } from '../shared/contract/change-setting.ts';
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
  discardDeadLetter,
  findDeadLetters,
  problemsOf,
  sendAmended,
} from '../shared/operate/dead-letters/amend.ts';
import { replayDeadLetters } from '../shared/operate/dead-letters/replay.ts';
import { surveyDeadLetters } from '../shared/operate/dead-letters/survey.ts';
import { NotFound } from '../shared/operate/find-group.ts';
import { forgetMember } from '../shared/operate/forget.ts';
import { approveHold, rejectHold } from '../shared/operate/holds.ts';
import { adoptGroup, releaseGroup } from '../shared/operate/ownership.ts';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../shared/operate/pausing.ts';
import { rebindMember } from '../shared/operate/rebind.ts';
import { issueToken } from '../shared/operate/scim-tokens.ts';
import { changeSettings, planSettings, removeConnection } from '../shared/operate/settings.ts';
import { createMailbox } from '../shared/queues/mailbox.ts';
import { createEventSender } from '../shared/queues/sqs-batch.ts';
import type { Connection } from '../shared/sync/ports/connections.ts';
import type { CredentialVault } from '../shared/sync/ports/secrets.ts';
import { wakeGroups } from '../shared/sync/wake.ts';
import type { EnginePorts } from './engine.ts';
import { queueUrl } from './queues.ts';
import type { OperatorAction } from './simulation-run.ts';

export interface OperatorDone {
  readonly atMs: number;
  readonly connection: string;
  readonly kind: OperatorAction['kind'];
  readonly group?: string;
  readonly member?: string;
  /** The role that the action names, and its user id on the platform at the start of the command. */
  readonly role?: string;
  readonly userId?: string;
  /** The start of the command. */
  readonly startedMs?: number;
  /** True if the action was done. If false, the command refused the action and printed the reason. */
  readonly done: boolean;
  readonly crashed?: boolean;
  /** The users whose removal the decision covers. */
  readonly removals?: readonly string[];
}

/** The hold as the operator's screen showed it. The hold may have changed since then. */
export type Screen = Pick<Hold, 'digest' | 'decision'> & { readonly users: readonly string[] };

/** The data that a command of an operator needs, in addition to the ports of the engine. */
interface Session {
  readonly sqs: SQSClient;
  readonly secretsManager: CredentialVault;
  /** The hold as the operator's screen showed it; undefined if the screen showed no hold. */
  readonly screen: Screen | undefined;
  /** Returns the id of a platform group that the directory group of this action can adopt. */
  readonly candidate: () => string | undefined;
  /** Returns a valid credential for the platform of the company. */
  readonly token: (company: string) => string;
  readonly settingsFor: (company: string) => object;
  /** Returns the edited body of a dead-lettered message. */
  readonly withPresentTime: (body: string) => string;
}

const REASON = 'simulated action';

/**
 * Performs an action of an operator with the functions that the command line uses.
 * @returns whether the action was done, and for a decision the removals that it covers
 */
export async function operate(
  connection: string,
  action: OperatorAction,
  ports: EnginePorts,
  session: Session,
): Promise<Pick<OperatorDone, 'done' | 'removals'>> {
  const done = await perform(connectionName(connection), action, { ...ports, ...toolsOf(session) }, session);
  return { done, ...(session.screen && { removals: decidedBy(action, session.screen) }) };
}

const decidedBy = (action: OperatorAction, { users }: Screen): readonly string[] =>
  'isPart' in action && action.isPart ? users.filter((_, at) => at % 2 === 0) : users;

async function perform(
  name: ConnectionName,
  action: OperatorAction,
  tool: Tool,
  session: Session,
): Promise<boolean> {
  const ref: GroupRef = { connection: name, group: groupId('group' in action ? action.group : 'none') };
  const store = async (known: Connection | undefined, wanted: Omit<Connection, 'name'>) => {
    const token = session.token(wanted.company);
    await storeConnection({ ...wanted, name, known, token }, tool);
    return true;
  };
  switch (action.kind) {
    case 'approve':
    case 'reject': {
      if (session.screen === undefined) return false;
      const { digest, decision } = session.screen;
      const users = action.isPart ? decidedBy(action, session.screen).map(platformUserId) : undefined;
      const decide = action.kind === 'approve' ? approveHold : rejectHold;
      return (await decide(ref, { reason: REASON, digest, decision, users }, tool)).kind === 'decided';
    }
    case 'pause':
      return pauseGroup(ref, tool);
    case 'resume':
      return resumeGroup(ref, tool);
    case 'release':
      return releaseGroup(ref, tool);
    case 'adopt': {
      const candidate = session.candidate();
      if (candidate === undefined) return false;
      return (await adoptGroup(ref, platformGroupId(candidate), tool)).kind === 'adopted';
    }
    case 'sync':
      return (await wakeGroups([ref], tool, 'asked')).length === 0;
    case 'pause_all':
      return pauseConnection(name, REASON, tool).then(() => true);
    case 'resume_all':
      return resumeConnection(name, tool);
    case 'observe': {
      const known = await tool.connections.current(name);
      return known !== undefined && store(known, { ...known, observing: true });
    }
    case 'rebind': {
      const binding = { member: memberId(action.member), role: roleId(action.role) };
      return (await rebindMember(name, binding, tool)).kind === 'rebound';
    }
    case 'block':
    case 'unblock':
      return changeBlock(name, action, tool);
    case 'forget':
      return (await forgetMember(name, memberId(action.member), tool)) !== undefined;
    case 'set': {
      const plan = await planSettings(name, [{ key: action.key, value: action.value }], tool);
      return changeSettings(plan, tool).then(() => true);
    }
    case 'remove_connection':
      return removeConnection(name, tool).then(() => true);
    case 'connect': {
      const settings = parseSettings(session.settingsFor(action.company));
      const known = await tool.connections.current(name);
      return store(known, { company: action.company, settings, observing: false });
    }
    case 'replay_all': {
      const { replayed } = await replayDeadLetters('events', tool, { connection: name, selection: {} });
      await replayDeadLetters('apply', tool, { connection: name, selection: {} });
      return replayed > 0;
    }
    case 'discard_one':
    case 'edit_one': {
      const { messages } = await surveyDeadLetters(tool, { queues: ['events'], limit: 10 });
      const ids = messages.map(({ id }) => id);
      const deadLetters = await findDeadLetters(ids, ['events'], tool);
      const ofConnection = deadLetters.filter(({ message }) => message.connection === name);
      if (action.kind === 'discard_one')
        return ofConnection[0] !== undefined && discardDeadLetter(ofConnection[0], REASON, tool);
      for (const one of ofConnection) {
        const body = session.withPresentTime(one.message.body);
        const isValid = body !== one.message.body && problemsOf(body, one.message, tool.clock()).length === 0;
        if (isValid) return sendAmended(one, { body, reason: REASON }, tool);
      }
      return false;
    }
    case 'new_token':
      return issueToken(name, undefined, tool).then(() => true);
  }
}

async function changeBlock(
  name: ConnectionName,
  { kind, role }: Extract<OperatorAction, { kind: 'block' | 'unblock' }>,
  tool: Tool,
): Promise<boolean> {
  const change = kind === 'block' ? blockPerson : unblockPerson;
  try {
    const { outcome } = await change(name, { text: role, reason: REASON }, tool);
    return outcome === `${kind}ed`;
  } catch (error) {
    // groupsync may not know the person yet, or not any more.
    if (error instanceof NotFound) return false;
    throw error;
  }
}

type Tool = EnginePorts & ReturnType<typeof toolsOf>;

function toolsOf({ sqs, secretsManager }: Session) {
  return {
    vault: secretsManager,
    events: createEventSender(sqs, async () => queueUrl('events')),
    mailboxes: {
      events: createMailbox(sqs, { name: 'events', queueUrl: async () => queueUrl('eventsDlq') }),
      apply: createMailbox(sqs, { name: 'apply', queueUrl: async () => queueUrl('applyDlq') }),
    },
  };
}
