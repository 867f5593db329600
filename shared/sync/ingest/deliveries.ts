import { DEFAULT_CONNECTION } from '../../contract/names.ts';
import { type Delivery, type DeliveryOf, meaningOfChanges } from '../../domain/delivery.ts';
import { connectionName } from '../../domain/ids.ts';
import type { RejectedMessage } from '../ports/queues.ts';
import type { AcceptedEvent, AcceptPorts, Failures, IncomingMessage } from './accept.ts';

interface ChunkResult {
  readonly messages: readonly IncomingMessage[];
  /** The valid events, also those that belong to a group of the reader. */
  readonly accepted: readonly AcceptedEvent[];
  readonly stored: ReadonlySet<AcceptedEvent>;
  readonly rejected: readonly RejectedMessage[];
  readonly failures: Failures;
  readonly nowMs: number;
}

/** The code of an event that was not stored, because the directory reader is the source of its group. */
const OF_READER = 'group_of_reader';

/**
 * Returns one record for each message and each connection that it names. A message of the reader has a record only if
 * groupsync refuses it, because the run of the reader has one too.
 */
export async function deliveriesOf(
  chunk: ChunkResult,
  { connections }: AcceptPorts,
): Promise<readonly DeliveryOf[]> {
  const records: DeliveryOf[] = [];
  for (const message of chunk.messages) {
    const own = message.connection ?? message.bound?.to ?? DEFAULT_CONNECTION;
    const accepted = chunk.accepted.filter(({ messageId }) => messageId === message.messageId);
    const rejected = chunk.rejected.filter(({ messageId }) => messageId === message.messageId);
    const names = [
      ...accepted.map(({ event }) => event.connection),
      ...rejected.map(({ connection = own }) => connection),
    ];
    for (const name of new Set(names.length === 0 ? [own] : names)) {
      const found = await connections.find(connectionName(name)).catch(() => undefined);
      const refused = rejected.filter(({ connection = own }) => connection === name);
      if (found === undefined || (message.bound?.isOfReader === true && refused.length === 0)) continue;
      const events = accepted.filter(({ event }) => event.connection === name);
      records.push({ connection: found.name, delivery: deliveryOf(message, events, refused, chunk) });
    }
  }
  return records;
}

function deliveryOf(
  { messageId, sentAtMs, body, bound }: IncomingMessage,
  events: readonly AcceptedEvent[],
  refused: readonly RejectedMessage[],
  { stored, failures, nowMs }: ChunkResult,
): Delivery {
  const isStored = events.some((one) => stored.has(one));
  const isLeft = events.some((one) => !stored.has(one));

  const done = isStored ? 'accepted' : 'ignored';
  const outcome = refused.length > 0 ? 'refused' : done;
  return {
    id: messageId,
    atMs: sentAtMs,
    client: { kind: 'event', id: events[0]?.event.source || bound?.queue || 'events' },
    request: 'event',
    ...meaningOfChanges(events.map(({ event }) => event.change)),
    outcome: failures.messages.has(messageId) ? 'retried' : outcome,
    status: null,
    code: refused[0]?.code ?? (isLeft ? OF_READER : null),
    detail: null,
    filter: null,
    bytes: Buffer.byteLength(body),
    elapsedMs: Math.max(0, nowMs - sentAtMs),
  };
}
