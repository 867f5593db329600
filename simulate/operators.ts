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
  roleId,
} from '../shared/domain/ids.ts';
import { storeConnection } from '../shared/operate/connect/connect.ts';
import {
  discardDeadLetter,
  findDeadLetters,
  problemsOf,
  sendAmended,
} from '../shared/operate/dead-letters/amend.ts';
import { replayDeadLetters } from '../shared/operate/dead-letters/replay.ts';
import { surveyDeadLetters } from '../shared/operate/dead-letters/survey.ts';
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
import type { OperatorAction } from './life.ts';
import { queueUrl } from './queues.ts';

export interface OperatorDone {
  readonly atMs: number;
  readonly connection: string;
  readonly kind: OperatorAction['kind'];
  readonly group?: string;
  readonly member?: string;
  /** false: the command said why not. */
  readonly done: boolean;
  /** The command died halfway. */
  readonly died?: boolean;
  /** Of an approval: the users whose removal it approves. */
  readonly removals?: readonly string[];
}

/** The hold that an operator saw on their screen; it may be out of date when they decide. */
export type Screen = Pick<Hold, 'digest' | 'decision'> & { readonly users: readonly string[] };

/** What an operator has at hand beside the engine. */
export interface Desk {
  readonly sqs: SQSClient;
  readonly vault: CredentialVault;
  /** The hold as their screen shows it, which may be old by now; undefined where it showed none. */
  readonly screen: Screen | undefined;
  /** A platform group that the directory group of this action could be given. */
  readonly candidate: () => string | undefined;
  /** A credential that the company's platform takes. */
  readonly token: (company: string) => string;
  readonly settingsFor: (company: string) => object;
  /** What a person makes of a dead-lettered message. */
  readonly isEdited: (body: string) => string;
}

const REASON = 'as the life has it';

/** Does what one operator does, as the command line does it. @returns whether it was done, and of a decision how much */
export async function operate(
  connection: string,
  action: OperatorAction,
  ports: EnginePorts,
  desk: Desk,
): Promise<Pick<OperatorDone, 'done' | 'removals'>> {
  const done = await perform(connectionName(connection), action, { ...ports, ...toolsOf(desk) }, desk);
  return { done, ...(desk.screen && { removals: desk.screen.users }) };
}

async function perform(
  name: ConnectionName,
  action: OperatorAction,
  tool: Tool,
  desk: Desk,
): Promise<boolean> {
  const ref: GroupRef = { connection: name, group: groupId('group' in action ? action.group : 'none') };
  const store = async (known: Connection | undefined, wanted: Omit<Connection, 'name'>) => {
    const token = desk.token(wanted.company);
    await storeConnection({ ...wanted, name, known, token }, tool);
    return true;
  };
  switch (action.kind) {
    case 'approve':
    case 'reject': {
      if (desk.screen === undefined) return false;
      const { digest, decision } = desk.screen;
      const decide = action.kind === 'approve' ? approveHold : rejectHold;
      return (await decide(ref, { reason: REASON, digest, decision }, tool)).kind === 'decided';
    }
    case 'pause':
      return pauseGroup(ref, tool);
    case 'resume':
      return resumeGroup(ref, tool);
    case 'release':
      return releaseGroup(ref, tool);
    case 'adopt': {
      const candidate = desk.candidate();
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
    case 'forget':
      return (await forgetMember(name, memberId(action.member), tool)) !== undefined;
    case 'set': {
      const plan = await planSettings(name, [{ key: action.key, value: action.value }], tool);
      return changeSettings(plan, tool).then(() => true);
    }
    case 'remove_connection':
      return removeConnection(name, tool).then(() => true);
    case 'connect': {
      const settings = parseSettings(desk.settingsFor(action.company));
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
      const ours = deadLetters.filter(({ message }) => message.connection === name);
      if (action.kind === 'discard_one')
        return ours[0] !== undefined && discardDeadLetter(ours[0], REASON, tool);
      for (const one of ours) {
        const body = desk.isEdited(one.message.body);
        const isValid = body !== one.message.body && problemsOf(body, one.message, tool.clock()).length === 0;
        if (isValid) return sendAmended(one, { body, reason: REASON }, tool);
      }
      return false;
    }
    case 'new_token':
      return issueToken(name, undefined, tool).then(() => true);
  }
}

type Tool = EnginePorts & ReturnType<typeof toolsOf>;

function toolsOf({ sqs, vault }: Desk) {
  return {
    vault,
    events: createEventSender(sqs, async () => queueUrl('events')),
    mailboxes: {
      events: createMailbox(sqs, { name: 'events', queueUrl: async () => queueUrl('eventsDlq') }),
      apply: createMailbox(sqs, { name: 'apply', queueUrl: async () => queueUrl('applyDlq') }),
    },
  };
}
