import { findDeadLetters } from '../../shared/operate/dead-letters/amend.ts';
import type { DeadLetter } from '../../shared/operate/dead-letters/dead-letter.ts';
import { NotFound } from '../../shared/operate/find-group.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';

export const BOTH_QUEUES = ['events', 'apply'] as const;
const MOST_KEPT = 200;

/** Runs reads of dead letters in sequence, because a read hides messages from other reads. */
export function createSession(ports: ToolPorts) {
  let last: Promise<unknown> = Promise.resolve();
  const kept = new Map<string, DeadLetter>();
  function inTurn<Value>(read: () => Promise<Value>): Promise<Value> {
    const turn = last.then(read);
    last = turn.catch(() => undefined);
    return turn;
  }
  async function find(id: string): Promise<DeadLetter> {
    const [deadLetter] = await inTurn(() => findDeadLetters([id], BOTH_QUEUES, ports));
    if (deadLetter === undefined)
      throw new NotFound('this dead letter no longer exists, or another consumer is processing it');
    if (kept.size === MOST_KEPT) kept.clear();
    kept.set(id, deadLetter);
    return deadLetter;
  }
  return {
    inTurn,
    find,
    /** The message as first read, to validate an edited body while the operator types. */
    known: async (id: string): Promise<DeadLetter> => kept.get(id) ?? find(id),
  };
}

export type Session = ReturnType<typeof createSession>;
