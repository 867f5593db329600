import type { ProbeReport } from '../contract/answers/connect.ts';
import type { SettingRequestRow } from '../contract/answers/status.ts';
import { differingSettings, isSame, parseSettings } from '../contract/change-setting.ts';
import type { DecisionRequest } from '../contract/decision.ts';
import { mayBeSamePerson, type Persons, uncertainPerson } from '../contract/person.ts';
import type { Block } from '../domain/block.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { confirmToken } from '../scim/tokens/clients.ts';
import type { WakePorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { DecidedHold, DecidedRequests, Decisions } from '../sync/ports/decisions.ts';
import type { Functions } from '../sync/ports/deployment.ts';
import { PlatformFailure } from '../sync/ports/platform.ts';
import { replanAll } from '../sync/wake.ts';
import { approveHold, type HoldPorts, rejectHold } from './holds.ts';
import { type Action, doRecorded, type JournalPorts, journalOf } from './journal.ts';
import { Refused } from './names.ts';
import { type ProbePorts, probePlatform } from './probe.ts';
import { rowsOf } from './setting-requests.ts';
import { altersPlans, requireConnection, type SettingsPorts } from './settings.ts';

type DecisionPorts = HoldPorts & ConfirmPorts & ProbePorts;

type Decided = DecidedHold | DecidedRequests | ProbeReport;

/** Performs a decision as the caller that the ports identify. @param signal ends a probe between two of its steps */
export async function carryOut(decision: DecisionRequest, ports: DecisionPorts, signal: AbortSignal) {
  if (decision.about === 'probe')
    return probePlatform({ connection: await requireConnection(decision.connection, ports), signal }, ports);
  if (decision.about === 'settings') return decideRequests(decision.connection, decision, ports);
  const { connection, group, isApproved, users, request } = decision;
  const decide = isApproved ? approveHold : rejectHold;
  return decide({ connection, group }, { ...request, users }, ports);
}

/**
 * The answer of the function `reconcile`. A refusal is an answer and not an error, because an error of a function would
 * fire an alarm.
 */
export type DecisionAnswer =
  | { readonly outcome: Decided }
  | { readonly refused: string }
  | { readonly failed: string };

/** Returns a proof with which the function verifies who sent the text. */
export type Prove = (text: string) => Promise<Readonly<Record<string, string>>>;

/**
 * Returns the text that the proof of a decision covers. The text names the person, so the proof is valid only for this
 * person.
 */
export const provenText = (decision: string, person: string | undefined): string =>
  person === undefined ? decision : `${JSON.stringify(person)}\n${decision}`;

/**
 * Sends decisions to the function `reconcile`, so that operators need no write access to the table.
 * @param person the person who signed in to the console; undefined if the AWS identity of the sender decides
 */
export function createDecisions(functions: Functions, prove: Prove, person?: string): Decisions {
  const send = async (decision: DecisionRequest) => {
    const text = JSON.stringify(decision);
    const proof = await prove(provenText(text, person));
    const answer = (await functions.run('reconcile', {
      task: 'decide',
      connection: decision.connection,
      decision: text,
      proof,
      ...(person !== undefined && { person }),
    })) as DecisionAnswer;
    if ('refused' in answer) throw new Refused(answer.refused);
    if ('failed' in answer) throw new Error(answer.failed);
    return answer.outcome;
  };
  return {
    hold: (decision) => send({ about: 'hold', ...decision }) as Promise<DecidedHold>,
    settings: (decision) => send({ about: 'settings', ...decision }) as Promise<DecidedRequests>,
    probe: (order) => send({ about: 'probe', ...order }) as Promise<ProbeReport>,
  };
}

export async function answerDecision(
  decision: DecisionRequest,
  ports: DecisionPorts,
  signal: AbortSignal,
): Promise<DecisionAnswer> {
  try {
    return { outcome: await carryOut(decision, ports, signal) };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    const isChanged = error instanceof Error && error.message.startsWith('nothing was changed');
    if (isChanged || error instanceof PlatformFailure) return { failed: error.message };
    throw error;
  }
}

type ConfirmPorts = JournalPorts &
  Pick<SettingsPorts, 'connections' | 'index' | 'tokens'> & {
    readonly desired: WakePorts['desired'];
    readonly persons?: Persons;
  };

/**
 * Confirms or rejects the open requests of a connection. A person who made, or may have made, one of the requests
 * cannot confirm them, but any operator may reject them.
 * @param shown the requests that the operator was shown
 * @throws Refused if the caller may have made one of the requests and confirms them
 * @throws Error if the open requests differ from the shown requests
 */
export async function decideRequests(
  name: ConnectionName,
  { isConfirmed, shown }: { readonly isConfirmed: boolean; readonly shown: readonly SettingRequestRow[] },
  ports: ConfirmPorts,
): Promise<DecidedRequests> {
  const before = (await ports.connections.current(name)) ?? (await requireConnection(name, ports));
  if (!isSame(rowsOf(before), shown)) throw new Error(requestsChanged(name));
  const { requests = [], blocks = [] } = before;
  const authors = [...requests, ...blocks.flatMap(({ unblock }) => unblock ?? [])];
  const { id: caller } = await ports.caller();
  const { persons = {} } = ports;
  const own = authors.find(({ by }) => mayBeSamePerson(by, caller, persons));
  if (isConfirmed && own !== undefined)
    throw new Refused(ownRequest(own.by, uncertainPerson(own.by, caller, persons)));
  const ofTokens = requests.filter(({ key }) => key === 'scim_token');
  const ofSettings = requests.filter(({ key }) => key !== 'scim_token');
  const values = isConfirmed ? Object.fromEntries(ofSettings.map(({ key, value }) => [key, value])) : {};
  const settings = parseSettings({ ...before.settings, ...values });
  const changed = differingSettings(before.settings, settings);
  const decided = blocksAfter(blocks, isConfirmed);
  const isReplanned = altersPlans(changed) || decided.length < blocks.length;
  const replans = isReplanned ? { replanSinceMs: ports.clock() } : {};
  const after: Connection = { ...before, settings, requests: [], blocks: decided, ...replans };
  const changes = shown.map(({ key, before, after }) => {
    const kinds = key === 'unblock' || key === 'scim_token' ? KINDS[key] : KINDS.setting;
    const kind = kinds[isConfirmed ? 'confirmed' : 'rejected'];
    return { kind, before, after, reason: key };
  });
  const action: Action = {
    action: isConfirmed ? 'connections_confirm' : 'connections_reject',
    changes,
  };
  const replace = async () => {
    // After a crash, the request is still open, and its decision can be repeated.
    for (const prefix of ofTokens.map(({ value }) => String(value))) {
      if (isConfirmed) await confirmToken(name, prefix, caller, ports);
      else await ports.tokens.revoke(name, prefix, ports.clock());
    }
    return ports.connections.replace(after, before);
  };
  if (!(await doRecorded(journalOf(name), action, ports, replace))) throw new Error(requestsChanged(name));
  return { changed, replanned: isReplanned ? await replanAll(name, ports) : 0 };
}

const KINDS = {
  setting: { confirmed: 'set_setting', rejected: 'reject_setting' },
  unblock: { confirmed: 'unblock_person', rejected: 'reject_unblock' },
  scim_token: { confirmed: 'create_token', rejected: 'revoke_token' },
};

/** Ends the blocks whose end was requested and confirmed. After a rejection, the blocks stay and the requests end. */
const blocksAfter = (blocks: readonly Block[], isConfirmed: boolean): readonly Block[] =>
  blocks
    .filter(({ unblock }) => !isConfirmed || unblock === undefined)
    .map(({ unblock: _, ...block }) => block);

const ownRequest = (author: string, uncertain?: string): string =>
  `nothing was changed: ${author} made a request and cannot confirm it; ${uncertain ?? 'another person must confirm it'}`;

const requestsChanged = (name: string): string =>
  `nothing was changed: the requests have changed since they were shown; review them again: groupsync connections confirm ${name}`;
