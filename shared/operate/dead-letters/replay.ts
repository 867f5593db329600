import type { ReplayReport } from '../../contract/answers.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Mailbox } from '../../sync/ports/queues.ts';
import { type JournalPorts, journalOf, recordDeed } from '../journal.ts';
import { type Letter, readLetter } from './letter.ts';
import { eventResender, groupWaker, type Resend, type ResendPorts } from './resend.ts';
import { isSelected, type Selection } from './survey.ts';
import { HOLD_SECONDS } from './walk.ts';

export type ReplayPorts = ResendPorts & JournalPorts & Pick<ToolPorts, 'mailboxes' | 'sleep'>;

export interface ReplayOptions {
  /** In whose journal the replay is kept. */
  readonly connection: ConnectionName;
  readonly selection: Selection;
  /** Messages a second at most; as fast as it goes where undefined. */
  readonly rate?: number | undefined;
  /** Ends the replay between two batches. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: Pick<ReplayReport, 'replayed' | 'failed'>) => void) | undefined;
}

const TAKE = 10;
/** What is kept hidden is hidden anew this often: twice within a hold, whatever comes in between. */
const RENEW_AFTER_MS = (HOLD_SECONDS * 1_000) / 3;
/** What a killed replay held is visible again after its hold: the next one waits for it this long. */
const WAIT_FOR_OTHERS_MS = (HOLD_SECONDS + 5) * 1_000;
/** Takes that bring nothing new although something is visible: what is left cannot be had, or is not what we want. */
const VAIN_TAKES = 3;

/**
 * Sends letters back to where they came from, each one first sent and then deleted, never the reverse:
 *
 *     take (hidden for 30 s) ──▶ send ──▶ delete
 *            ▲ killed here: visible again after the hold       ▲ killed here: sent twice
 *
 * Twice does no harm: events are joined into registers by their stamps, and a wake-up only says where to look. What
 * is dead-lettered again while we work is left where it is: a replay ends even where nothing was mended.
 */
export async function replayLetters(
  queue: Mailbox['name'],
  ports: ReplayPorts,
  options: ReplayOptions,
): Promise<ReplayReport> {
  const mailbox = ports.mailboxes[queue];
  const resend = queue === 'events' ? eventResender(ports) : groupWaker(ports);
  let recording: Promise<void> | undefined;
  const send: Resend = {
    ...resend,
    // Nothing is on record of a replay that found nothing to send.
    send: async (letters) => {
      recording ??= recordReplay(queue, ports, options);
      await recording;
      return resend.send(letters);
    },
  };
  const run = createRun();
  try {
    await drain(run, send, ports, { ...options, mailbox });
  } finally {
    await mailbox.giveBack([...run.kept.values()].map((receipt) => ({ receipt })));
  }
  const { inFlight } = await mailbox.counts();
  // What we have just given back may still count as in flight for a moment.
  const elsewhere = run.hasAll(options.selection) ? 0 : Math.min(run.elsewhere, inFlight);
  const cancelled = options.signal?.aborted === true;
  return { ...run.count(), remaining: run.failed.size + run.returned.size + elsewhere, cancelled };
}

function recordReplay(
  queue: Mailbox['name'],
  ports: ReplayPorts,
  { connection, selection }: ReplayOptions,
): Promise<void> {
  const after = JSON.stringify(selection);
  const change = { kind: 'replay_letters', before: null, after, reason: `dead letters of ${queue}` };
  return recordDeed(journalOf(connection), { action: 'dlq_replay', changes: [change] }, ports);
}

async function drain(
  run: Run,
  send: Resend,
  ports: ReplayPorts,
  { mailbox, selection, rate, signal, onProgress }: ReplayOptions & { readonly mailbox: Mailbox },
): Promise<void> {
  const most = rate === undefined ? TAKE : Math.min(TAKE, Math.max(1, Math.floor(rate)));
  let vain = 0;
  let waitUntilMs: number | undefined;
  const renew = holdRenewer(mailbox, run, ports);
  while (signal?.aborted !== true && !run.hasAll(selection)) {
    await renew();
    const taken = await mailbox.take(most, HOLD_SECONDS);
    const letters = taken.map((message) => readLetter(message, mailbox.name, ports.clock()));
    const isNews = letters.some(({ message }) => !run.kept.has(message.id));
    const chosen = run.sort(letters, selection, send);
    if (chosen.length > 0) {
      await replayBatch(mailbox, chosen, run, send);
      onProgress?.(run.count());
      if (rate !== undefined) await pause((chosen.length / rate) * 1_000, ports, renew, signal);
    }
    if (isNews) {
      vain = 0;
      continue;
    }
    const { visible, inFlight } = await mailbox.counts();
    run.elsewhere = Math.max(0, inFlight - run.kept.size);
    vain = visible > 0 ? vain + 1 : 0;
    if (vain > 0 && vain < VAIN_TAKES) continue;
    waitUntilMs ??= ports.clock() + WAIT_FOR_OTHERS_MS;
    if (run.elsewhere === 0 || ports.clock() >= waitUntilMs) return;
  }
}

async function replayBatch(
  mailbox: Mailbox,
  letters: readonly Letter[],
  run: Run,
  send: Resend,
): Promise<void> {
  const refused = await send.send(letters);
  const sent = letters.filter((letter) => !refused.has(letter));
  await mailbox.remove(sent.map(({ message }) => message));
  for (const { message } of sent) run.replayed.add(message.id);
  for (const { message } of refused) {
    run.failed.add(message.id);
    run.kept.set(message.id, message.receipt);
  }
}

/**
 * Letters that are not to be replayed stay hidden until the end. Were they visible again after the first hold, a slow
 * replay would meet them again and again, and take the queue for done before it had seen the rest.
 */
function holdRenewer(mailbox: Mailbox, run: Run, { clock }: ReplayPorts): () => Promise<void> {
  let renewedAtMs = clock();
  return async () => {
    if (clock() - renewedAtMs < RENEW_AFTER_MS) return;
    renewedAtMs = clock();
    await mailbox.hold(
      [...run.kept.values()].map((receipt) => ({ receipt })),
      HOLD_SECONDS,
    );
  };
}

async function pause(
  ms: number,
  ports: ReplayPorts,
  renew: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let left = ms; left > 0 && signal?.aborted !== true; left -= RENEW_AFTER_MS) {
    await ports.sleep(Math.min(left, RENEW_AFTER_MS), signal).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    });
    await renew();
  }
}

type Run = ReturnType<typeof createRun>;

/** What one replay has seen: messages that it keeps hidden (id → newest receipt), sent, refused, come back. */
function createRun() {
  const run = {
    kept: new Map<string, string>(),
    replayed: new Set<string>(),
    failed: new Set<string>(),
    returned: new Set<string>(),
    elsewhere: 0,
    count: () => ({ replayed: run.replayed.size, failed: run.failed.size }),
    hasAll: ({ ids }: Selection) => ids?.every((id) => run.replayed.has(id) || run.failed.has(id)) === true,
    /** @returns the letters to replay; all others stay hidden until the end, so that they do not come again and again */
    sort(letters: readonly Letter[], selection: Selection, send: Resend): readonly Letter[] {
      const wanted: Letter[] = [];
      for (const letter of letters) {
        const { id, receipt } = letter.message;
        const isWanted = !run.kept.has(id) && isSelected(letter, selection);
        if (isWanted && !send.isOurs(letter)) {
          wanted.push(letter);
          continue;
        }
        if (isWanted) run.returned.add(id);
        run.kept.set(id, receipt);
      }
      return wanted;
    },
  };
  return run;
}
