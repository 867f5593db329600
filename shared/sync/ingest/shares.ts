import type { IncomingMessage } from './accept.ts';

/**
 * Length of the bodies that are folded together. A thousand members as an import names them, so that a share takes
 * seconds; a dozen events as Okta sends them, so that what they say of one group is still joined first and written once.
 */
const SHARE_LENGTH = 65_536;

/** A message wider than a share lets others go first, unless it was received so many times more often than they. */
const PATIENCE = 5;

/**
 * Splits a batch into chunks by body size, with the messages received most often first. The time may end before the last
 * chunk, for example because of an oversized message. The order keeps a message from coming last until it is dead-lettered.
 */
export function shareOut(messages: readonly IncomingMessage[]): readonly (readonly IncomingMessage[])[] {
  const shares: IncomingMessage[][] = [];
  let length = 0;
  for (const message of [...messages].sort((a, b) => urgency(b) - urgency(a))) {
    const current = shares.at(-1);
    if (current === undefined || length + message.body.length > SHARE_LENGTH) {
      shares.push([message]);
      length = message.body.length;
    } else {
      current.push(message);
      length += message.body.length;
    }
  }
  return shares;
}

const urgency = (message: IncomingMessage): number =>
  (message.receives ?? 1) - (isWide(message) ? PATIENCE : 0);

/** A share of its own. */
export const isWide = ({ body }: IncomingMessage): boolean => body.length > SHARE_LENGTH;
