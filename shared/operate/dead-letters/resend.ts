import type { GroupRef } from '../../domain/ids.ts';
import type { ToolPorts, WakePorts } from '../../sync/ports/bundles.ts';
import type { DeadMessage } from '../../sync/ports/queues.ts';
import { wakeGroups } from '../../sync/wake.ts';
import { type Letter, stampOf } from './letter.ts';

export type ResendPorts = WakePorts & Pick<ToolPorts, 'events' | 'groups'>;

/** How letters of one queue go back. */
export interface Resend {
  /** @returns the letters that were not accepted */
  send(letters: readonly Letter[]): Promise<ReadonlySet<Letter>>;
  /** Whether the letter is what became of something that this very replay sent. */
  isOurs(letter: Letter): boolean;
}

export function eventResender({ events }: ResendPorts): Resend {
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
  queue: message.queue,
  failedBefore: pastOf(message),
});

/** What goes along, so that a letter that fails again keeps its age. */
export const pastOf = ({ failures, firstFailedAtMs }: DeadMessage): string =>
  `${failures} ${new Date(firstFailedAtMs).toISOString()}`;

/**
 * A letter of apply says that a group failed: it is marked dirty and woken. Several letters of one group are answered
 * by one wake-up; one of a later rev than ours is a new failure.
 */
export function groupWaker(ports: ResendPorts): Resend {
  const woken = new Map<string, number>();
  const keyOf = ({ connection, group }: GroupRef) => JSON.stringify([connection, group]);
  return {
    async send(letters) {
      const refs = new Map(letters.flatMap(({ ref }) => (ref === undefined ? [] : [[keyOf(ref), ref]])));
      const fresh = [...refs].filter(([key]) => !woken.has(key));
      // Before the wake-up: who fails again is told again, with the age of the oldest letter.
      for (const [key, ref] of fresh) {
        const ofGroup = letters.filter((letter) => letter.ref !== undefined && keyOf(letter.ref) === key);
        const [oldest] = ofGroup.sort((a, b) => a.message.firstFailedAtMs - b.message.firstFailedAtMs);
        if (oldest !== undefined) await ports.groups.noteReplay(ref, pastOf(oldest.message));
      }
      const unwoken = await wakeGroups(
        fresh.map(([, ref]) => ref),
        ports,
        'asked',
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
