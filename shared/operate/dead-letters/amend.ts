import { decodeMessage } from '../../contract/decode.ts';
import { DEFAULT_CONNECTION } from '../../contract/names.ts';
import { connectionName, type GroupRef, groupId } from '../../domain/ids.ts';
import type { DeadMessage, EventSender, Mailbox } from '../../sync/ports/queues.ts';
import { type JournalPorts, journalOf, recordDeed } from '../journal.ts';
import { type Letter, readLetter, stampOf } from './letter.ts';
import { HOLD_SECONDS } from './walk.ts';

export interface AmendPorts extends JournalPorts {
  readonly mailboxes: Readonly<Record<Mailbox['name'], Mailbox>>;
  readonly events: EventSender;
}

/** Where what a person did to a letter is kept: with its group, or in the connection's journal. */
function auditedAt({ ref, group, events, message }: Letter): GroupRef {
  if (ref !== undefined) return ref;
  const named = /^[a-z0-9-]{1,32}$/.test(message.connection ?? '') ? message.connection : undefined;
  const connection = events[0]?.connection ?? connectionName(named ?? DEFAULT_CONNECTION);
  return group === undefined ? journalOf(connection) : { connection, group: groupId(group) };
}

/** Says what ingest would make of a body now: its problems, one line each; none where it would be accepted. */
export function problemsOf(body: string, message: DeadMessage, nowMs: number): readonly string[] {
  const { events, ignored, rejected } = decodeMessage({
    body,
    messageId: message.id,
    sentAtMs: message.sentAtMs,
    receivedAtMs: nowMs,
    connectionAttribute: message.connection,
    stampAttribute: stampOf(message),
  });
  if (rejected.length > 0) return rejected.map(({ code, message: why }) => `${code}: ${why}`);
  return events.length === 0 && ignored > 0 ? ['nothing in it is an event of a directory'] : [];
}

/**
 * Sends a letter of the events queue in another wording, and deletes the original, which is kept in the audit first.
 * @returns false where the message was taken by somebody else since it was shown
 */
export async function sendAmended(
  letter: Letter,
  { body, reason }: { readonly body: string; readonly reason: string },
  ports: AmendPorts,
): Promise<boolean> {
  return withMessage(ports.mailboxes[letter.queue], letter.message.id, async (message) => {
    const words = { before: message.body, after: body };
    await recordWords(letter, 'edit', { ...words, reason }, ports);
    const [outcome] = await ports.events.send([
      { body, connection: message.connection, stamp: stampOf(message) },
    ]);
    if (outcome?.messageId === undefined) throw new Error(`the events queue refused it: ${outcome?.refused}`);
  });
}

/** Deletes a letter for good; what it said, who wanted that and why are kept in the audit. */
export async function discardLetter(letter: Letter, reason: string, ports: AmendPorts): Promise<boolean> {
  return withMessage(ports.mailboxes[letter.queue], letter.message.id, async (message) => {
    await recordWords(letter, 'discard', { before: message.body, after: null, reason }, ports);
  });
}

/** A letter may be of 1 MiB, and an audit entry of 400 KB: it is kept in as many entries as that takes, in order. */
async function recordWords(
  letter: Letter,
  verb: 'edit' | 'discard',
  words: { readonly before: string; readonly after: string | null; readonly reason: string },
  ports: AmendPorts,
): Promise<void> {
  const { reason } = words;
  const [before, after] = [partsOf(words.before), words.after === null ? [] : partsOf(words.after)];
  for (let part = 0; part < Math.max(before.length, after.length); part += 1) {
    const values = { before: before[part] ?? null, after: after[part] ?? null };
    const deed = { action: `dlq_${verb}`, changes: [{ kind: `${verb}_letter`, ...values, reason }] };
    await recordDeed(auditedAt(letter), { ...deed, reason }, ports);
  }
}

/** Of whole characters, so that two of them, at up to four bytes a character, fit into an entry. */
const partsOf = (text: string): readonly string[] => text.match(/.{1,40000}/gsu) ?? [''];

/** Looks for letters by their ids in every queue named; all are put back. In the order of the ids, without the missing. */
export async function findLetters(
  ids: readonly string[],
  queues: readonly Mailbox['name'][],
  ports: AmendPorts,
): Promise<readonly Letter[]> {
  const found = new Map<string, Letter>();
  for (const queue of queues) {
    const wanted = ids.filter((id) => !found.has(id));
    if (wanted.length === 0) break;
    await searchMailbox(ports.mailboxes[queue], (message) => {
      if (wanted.includes(message.id)) found.set(message.id, readLetter(message, queue, ports.clock()));
      return wanted.every((id) => found.has(id));
    });
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Takes one message, does something with it, deletes it; puts it back where that fails. */
async function withMessage(
  mailbox: Mailbox,
  id: string,
  act: (message: DeadMessage) => Promise<void>,
): Promise<boolean> {
  let done = false;
  await searchMailbox(mailbox, async (message) => {
    if (message.id !== id) return false;
    await act(message);
    await mailbox.remove([message]);
    done = true;
    return true;
  });
  return done;
}

const VAIN_TAKES = 2;

/** Shows messages until one is enough, and puts back all that are still there. */
async function searchMailbox(
  mailbox: Mailbox,
  isEnough: (message: DeadMessage) => boolean | Promise<boolean>,
): Promise<void> {
  const receipts = new Map<string, string>();
  let vain = 0;
  try {
    while (vain < VAIN_TAKES) {
      const taken = await mailbox.take(10, HOLD_SECONDS);
      const fresh = taken.filter(({ id }) => !receipts.has(id));
      vain = fresh.length === 0 ? vain + 1 : 0;
      for (const { id, receipt } of taken) receipts.set(id, receipt);
      for (const message of fresh) if (await isEnough(message)) return;
    }
  } finally {
    await mailbox.giveBack([...receipts.values()].map((receipt) => ({ receipt })));
  }
}
