import type { IncomingMessage } from './accept.ts';

/**
 * The maximum total length of the bodies in one chunk, in characters. It is enough for twelve Okta events, or for a
 * thousand members of an import. A chunk is stored within seconds. All changes of one group in a chunk need one write.
 */
const CHUNK_LENGTH = 65_536;

/** An oversized message comes last, until it was received this many times more often than the other messages. */
const PATIENCE = 5;

/**
 * Splits a batch into chunks by body size. The messages that were received most often come first. The reason is that a
 * run may end before its last chunk. In another order, the same message could be in the last chunk each time, until SQS
 * moves it to the dead-letter queue.
 */
export function chunksOf(messages: readonly IncomingMessage[]): readonly (readonly IncomingMessage[])[] {
  const chunks: IncomingMessage[][] = [];
  let length = 0;
  for (const message of [...messages].sort((a, b) => urgency(b) - urgency(a))) {
    const current = chunks.at(-1);
    if (current === undefined || length + message.body.length > CHUNK_LENGTH) {
      chunks.push([message]);
      length = message.body.length;
    } else {
      current.push(message);
      length += message.body.length;
    }
  }
  return chunks;
}

const urgency = (message: IncomingMessage): number =>
  (message.receives ?? 1) - (isOversized(message) ? PATIENCE : 0);

/** Whether the message is so large that it needs a separate chunk. */
export const isOversized = ({ body }: IncomingMessage): boolean => body.length > CHUNK_LENGTH;
