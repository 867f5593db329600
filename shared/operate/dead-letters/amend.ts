import { EDITED_SOURCE } from '../../contract/decode.ts';
import { DEFAULT_CONNECTION } from '../../contract/names.ts';
import { type GroupRef, groupId } from '../../domain/ids.ts';
import { makeStamp, readStamp, type Stamp, type StampParts } from '../../domain/stamp.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { DeadMessage, Mailbox } from '../../sync/ports/queues.ts';
import { type JournalPorts, journalOf, recordAction } from '../journal.ts';
import { NotFound } from '../names.ts';
import { type DeadLetter, readDeadLetter, stampOf } from './dead-letter.ts';
import { MAX_READ_MS, readMailbox } from './read-mailbox.ts';
import { outgoing } from './replay.ts';
import { isNamed } from './survey.ts';

type AmendPorts = JournalPorts & Pick<ToolPorts, 'mailboxes' | 'events'>;

/**
 * Returns the audit that records an operator's action on a dead-lettered message:
 * - the audit of the message's group, if the connection and the group are known;
 * - otherwise the audit of the message's connection (its journal), if the connection is known;
 * - otherwise the audit of the default connection.
 */
function auditedAt({ connection, group }: DeadLetter): GroupRef {
  if (connection && group) return { connection, group: groupId(group) };
  return journalOf(connection ?? DEFAULT_CONNECTION);
}

/**
 * Returns a stamp after all operations of the original message, because parts of the original may already be stored. If
 * the edited message had the same stamps, ingest would combine both messages. Then a member that the operator deleted
 * from a snapshot would stay.
 */
function editedStamp({ message, events }: DeadLetter): Stamp {
  const { operation = 0, ...place } = readStamp(stampOf(message)) as StampParts;
  return makeStamp({ ...place, source: EDITED_SOURCE, operation: operation + Math.max(1, events.length) });
}

/**
 * Returns the queue for an edited message. A message that names no connection returns to its own queue, because the
 * queue determines the connection. Any other message goes to the common events queue.
 */
const queueForEdited = ({ connection, queue, bound }: DeadMessage) =>
  connection === undefined ? { queue, bound } : { queue: undefined, bound: undefined };

export function problemsOf(body: string, message: DeadMessage, nowMs: number): readonly string[] {
  const again = { ...message, ...queueForEdited(message), body, stamp: stampOf(message) };
  const { events, problems } = readDeadLetter(again, 'events', nowMs);
  return events.length + problems.length > 0 ? problems : ['the message contains no event of a directory'];
}

/**
 * Sends an edited message instead of the dead-lettered message. The audit records both texts before the edited message
 * is sent. The original is deleted afterwards.
 * @returns false if another consumer has received the message after the operator was shown it
 */
export async function sendAmended(
  deadLetter: DeadLetter,
  { body, reason }: { readonly body: string; readonly reason: string },
  ports: AmendPorts,
): Promise<boolean> {
  const { queue, message } = deadLetter;
  const reading = { clock: ports.clock, longestMs: MAX_READ_MS };
  let isSent = false;
  await readMailbox(ports.mailboxes[queue], reading, async (messages, held) => {
    const taken = messages.find(({ id }) => id === message.id);
    if (taken === undefined) return true;
    await recordBodies(deadLetter, 'edit', { before: taken.body, after: body, reason }, ports);
    const again = {
      ...outgoing({ ...taken, ...queueForEdited(taken), body }),
      stamp: editedStamp(deadLetter),
      sentBy: undefined,
    };
    const [outcome] = await ports.events.send([again]);
    if (outcome?.messageId === undefined)
      throw new Error(`the events queue refused the message: ${outcome?.refused}`);
    await held.remove([taken]).catch((cause: Error) => {
      const why = `the edited message was sent, but the original could not be deleted (${cause.message})`;
      throw new Error(`${why}; next: groupsync dlq discard ${taken.id.slice(0, SHORT_ID)}`, { cause });
    });
    isSent = true;
    return false;
  });
  return isSent;
}

/**
 * Records a message. A message has up to 1 MiB and an audit entry up to 400 KB, so a message may need several entries.
 */
async function recordBodies(
  deadLetter: DeadLetter,
  verb: 'edit' | 'discard',
  bodies: { readonly before: string; readonly after: string | null; readonly reason: string },
  ports: AmendPorts,
): Promise<void> {
  const { reason } = bodies;
  const [before, after] = [partsOf(bodies.before), bodies.after === null ? [] : partsOf(bodies.after)];
  for (let part = 0; part < Math.max(before.length, after.length); part += 1) {
    const values = { before: before[part] ?? null, after: after[part] ?? null };
    const action = {
      action: `dlq_${verb}` as const,
      changes: [{ kind: `${verb}_deadLetter`, ...values, reason }],
    };
    await recordAction(auditedAt(deadLetter), { ...action, reason }, ports);
  }
}

/** Splits a text between characters. A character has at most four bytes, so two parts fit into one entry. */
const partsOf = (text: string): readonly string[] => text.match(/.{1,40000}/gsu) ?? [''];

/** The number of characters of an id that lists show. They are enough to identify a dead-lettered message. */
export const SHORT_ID = 8;

/**
 * Finds dead-lettered messages by their ids, or by prefixes of ids. At the end, all messages that were read become
 * visible again. The result has the order of the ids, without ids that match no message.
 * @throws NotFound if a prefix matches several of the messages that were read
 */
export async function findDeadLetters(
  ids: readonly string[],
  queues: readonly Mailbox['name'][],
  ports: AmendPorts,
): Promise<readonly DeadLetter[]> {
  const reading = { clock: ports.clock, longestMs: MAX_READ_MS };
  const found = new Map<string, DeadLetter[]>();
  const note = (message: DeadMessage, queue: Mailbox['name']) => {
    for (const id of ids.filter((one) => isNamed(message, one))) {
      const deadLetter = readDeadLetter(message, queue, ports.clock());
      found.set(id, message.id === id ? [deadLetter] : [...(found.get(id) ?? []), deadLetter]);
    }
  };
  for (const queue of queues) {
    const isSure = (id: string) => id.length >= SHORT_ID && found.has(id);
    if (ids.every(isSure)) break;
    await readMailbox(ports.mailboxes[queue], reading, async (messages) => {
      for (const message of messages) note(message, queue);
      return !ids.every(isSure);
    });
  }
  return ids.flatMap((id) => {
    const [first, ...others] = found.get(id) ?? [];
    if (others.length === 0 || first?.message.id === id) return first ?? [];
    throw new NotFound(
      `"${id}" matches ${others.length + 1} dead-lettered messages; give more characters of the id`,
    );
  });
}

export async function discardDeadLetters(
  queue: Mailbox['name'],
  ids: ReadonlySet<string>,
  { reason, signal, ports }: { reason: string; signal?: AbortSignal; ports: AmendPorts },
): Promise<number> {
  let discarded = 0;
  await readMailbox(ports.mailboxes[queue], { clock: ports.clock, signal }, async (messages, held) => {
    for (const message of messages.filter(({ id }) => ids.has(id))) {
      if (signal?.aborted === true) return false;
      const deadLetter = readDeadLetter(message, queue, ports.clock());
      await recordBodies(deadLetter, 'discard', { before: message.body, after: null, reason }, ports);
      await held.remove([message]);
      discarded += 1;
    }
    return discarded < ids.size;
  });
  return discarded;
}
