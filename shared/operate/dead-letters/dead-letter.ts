import { decodeMessage } from '../../contract/decode.ts';
import { readApplyMessage } from '../../contract/invocation.ts';
import { parseJson } from '../../contract/json.ts';
import { DEFAULT_CONNECTION } from '../../contract/names.ts';
import type { DirectoryEvent } from '../../domain/event.ts';
import { type ConnectionName, connectionName, type GroupRef, groupId } from '../../domain/ids.ts';
import { makeStamp, parseStamp, type Stamp } from '../../domain/stamp.ts';
import type { DeadMessage, Mailbox } from '../../sync/ports/queues.ts';

/** A dead message as far as it can be understood. */
export interface DeadLetter {
  readonly message: DeadMessage;
  readonly queue: Mailbox['name'];
  /** Events that can be read from it by now; none where it is not to be read. */
  readonly events: readonly DirectoryEvent[];
  /** Why it cannot be accepted, as ingest would say it now. */
  readonly problems: readonly string[];
  /** The connection of the message; undefined if it names none and its queue belongs to no connection any more. */
  readonly connection: ConnectionName | undefined;
  /** The directory group that it is about, even where the rest cannot be read. */
  readonly group: string | undefined;
  /** Of the apply queue: the group to look at. */
  readonly ref: GroupRef | undefined;
}

/** @param nowMs when it is read: an event from the future may have become acceptable */
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

/** As far as something of unknown form has such a field. */
type Loose = { readonly [field: string]: Loose } | null | undefined;

/** What is refused for another reason mostly still says whose it is, and which group it is about. */
function guess(body: string) {
  const parsed = parseJson(body);
  const event = parsed.ok ? (parsed.value as Loose) : undefined;
  const id: unknown = event?.['data']?.['group']?.['id'];
  return { connection: event?.['connection'], group: typeof id === 'string' ? groupId(id) : undefined };
}

const asName = (event: unknown) =>
  typeof event === 'string' && /^[a-z0-9-]{1,32}$/.test(event) ? connectionName(event) : undefined;

/**
 * The stamp to send along when a dead-lettered message goes back to the events queue. An event without a time of its own keeps the
 * place in the order that its first sending gave it; beside one that has a time the stamp does no harm.
 */
export function stampOf({ stamp, sentAtMs, originalMessageId, id }: DeadMessage): Stamp {
  const given = stamp === undefined ? undefined : parseStamp(stamp);
  const time = new Date(Math.max(0, sentAtMs)).toISOString();
  return given ?? makeStamp({ time, id: originalMessageId ?? id, source: '' });
}
