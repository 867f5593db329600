import type { ReplayReport } from '../../contract/answers/dead-letters.ts';
import type { ConnectionName, GroupRef } from '../../domain/ids.ts';
import { once } from '../../domain/once.ts';
import type { ToolPorts, WakePorts } from '../../sync/ports/bundles.ts';
import type { DeadMessage, Mailbox } from '../../sync/ports/queues.ts';
import { wakeGroups } from '../../sync/wake.ts';
import { type JournalPorts, journalOf, recordAction } from '../journal.ts';
import { plural } from '../names.ts';
import { type DeadLetter, readDeadLetter, stampOf } from './dead-letter.ts';
import { type Held, type ReadMailboxOptions, readMailbox } from './read-mailbox.ts';
import { isSelected, type Selection } from './survey.ts';

type ReplayPorts = WakePorts & JournalPorts & Pick<ToolPorts, 'events' | 'groups' | 'mailboxes'>;

interface ReplayOptions extends Pick<ReadMailboxOptions, 'signal' | 'onElsewhere'> {
  readonly connection: ConnectionName;
  readonly selection: Selection;
  readonly onProgress?: ((done: Pick<ReplayReport, 'replayed' | 'failed'>) => void) | undefined;
}

const TAKE = 10;

/**
 * Sends dead-lettered events back to their queues, and wakes the groups of messages of apply. Each message is first
 * sent and then deleted:
 *
 *     take (hidden for 30 s) ──▶ send ──▶ delete
 *            ▲ crash here: visible again after 30 s       ▲ crash here: sent twice
 *
 * Sending a message twice is harmless: registers combine events by their stamps, and an apply message only names a
 * group. A message that is dead-lettered again during the replay is not sent again. So the replay ends even if the
 * fault still exists.
 */
export async function replayDeadLetters(
  queue: Mailbox['name'],
  ports: ReplayPorts,
  options: ReplayOptions,
): Promise<ReplayReport> {
  const { selection, signal, onProgress } = options;
  const resend = queue === 'events' ? eventResender(ports) : groupWaker(ports);
  const [replayed, failed, returned] = [new Set<string>(), new Set<string>(), new Map<string, string>()];
  const isDone = (id: string) => replayed.has(id) || failed.has(id);
  const about = {
    before: null,
    after: JSON.stringify(selection),
    reason: `dead-lettered messages of ${queue}`,
  };
  const action = { action: 'dlq_replay' as const, changes: [{ kind: 'replay_deadLetters', ...about }] };
  // If the replay finds no message to send, it is not recorded.
  const record = once(() => recordAction(journalOf(options.connection), action, ports));
  const sendThenRemove = async (deadLetters: readonly DeadLetter[], held: Held): Promise<void> => {
    await record();
    const refused = await resend.send(deadLetters);
    const sent = deadLetters.filter((deadLetter) => !refused.has(deadLetter)).map(({ message }) => message);
    for (const { id } of sent) replayed.add(id);
    await held.remove(sent);
    for (const { message } of refused) failed.add(message.id);
    onProgress?.({ replayed: replayed.size, failed: failed.size });
  };
  const reading = { clock: ports.clock, signal, most: TAKE, onElsewhere: options.onElsewhere };
  const { elsewhere } = await readMailbox(ports.mailboxes[queue], reading, async (messages, held) => {
    const deadLetters = messages.map((message) => readDeadLetter(message, queue, ports.clock()));
    const wanted = deadLetters.filter((deadLetter) => isSelected(deadLetter, selection));
    const chosen = wanted.filter((deadLetter) => !resend.isOurs(deadLetter));
    for (const { message } of wanted.filter(resend.isOurs))
      returned.set(message.id, `${message.code}: ${message.message}`);
    if (chosen.length > 0) await sendThenRemove(chosen, held);
    return selection.ids?.every(isDone) !== true;
  }).catch((error: unknown) => {
    if (replayed.size === 0 || !(error instanceof Error)) throw error;
    const sent = `sent ${plural(replayed.size, 'message')}, but some may still be in the dead-letter queue`;
    throw new Error(`${sent}: ${error.message}`, { cause: error });
  });
  const others = selection.ids?.every(isDone) === true ? 0 : elsewhere;
  const remaining = failed.size + returned.size + others;
  const [because = null] = returned.values();
  const counts = { replayed: replayed.size, failed: failed.size, remaining, failedAgain: returned.size };
  return { ...counts, because, cancelled: signal?.aborted === true };
}

interface Resend {
  send(deadLetters: readonly DeadLetter[]): Promise<ReadonlySet<DeadLetter>>;
  /** True if this replay has already sent the message, which was then dead-lettered again. */
  isOurs(deadLetter: DeadLetter): boolean;
}

function eventResender({ events }: ReplayPorts): Resend {
  const sent = new Set<string>();
  return {
    async send(deadLetters) {
      const outcomes = await events.send(deadLetters.map(({ message }) => outgoing(message)));
      const refused = new Set<DeadLetter>();
      for (const [position, deadLetter] of deadLetters.entries()) {
        const outcome = outcomes[position];
        if (outcome?.messageId === undefined) refused.add(deadLetter);
        else sent.add(outcome.messageId);
      }
      return refused;
    },
    isOurs: ({ message }) => message.originalMessageId !== undefined && sent.has(message.originalMessageId),
  };
}

export const outgoing = (message: DeadMessage) => ({
  body: message.body,
  connection: message.connection,
  stamp: stampOf(message),
  sentBy: message.sentBy,
  queue: message.queue,
  failedBefore: failureHistory(message),
});

/** Returns the number of failures and the time of the first failure. A message that fails again keeps this time. */
const failureHistory = ({ failures, firstFailedAtMs }: DeadMessage): string =>
  `${failures} ${new Date(firstFailedAtMs).toISOString()}`;

/**
 * Replays messages of apply. Each message reports that a group failed. A replay marks the group dirty and wakes the
 * group once for all its messages. A message with at least the rev after this wake-up reports a new failure.
 */
function groupWaker(ports: ReplayPorts): Resend {
  const woken = new Map<string, number>();
  const keyOf = ({ connection, group }: GroupRef) => JSON.stringify([connection, group]);
  return {
    async send(deadLetters) {
      const refs = new Map(deadLetters.flatMap(({ ref }) => (ref === undefined ? [] : [[keyOf(ref), ref]])));
      // The data of a group may have been erased. A wake-up would create the group again.
      const known = new Set((await ports.groups.readMany([...refs.values()])).map(({ ref }) => keyOf(ref)));
      const fresh = [...refs].filter(([key]) => known.has(key) && !woken.has(key));
      // Stored before the wake-up, so that a new failure of the group keeps the age of the oldest message.
      for (const [key, ref] of fresh) {
        const ofGroup = deadLetters.filter(
          (deadLetter) => deadLetter.ref !== undefined && keyOf(deadLetter.ref) === key,
        );
        const [oldest] = ofGroup.sort((a, b) => a.message.firstFailedAtMs - b.message.firstFailedAtMs);
        if (oldest !== undefined) await ports.groups.noteReplay(ref, failureHistory(oldest.message));
      }
      const toWake = fresh.map(([, ref]) => ref);
      const unwoken = await wakeGroups(toWake, ports, 'asked');
      const notWoken = new Set(unwoken.map(({ ref }) => keyOf(ref)));
      for (const [key, ref] of fresh) {
        if (!notWoken.has(key)) woken.set(key, (await ports.groups.read(ref))?.rev ?? 0);
      }
      return new Set(deadLetters.filter(({ ref }) => ref === undefined || notWoken.has(keyOf(ref))));
    },
    isOurs({ ref, message }) {
      const rev = ref === undefined ? undefined : woken.get(keyOf(ref));
      return rev !== undefined && revOf(message) >= rev;
    },
  };
}

/** Returns the rev in the id `<connection>/<group>/<rev>` of a message from apply; NaN if SQS moved the message. */
const revOf = ({ originalMessageId }: DeadMessage): number => Number(originalMessageId?.split('/').at(-1));
