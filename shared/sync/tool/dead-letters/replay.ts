import type { GroupRef } from '../../../domain/ids.ts';
import type { GroupStore } from '../../ports/groups.ts';
import { type WakePorts, wakeGroups } from '../../wake.ts';
import type { EventSender } from '../ports.ts';
import { type Letter, readLetter, stampOf } from './letter.ts';
import type { DeadMessage, Mailbox } from './mailbox.ts';
import { isSelected, type Selection } from './survey.ts';
import { HOLD_SECONDS } from './walk.ts';

export interface ReplayPorts extends WakePorts {
  readonly mailboxes: Readonly<Record<Mailbox['name'], Mailbox>>;
  readonly events: EventSender;
  readonly groups: Pick<GroupStore, 'read'>;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface ReplayOptions {
  readonly selection: Selection;
  /** Messages a second at most; as fast as it goes where undefined. */
  readonly rate?: number | undefined;
  /** Ends the replay between two batches. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: ReplayCount) => void) | undefined;
}

export interface ReplayCount {
  readonly replayed: number;
  /** Refused by the queue or the table: still in the dead-letter queue. */
  readonly failed: number;
}

export interface ReplayReport extends ReplayCount {
  /** Of those selected: in flight elsewhere, refused, or dead-lettered anew while we worked. */
  readonly remaining: number;
  readonly cancelled: boolean;
}

const TAKE = 10;
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
  const send = queue === 'events' ? eventResender(ports) : groupWaker(ports);
  const run = createRun();
  try {
    await drain(mailbox, run, { ports, options, send });
  } finally {
    await mailbox.giveBack([...run.kept.values()].map((receipt) => ({ receipt })));
  }
  const { inFlight } = await mailbox.counts();
  // What we have just given back may still count as in flight for a moment.
  const elsewhere = run.hasAll(options.selection) ? 0 : Math.min(run.elsewhere, inFlight);
  const cancelled = options.signal?.aborted === true;
  return { ...run.count(), remaining: run.failed.size + run.returned.size + elsewhere, cancelled };
}

interface Draining {
  readonly ports: ReplayPorts;
  readonly options: ReplayOptions;
  readonly send: Resend;
}

async function drain(mailbox: Mailbox, run: Run, { ports, options, send }: Draining): Promise<void> {
  const { selection, rate, signal } = options;
  const most = rate === undefined ? TAKE : Math.min(TAKE, Math.max(1, Math.floor(rate)));
  let vain = 0;
  let waitUntilMs: number | undefined;
  while (signal?.aborted !== true && !run.hasAll(selection)) {
    const taken = await mailbox.take(most, HOLD_SECONDS);
    const letters = taken.map((message) => readLetter(message, mailbox.name, ports.clock()));
    const isNews = letters.some(({ message }) => !run.kept.has(message.id));
    const chosen = run.sort(letters, { selection, send });
    if (chosen.length > 0) {
      await replayBatch(mailbox, chosen, { run, send });
      options.onProgress?.(run.count());
      if (rate !== undefined) await pause(ports, (chosen.length / rate) * 1_000, signal);
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
  { run, send }: { readonly run: Run; readonly send: Resend },
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

async function pause({ sleep }: ReplayPorts, ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, signal).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
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
    count: (): ReplayCount => ({ replayed: run.replayed.size, failed: run.failed.size }),
    hasAll: ({ ids }: Selection) => ids?.every((id) => run.replayed.has(id) || run.failed.has(id)) === true,
    /** @returns the letters to replay; all others stay hidden until the end, so that they do not come again and again */
    sort(letters: readonly Letter[], { selection, send }: Sorting): readonly Letter[] {
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

interface Sorting {
  readonly selection: Selection;
  readonly send: Resend;
}

/** How letters of one queue go back. */
interface Resend {
  /** @returns the letters that were not accepted */
  send(letters: readonly Letter[]): Promise<ReadonlySet<Letter>>;
  /** Whether the letter is what became of something that this very replay sent. */
  isOurs(letter: Letter): boolean;
}

function eventResender({ events }: ReplayPorts): Resend {
  const sent = new Set<string>();
  return {
    async send(letters) {
      const outcomes = await events.send(letters.map(({ message }) => outgoing(message)));
      const refused = new Set<Letter>();
      for (const [position, letter] of letters.entries()) {
        const outcome = outcomes[position];
        if (outcome?.messageId === undefined) refused.add(letter);
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
});

/**
 * A letter of apply says that a group failed: it is marked dirty and woken. Several letters of one group are answered
 * by one wake-up; one of a later rev than ours is a new failure.
 */
function groupWaker(ports: ReplayPorts): Resend {
  const woken = new Map<string, number>();
  const keyOf = ({ connection, group }: GroupRef) => JSON.stringify([connection, group]);
  return {
    async send(letters) {
      const refs = new Map(letters.flatMap(({ ref }) => (ref === undefined ? [] : [[keyOf(ref), ref]])));
      const fresh = [...refs].filter(([key]) => !woken.has(key));
      const unwoken = await wakeGroups(
        fresh.map(([, ref]) => ref),
        ports,
      );
      const lost = new Set(unwoken.map(({ ref }) => keyOf(ref)));
      for (const [key, ref] of fresh) {
        if (!lost.has(key)) woken.set(key, (await ports.groups.read(ref))?.rev ?? 0);
      }
      return new Set(letters.filter(({ ref }) => ref === undefined || lost.has(keyOf(ref))));
    },
    isOurs({ ref, message }) {
      const rev = ref === undefined ? undefined : woken.get(keyOf(ref));
      return rev !== undefined && revOf(message) >= rev;
    },
  };
}

/** Apply names its letters `<connection>/<group>/<rev>`; one that SQS moved is older than any replay of it. */
function revOf({ originalMessageId = '' }: DeadMessage): number {
  const rev = Number(originalMessageId.slice(originalMessageId.lastIndexOf('/') + 1));
  return originalMessageId.includes('/') && Number.isInteger(rev) ? rev : -1;
}
