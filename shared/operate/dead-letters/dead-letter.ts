import { decodeMessage } from '../../contract/decode.ts';
import { readApplyMessage } from '../../contract/invocation.ts';
import { parseJson } from '../../contract/json.ts';
import { DEFAULT_CONNECTION } from '../../contract/names.ts';
import type { DirectoryEvent } from '../../domain/event.ts';
import { type ConnectionName, connectionName, type GroupRef, groupId } from '../../domain/ids.ts';
import { makeStamp, parseStamp, type Stamp } from '../../domain/stamp.ts';
import type { DeadMessage, Mailbox } from '../../sync/ports/queues.ts';

export interface DeadLetter {
  readonly message: DeadMessage;
  readonly queue: Mailbox['name'];
  readonly events: readonly DirectoryEvent[];
  /** The reasons why the message is invalid now; empty if it is valid. */
  readonly problems: readonly string[];
  /** The connection of the message; undefined if neither the message nor its queue determines a connection. */
  readonly connection: ConnectionName | undefined;
  /** The directory group of the message. It may be known even if the message cannot be decoded. */
  readonly group: string | undefined;
  readonly ref: GroupRef | undefined;
}

/** @param nowMs the current time. An event that was refused because its time was in the future may be valid now */
export function readDeadLetter(message: DeadMessage, queue: Mailbox['name'], nowMs: number): DeadLetter {
  if (queue === 'apply') {
    const ref = readApplyMessage(message.body);
    const problems = ref === undefined ? ['expected {connection, group}'] : [];
    return { message, queue, events: [], problems, connection: ref?.connection, group: ref?.group, ref };
  }
  const { events, rejected } = decodeMessage({
    ...message,
    messageId: message.originalMessageId ?? message.id,
    receivedAtMs: nowMs,
  });
  const guessed = guess(message.body);
  const groups = events.flatMap(({ change }) => ('group' in change ? [change.group] : []));
  const { bound, connection: named = bound ? undefined : DEFAULT_CONNECTION } = message;
  return {
    message,
    queue,
    events,
    problems: rejected.map(({ code, message: why }) => `${code}: ${why}`),
    connection: bound?.to ?? events[0]?.connection ?? asName(guessed.connection ?? named),
    group: groups[0] ?? guessed.group,
    ref: undefined,
  };
}

/** A parsed value of unknown type. Each field may be absent. */
type Loose = { readonly [field: string]: Loose } | null | undefined;

/** Reads the connection and the group from a message that cannot be decoded, if it contains them. */
function guess(body: string) {
  const parsed = parseJson(body);
  const event = parsed.ok ? (parsed.value as Loose) : undefined;
  const id: unknown = event?.['data']?.['group']?.['id'];
  return { connection: event?.['connection'], group: typeof id === 'string' ? groupId(id) : undefined };
}

/** Returns the CloudEvents source and type of a message, even if it cannot be decoded. A missing field is null. */
export function originOf({ message, queue }: Pick<DeadLetter, 'message' | 'queue'>) {
  const parsed = queue === 'events' ? parseJson(message.body) : undefined;
  const event = parsed?.ok === true ? (parsed.value as Loose) : undefined;
  const textIn = (field: string): string | null => {
    const value: unknown = event?.[field];
    return typeof value === 'string' ? value : null;
  };
  return { source: textIn('source'), type: textIn('type') };
}

const asName = (event: unknown) =>
  typeof event === 'string' && /^[a-z0-9-]{1,32}$/.test(event) ? connectionName(event) : undefined;

/**
 * Returns the stamp for a dead-lettered message that is sent to the events queue again. An event without a time uses
 * this stamp, and so keeps its original position in the order.
 */
export function stampOf({ stamp, sentAtMs, originalMessageId, id }: DeadMessage): Stamp {
  const given = stamp === undefined ? undefined : parseStamp(stamp);
  const time = new Date(Math.max(0, sentAtMs)).toISOString();
  return given ?? makeStamp({ time, id: originalMessageId ?? id, source: '' });
}
