import { findDeadLetters } from '../../shared/operate/dead-letters/amend.ts';
import type { DeadLetter } from '../../shared/operate/dead-letters/dead-letter.ts';
import { NotFound } from '../../shared/operate/names.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';

export const BOTH_QUEUES = ['events', 'apply'] as const;
const MAX_CACHED = 200;

/** Runs reads of the dead-letter queues in sequence, because a read hides messages from other reads. */
export function createSession(ports: ToolPorts) {
  let last: Promise<unknown> = Promise.resolve();
  const cache = new Map<string, DeadLetter>();
  function inSequence<Value>(read: () => Promise<Value>): Promise<Value> {
    const turn = last.then(read);
    last = turn.catch(() => undefined);
    return turn;
  }
  async function find(id: string): Promise<DeadLetter> {
    const [deadLetter] = await inSequence(() => findDeadLetters([id], BOTH_QUEUES, ports));
    if (deadLetter === undefined)
      throw new NotFound('this dead-lettered message no longer exists, or another consumer is processing it');
    if (cache.size === MAX_CACHED) cache.clear();
    cache.set(id, deadLetter);
    return deadLetter;
  }
  return {
    inSequence,
    find,
    /** The message as an earlier request read it, to validate an edited body while the operator types. */
    known: async (id: string): Promise<DeadLetter> => cache.get(id) ?? find(id),
  };
}

export type Session = ReturnType<typeof createSession>;
