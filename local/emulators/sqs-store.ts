import pMap from 'p-map';
import { type SqsQueue, SqsStore } from '../../node_modules/fauxqs/dist/sqs/sqsStore.js';
import { INVALID_MESSAGE_BODY_CHAR } from '../../node_modules/fauxqs/dist/sqs/sqsTypes.js';

/*
 * fauxqs does not export its store, so these imports name internal files of the pinned version. This file corrects how
 * fauxqs checks message bodies and finds queues.
 */

/** Characters that SQS rejects in a body. fauxqs also rejects characters above U+FFFF, such as emoji in names. */
const INVALID_IN_SQS = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;
INVALID_MESSAGE_BODY_CHAR.test = (text) => INVALID_IN_SQS.test(text);

/**
 * Queue URLs contain the address of the emulator. The store finds queues only by name. So a URL with `localhost` or
 * with another region means the same queue.
 */
export class LoopbackQueues extends SqsStore {
  override buildQueueUrl(queueName: string, _port: string, requestHost: string): string {
    return `http://${requestHost}/000000000000/${queueName}`;
  }

  override getQueue(url: string): SqsQueue | undefined {
    return this.getQueueByName(lastSegment(url, '/'));
  }

  override getQueueByArn(arn: string): SqsQueue | undefined {
    return this.getQueueByName(lastSegment(arn, ':'));
  }

  /** Returns the number of visible, delayed and in-flight messages of a queue. */
  countMessages(url: string): number {
    const queue = this.getQueue(url);
    if (queue === undefined) throw new Error(`expected the URL of a queue, got ${url}`);
    return queue.messages.length + queue.delayedMessages.length + queue.inflightMessages.size;
  }

  /** Ends the delay of each delayed message if `isDue` returns true for its body. */
  async bringForward(url: string, isDue: (body: string) => Promise<boolean>): Promise<void> {
    const waiting = this.getQueue(url)?.delayedMessages ?? [];
    const bring = async (message: (typeof waiting)[number]) => {
      // If `isDue` throws an error, the message keeps its delay.
      if (await isDue(message.body).catch(() => false)) message.delayUntil = 0;
    };
    await pMap(waiting, bring, { concurrency: 8 });
  }
}

const lastSegment = (text: string, separator: string) => text.slice(text.lastIndexOf(separator) + 1);
