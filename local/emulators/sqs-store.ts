import pMap from 'p-map';
import { type SqsQueue, SqsStore } from '../../node_modules/fauxqs/dist/sqs/sqsStore.js';
import { INVALID_MESSAGE_BODY_CHAR } from '../../node_modules/fauxqs/dist/sqs/sqsTypes.js';

/*
 * fauxqs exports its server but not its store; these are the pinned version's own files, and the same that its server
 * loads as long as a build bundles all of it. Three of its defects would be visible to users and are fixed here.
 */

/** What SQS refuses in a body; fauxqs forgets that characters past U+FFFF (an emoji in a name) are allowed. */
const INVALID_IN_SQS = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;
INVALID_MESSAGE_BODY_CHAR.test = (text) => INVALID_IN_SQS.test(text);

/**
 * Queues whose URLs carry the address that the emulator listens on, and that are found by name: a URL written with
 * `localhost`, or a client that signs for another region, means the same queue.
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

  /** Delivers now what waits for its time and, by its body, may come before it. */
  async bringForward(url: string, mayCome: (body: string) => Promise<boolean>): Promise<void> {
    const waiting = this.getQueue(url)?.delayedMessages ?? [];
    const bring = async (message: (typeof waiting)[number]) => {
      // What cannot be asked about waits for its time, as it would have.
      if (await mayCome(message.body).catch(() => false)) message.delayUntil = 0;
    };
    await pMap(waiting, bring, { concurrency: 8 });
  }
}

const lastSegment = (text: string, separator: string) => text.slice(text.lastIndexOf(separator) + 1);
