import { decodeMessage } from '../../contract/decode.ts';
import { readApplyMessage } from '../../contract/invocation.ts';
import { parseJson } from '../../contract/json.ts';
import type { DirectoryEvent } from '../../domain/event.ts';
import { type GroupRef, groupId } from '../../domain/ids.ts';
import { makeStamp, parseStamp, type Stamp } from '../../domain/stamp.ts';
import type { DeadMessage, Mailbox } from '../../sync/ports/queues.ts';

/** A dead message as far as it can be understood. */
export interface Letter {
  readonly message: DeadMessage;
  readonly queue: Mailbox['name'];
  /** Events that can be read from it by now; none where it is not to be read. */
  readonly events: readonly DirectoryEvent[];
  /** Why it cannot be accepted, as ingest would say it now. */
  readonly problems: readonly string[];
  /** The directory group that it is about, even where the rest cannot be read. */
  readonly group: string | undefined;
  /** Of the apply queue: the group to look at. */
  readonly ref: GroupRef | undefined;
}

/** @param nowMs when it is read: an event from the future may have become acceptable */
export function readLetter(message: DeadMessage, queue: Mailbox['name'], nowMs: number): Letter {
  if (queue === 'apply') {
    const ref = readApplyMessage(message.body);
    const problems = ref === undefined ? ['expected {connection, group}'] : [];
    return { message, queue, events: [], problems, group: ref?.group, ref };
  }
  const { events, rejected } = decodeMessage({
    ...message,
    messageId: message.originalMessageId ?? message.id,
    receivedAtMs: nowMs,
  });
  const named = events.flatMap(({ change }) => ('group' in change ? [change.group] : []));
  return {
    message,
    queue,
    events,
    problems: rejected.map(({ code, message: why }) => `${code}: ${why}`),
    group: named[0] ?? guessGroup(message.body),
    ref: undefined,
  };
}

/** An event that is refused for another reason mostly still says which group it is about. */
function guessGroup(body: string): string | undefined {
  const parsed = parseJson(body);
  if (!parsed.ok) return undefined;
  const id = field(field(field(parsed.value, 'data'), 'group'), 'id');
  return typeof id === 'string' ? groupId(id) : undefined;
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

/**
 * The stamp to send along when a letter goes back to the events queue. An event without a time of its own keeps the
 * place in the order that its first sending gave it; beside one that has a time the stamp does no harm.
 */
export function stampOf({ stamp, sentAtMs, originalMessageId, id }: DeadMessage): Stamp {
  const given = stamp === undefined ? undefined : parseStamp(stamp);
  const time = new Date(Math.max(0, sentAtMs)).toISOString();
  return given ?? makeStamp({ time, id: originalMessageId ?? id, source: '' });
}
