import { parseSettings } from '../shared/contract/change-setting.ts';
import type { Hold } from '../shared/domain/hold.ts';
import {
  connectionName,
  type GroupRef,
  groupId,
  memberId,
  platformGroupId,
  roleId,
} from '../shared/domain/ids.ts';
import { storeConnection } from '../shared/operate/connect/connect.ts';
import { discardLetter, findLetters, sendAmended } from '../shared/operate/dead-letters/amend.ts';
import { replayLetters } from '../shared/operate/dead-letters/replay.ts';
import { surveyLetters } from '../shared/operate/dead-letters/survey.ts';
import { approveHold, rejectHold } from '../shared/operate/holds.ts';
import { adoptGroup, releaseGroup } from '../shared/operate/ownership.ts';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../shared/operate/pausing.ts';
import { rebindMember } from '../shared/operate/rebind.ts';
import { issueToken } from '../shared/operate/scim-tokens.ts';
import { changeSettings, planSettings, removeConnection } from '../shared/operate/settings.ts';
import { createEventSender } from '../shared/queues/event-sender.ts';
import { createMailbox } from '../shared/queues/mailbox.ts';
import { wakeGroups } from '../shared/sync/wake.ts';
import type { EnginePorts } from './engine.ts';
import type { OperatorDeed } from './life.ts';
import { type Queues, queueUrl } from './queues.ts';
import type { Vault } from './vault.ts';

export interface OperatorDone {
  readonly atMs: number;
  readonly connection: string;
  readonly kind: OperatorDeed['kind'];
  readonly group?: string;
  /** false: the command said why not. */
  readonly done: boolean;
  /** The command died halfway. */
  readonly died?: boolean;
  /** Of an approval: how many removals it permits. */
  readonly removals?: number;
}

/** What operators did, for those who judge the life. */
export interface OperatorRecord {
  readonly deeds: readonly OperatorDone[];
}

/** The hold that somebody saw on their screen, which may be old by the time they decide. */
export type Screen = Pick<Hold, 'digest' | 'removes' | 'decision'>;

/** What an operator has at hand beside the engine. */
export interface Desk {
  readonly queues: Queues;
  readonly vault: Vault;
  /** The hold as their screen shows it, which may be old by now; undefined where it showed none. */
  readonly screen: Screen | undefined;
  /** A platform group that the directory group of this deed could be given. */
  readonly candidate: () => string | undefined;
  /** A credential that the company's platform takes. */
  readonly token: (company: string) => string;
  readonly settingsFor: (company: string) => object;
}

const REASON = 'as the life has it';

/** Does what one operator does, as the command line does it. @returns whether it was done, and of an approval how much */
export async function operate(
  connection: string,
  deed: OperatorDeed,
  ports: EnginePorts,
  desk: Desk,
): Promise<Pick<OperatorDone, 'done' | 'removals'>> {
  const name = connectionName(connection);
  const tool = { ...ports, ...toolsOf(ports, desk) };
  const ref = (group: string): GroupRef => ({ connection: name, group: groupId(group) });
  switch (deed.kind) {
    case 'approve':
    case 'reject': {
      const { screen } = desk;
      if (screen === undefined) return { done: false };
      const decide = deed.kind === 'approve' ? approveHold : rejectHold;
      const outcome = await decide(
        ref(deed.group),
        { reason: REASON, digest: screen.digest, decision: screen.decision },
        ports,
      );
      return { done: outcome.kind === 'decided', removals: screen.removes };
    }
    case 'pause':
      return { done: await pauseGroup(ref(deed.group), ports) };
    case 'resume':
      return { done: await resumeGroup(ref(deed.group), ports) };
    case 'release':
      return { done: await releaseGroup(ref(deed.group), ports) };
    case 'adopt': {
      const candidate = desk.candidate();
      if (candidate === undefined) return { done: false };
      const outcome = await adoptGroup(ref(deed.group), platformGroupId(candidate), tool);
      return { done: outcome.kind === 'adopted' };
    }
    case 'sync':
      return { done: (await wakeGroups([ref(deed.group)], ports)).length === 0 };
    case 'pause_all':
      await pauseConnection(name, REASON, ports);
      return { done: true };
    case 'resume_all':
      return { done: await resumeConnection(name, ports) };
    case 'observe': {
      const known = await ports.connections.current(name);
      if (known === undefined) return { done: false };
      await storeConnection({ ...known, known, token: desk.token(known.company), observing: true }, tool);
      return { done: true };
    }
    case 'rebind': {
      const outcome = await rebindMember(
        name,
        { member: memberId(deed.member), role: roleId(deed.role) },
        ports,
      );
      return { done: outcome.kind === 'rebound' };
    }
    case 'set': {
      const plan = await planSettings(name, [{ key: deed.key, value: deed.value }], ports);
      await changeSettings(plan, tool);
      return { done: true };
    }
    case 'remove_connection':
      await removeConnection(name, tool);
      return { done: true };
    case 'connect': {
      const { company } = deed;
      const settings = parseSettings(desk.settingsFor(company));
      const known = await ports.connections.current(name);
      const request = {
        known,
        name,
        company,
        settings,
        token: desk.token(company),
        observing: false,
      };
      await storeConnection(request, tool);
      return { done: true };
    }
    case 'replay_all': {
      const { replayed } = await replayLetters('events', tool, { connection: name, selection: {} });
      await replayLetters('apply', tool, { connection: name, selection: {} });
      return { done: replayed > 0 };
    }
    case 'discard_one':
    case 'edit_one': {
      const { messages } = await surveyLetters(tool, { queues: ['events'], limit: 10 });
      const ids = messages.map(({ id }) => id);
      const letters = await findLetters(ids, ['events'], tool);
      const letter = letters.find(({ message }) => message.connection === connection);
      if (letter === undefined) return { done: false };
      if (deed.kind === 'discard_one') return { done: await discardLetter(letter, REASON, tool) };
      return { done: await sendAmended(letter, { body: letter.message.body, reason: REASON }, tool) };
    }
    case 'new_token':
      await issueToken(name, undefined, { ...ports, randomHex: randomHexOf(ports) });
      return { done: true };
  }
}

const randomHexOf = (ports: EnginePorts) => (bytes: number) =>
  Array.from({ length: bytes * 2 }, () => Math.floor(ports.random() * 16).toString(16)).join('');

function toolsOf(ports: EnginePorts, { queues, vault }: Desk) {
  const sqs = queues.client();
  return {
    vault,
    randomHex: randomHexOf(ports),
    events: createEventSender(sqs, async () => queueUrl('events')),
    mailboxes: {
      events: createMailbox(sqs, { name: 'events', queueUrl: async () => queueUrl('eventsDlq') }),
      apply: createMailbox(sqs, { name: 'apply', queueUrl: async () => queueUrl('applyDlq') }),
    },
  };
}
