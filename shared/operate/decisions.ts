import type { ProbeReport } from '../contract/answers/connect.ts';
import type { DecisionRequest } from '../contract/decision.ts';
import type { DecidedHold, DecidedRequests, Decisions } from '../sync/ports/decisions.ts';
import type { Functions } from '../sync/ports/deployment.ts';
import { PlatformFailure } from '../sync/ports/platform.ts';
import { type ConfirmPorts, decideRequests } from './confirm-settings.ts';
import { approveHold, type HoldPorts, rejectHold } from './holds.ts';
import { type ProbePorts, probePlatform } from './probe.ts';
import { Refused } from './refused.ts';
import { requireConnection } from './settings.ts';

export type DecisionPorts = HoldPorts & ConfirmPorts & ProbePorts;

type Decided = DecidedHold | DecidedRequests | ProbeReport;

/** Performs a decision as the caller that the ports identify. @param signal ends a probe between two of its steps */
export async function carryOut(
  decision: DecisionRequest,
  ports: DecisionPorts,
  signal: AbortSignal,
): Promise<Decided> {
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

/** Performs a decision that was sent to the function. @returns the answer for the sender */
export async function answerDecision(
  decision: DecisionRequest,
  ports: DecisionPorts,
  signal: AbortSignal,
): Promise<DecisionAnswer> {
  try {
    return { outcome: await carryOut(decision, ports, signal) };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    if (error instanceof PlatformFailure) return { failed: error.message };
    if (error instanceof Error && error.message.startsWith('nothing was changed'))
      return { failed: error.message };
    throw error;
  }
}
