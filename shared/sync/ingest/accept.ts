import { type DecodedMessage, decodeMessage, type MessageToDecode } from '../../contract/decode.ts';
import type { DirectoryEvent } from '../../domain/event.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Stamp } from '../../domain/stamp.ts';
import type { ConnectionStore } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { DeadLetterQueue, RejectedMessage } from '../ports/queues.ts';
import { ThrottledError, UnstorableError } from '../ports/store-errors.ts';

export const TIME_IS_UP = new Error('not stored, because this run had no time left');

/** Whether the cause of a failure probably ends within seconds. */
export const isPassing = (cause: unknown): boolean => cause === TIME_IS_UP || cause instanceof ThrottledError;

/** The failures of a batch, and the messages that must be received again because of these failures. */
export class Failures {
  readonly messages = new Set<string>();
  readonly causes: unknown[] = [];
  /** The messages with content that the table can never store, each with the reason. */
  readonly unstorable = new Map<string, UnstorableError>();
  /** The messages with a failure that is not `isPassing`. */
  readonly lasting = new Set<string>();

  add(cause: unknown, messageIds: Iterable<string>): void {
    if (this.causes.at(-1) !== cause) this.causes.push(cause);
    for (const id of messageIds) {
      this.messages.add(id);
      if (!isPassing(cause)) this.lasting.add(id);
      if (cause instanceof UnstorableError) this.unstorable.set(id, cause);
    }
  }
}

export interface AcceptPorts {
  readonly connections: Pick<ConnectionStore, 'find' | 'list'>;
  readonly deadLetters: DeadLetterQueue;
  readonly clock: () => number;
}

export interface IncomingMessage
  extends Omit<MessageToDecode, 'receivedAtMs' | 'knowsConnection' | 'unstorable'> {
  readonly receives?: number;
  /** The earlier failures of a replayed dead-lettered message. */
  readonly failedBefore?: string | undefined;
}

export interface AcceptedEvent {
  readonly event: DirectoryEvent;
  readonly messageId: string;
}

/** An event with content that the table can never store. */
export interface UnstorableEvent extends AcceptedEvent {
  readonly cause: UnstorableError;
}

export interface Acceptance {
  readonly accepted: AcceptedEvent[];
  readonly rejected: RejectedMessage[];
  readonly connections: Map<ConnectionName, Connection>;
  ignored: number;
}

/** Decodes every message. If a value of a message is not a valid event, only this value is dead-lettered. */
export async function acceptEvents(
  messages: readonly IncomingMessage[],
  ports: AcceptPorts,
  failures: Failures,
): Promise<Acceptance> {
  const connections = new Map<ConnectionName, Connection>();
  const result: Acceptance = { accepted: [], rejected: [], connections, ignored: 0 };
  const find = async (name: ConnectionName) => {
    const found = await ports.connections.find(name);
    if (found !== undefined) connections.set(name, found);
    return found;
  };
  for (const message of messages) {
    try {
      const { messageId, bound, failedBefore, sentBy } = message;
      const { events, rejected, ignored } = await decodeForKnownConnections(message, {
        clock: ports.clock,
        connections: { find },
      });
      result.ignored += ignored;
      for (const event of events) result.accepted.push({ event, messageId });
      for (const one of rejected)
        result.rejected.push({ messageId, queue: bound?.queue, failedBefore, sentBy, ...one });
    } catch (cause) {
      failures.add(cause, [message.messageId]);
    }
  }
  await send(result.rejected, ports, failures);
  return result;
}

/**
 * Dead-letters valid events that the table can never store. If their message must be received again for another reason,
 * they are dead-lettered after the next receipt instead.
 */
export async function refuseEvents(
  refused: readonly UnstorableEvent[],
  messages: readonly IncomingMessage[],
  ports: AcceptPorts,
  failures: Failures,
): Promise<readonly RejectedMessage[]> {
  if (refused.length === 0) return [];
  const reasons = new Map(refused.map((one) => [`${one.messageId} ${one.event.stamp}`, one.cause.message]));
  const named = new Set(refused.map(({ messageId }) => messageId));
  const again = messages
    .filter(({ messageId }) => named.has(messageId) && !failures.messages.has(messageId))
    .map((message) => ({
      ...message,
      unstorable: (stamp: Stamp) => reasons.get(`${message.messageId} ${stamp}`),
    }));
  const deadLetters = again.flatMap((message) => {
    const { rejected } = decodeMessage({ ...message, receivedAtMs: ports.clock() });
    const { messageId, bound, failedBefore, sentBy } = message;
    const refusals = rejected.filter(({ code }) => code === 'unstorable');
    // The event may have become too old in the meantime. The next receipt of its message then refuses the event because
    // of its age.
    if (refusals.length === 0)
      failures.add(new Error('expected an unstorable event, found none'), [messageId]);
    return refusals.map((one) => ({ messageId, queue: bound?.queue, failedBefore, sentBy, ...one }));
  });
  await send(deadLetters, ports, failures);
  return deadLetters;
}

async function send(deadLetters: readonly RejectedMessage[], ports: AcceptPorts, failures: Failures) {
  const left = await ports.deadLetters.send(deadLetters);
  if (left.length > 0) failures.add(new Error('the dead-letter queue did not accept a message'), left);
}

/** Decodes a message. Also rejects events of unknown connections, and events from before an erasure of data. */
export async function decodeForKnownConnections(
  message: Omit<MessageToDecode, 'receivedAtMs'>,
  ports: Pick<AcceptPorts, 'clock'> & { readonly connections: Pick<AcceptPorts['connections'], 'find'> },
): Promise<DecodedMessage> {
  const received = { ...message, receivedAtMs: ports.clock() };
  const decoded = decodeMessage(received);
  const named = new Map<ConnectionName, Connection | undefined>();
  for (const name of new Set(decoded.events.map(({ connection }) => connection))) {
    named.set(name, await ports.connections.find(name));
  }
  if ([...named.values()].every((one) => one !== undefined && one.eventsSinceMs === undefined))
    return decoded;
  return decodeMessage({
    ...received,
    knowsConnection: (name) => named.get(name) !== undefined,
    eventsSinceMs: (name) => named.get(name)?.eventsSinceMs ?? 0,
  });
}
