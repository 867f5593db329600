import { type DecodedMessage, decodeMessage, type MessageToDecode } from '../../contract/decode.ts';
import type { DirectoryEvent } from '../../domain/event.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Connection, Connections } from '../ports/connections.ts';
import type { DeadLetter, DeadLetterQueue } from '../ports/queues.ts';

/** What went wrong in a batch, and which of its messages must therefore come again. */
export class Failures {
  readonly messages = new Set<string>();
  readonly causes: unknown[] = [];

  add(cause: unknown, messageIds: Iterable<string>): void {
    if (this.causes.at(-1) !== cause) this.causes.push(cause);
    for (const id of messageIds) this.messages.add(id);
  }
}

export interface AcceptPorts {
  readonly connections: Connections;
  readonly deadLetters: DeadLetterQueue;
  readonly clock: () => number;
}

/** One message of the events queue. */
export interface IncomingMessage extends Omit<MessageToDecode, 'receivedAtMs' | 'knowsConnection'> {
  /** How often the queue has given it out, this time included. */
  readonly receives?: number;
  /** Its earlier failures, where it was a dead letter and was sent again. */
  readonly failedBefore?: string | undefined;
}

export interface AcceptedEvent {
  readonly event: DirectoryEvent;
  readonly messageId: string;
}

export interface Acceptance {
  readonly accepted: AcceptedEvent[];
  readonly rejected: DeadLetter[];
  ignored: number;
}

/** Reads every message; what cannot be an event is dead-lettered at once and alone (invariant 9). */
export async function acceptEvents(
  messages: readonly IncomingMessage[],
  ports: AcceptPorts,
  failures: Failures,
): Promise<Acceptance> {
  const result: Acceptance = { accepted: [], rejected: [], ignored: 0 };
  for (const message of messages) {
    try {
      const { messageId, bound, failedBefore } = message;
      const { events, rejected, ignored } = await decodeForKnownConnections(message, ports);
      result.ignored += ignored;
      for (const event of events) result.accepted.push({ event, messageId });
      for (const one of rejected)
        result.rejected.push({ messageId, queue: bound?.queue, failedBefore, ...one });
    } catch (cause) {
      failures.add(cause, [message.messageId]);
    }
  }
  const refused = await ports.deadLetters.bury(result.rejected);
  if (refused.length > 0) failures.add(new Error('the dead-letter queue did not accept a message'), refused);
  return result;
}

/** Looks up each connection that the message names; an event of an unknown one is rejected alone. */
async function decodeForKnownConnections(
  message: IncomingMessage,
  ports: AcceptPorts,
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
