import type { IncomingMessage } from './accept.ts';

/**
 * Maximum length of the bodies in one chunk, in characters. This is enough for a dozen Okta events, or for a thousand
 * members of an import, and can be stored within seconds. All changes of one group in a chunk need one write.
 */
const CHUNK_LENGTH = 65_536;

/**
 * An oversized message is processed after the others, unless it was received this many times more often than they were.
 */
const PATIENCE = 5;

/**
 * Splits a batch into chunks by body size, with the messages received most often first. The run may end before the last
 * chunk, for example because of an oversized message. With another order, the same message could be left over each
 * time, until SQS moves it to the dead-letter queue.
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

/** Whether the message is so large that it is a chunk of its own. */
export const isOversized = ({ body }: IncomingMessage): boolean => body.length > CHUNK_LENGTH;
