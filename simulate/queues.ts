import type {
  ChangeMessageVisibilityBatchRequestEntry,
  DeleteMessageBatchRequestEntry,
  ReceiveMessageRequest,
  SendMessageBatchRequestEntry,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueueKey } from '../shared/contract/names.ts';
import { QUEUES } from '../shared/contract/topology.ts';
import type { Random } from './random.ts';

/** A message in a queue. A duplicate has the same id. */
export interface QueuedMessage {
  readonly id: string;
  /** A number that differs between duplicates. */
  readonly serial: number;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly group?: string | undefined;
  readonly sentAtMs: number;
  visibleAtMs: number;
  receives: number;
  receipt?: string;
}

interface QueuesOptions {
  readonly nowMs: () => number;
  readonly random: Random;
  /** The probability that a message is delivered twice. A late delivery has the same probability. The default is 0. */
  readonly unruly?: number;
  /** Returns the order in which a receive takes the visible messages. The default is the order of sending. */
  readonly order?: (visible: QueuedMessage[], all: readonly QueuedMessage[]) => QueuedMessage[];
}

interface QueueOptions extends QueuesOptions {
  readonly notifyDue: (atMs: number) => void;
}

export type Queues = ReturnType<typeof createQueues>;

export type Queue = ReturnType<typeof createQueue>;

interface Sending {
  readonly body: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly group?: string | undefined;
  readonly sentAtMs?: number;
}

/** Amazon SQS quota for one message with its attributes, and for one batch of messages: 1 MiB. */
const MAX_BYTES = 1_048_576;
const LATE_MS = 120_000;
/**
 * A receive may return any of this many messages from the front of the queue, because a standard queue keeps no strict
 * order.
 */
const REORDERED_WITHIN = 3;

export const queueUrl = (key: QueueKey): string => `https://sqs.test/000000000000/groupsync-${key}`;

/**
 * Creates standard queues. They may deliver a message twice or in another order, and they delete expired messages. A
 * message moves to the dead-letter queue after the maximum number of receives.
 */
export function createQueues(options: QueuesOptions) {
  const keys = Object.keys(QUEUES) as QueueKey[];
  const of = {} as Record<QueueKey, Queue>;
  let onDue: (queue: QueueKey, atMs: number) => void = () => {};
  for (const key of keys) {
    const { redrive } = QUEUES[key];
    const notifyDue = (atMs: number) => onDue(key, atMs);
    of[key] = createQueue(key, { ...options, notifyDue }, (message) => {
      if (redrive !== undefined) of[redrive.to].send(message);
    });
  }
  return {
    of: of as Readonly<typeof of>,
    /** Registers a function. The queues call it with the time at which they have a message. */
    listen: (listener: typeof onDue) => {
      onDue = listener;
    },
    /** Returns the SQS client of one worker. */
    client: (before?: Parameters<typeof clientOver>[2]) => clientOver(of, options.nowMs, before),
  };
}

function createQueue(
  key: QueueKey,
  { nowMs, random, unruly = 0, order = (visible) => visible, notifyDue }: QueueOptions,
  send: (message: QueuedMessage) => void,
) {
  const { visibilityTimeoutSeconds, retentionSeconds, redrive } = QUEUES[key];
  let messages: QueuedMessage[] = [];
  let serial = 0;

  return {
    get messages(): readonly QueuedMessage[] {
      return messages;
    },
    /** Sends a message as a producer does. Unlike in SQS, `delayMs` may be days. */
    send(sending: Sending, delayMs = 0, copies = random.chance(unruly) ? 2 : 1): QueuedMessage {
      const { body, attributes = {}, group, sentAtMs = nowMs() } = sending;
      serial += 1;
      const message: QueuedMessage = {
        id: `${key}-${serial}`,
        serial,
        body,
        attributes,
        group,
        sentAtMs,
        visibleAtMs: nowMs() + delayMs + (random.chance(unruly) ? random.below(LATE_MS) : 0),
        receives: 0,
      };
      messages.push(message);
      notifyDue(message.visibleAtMs);
      for (let copy = 1; copy < copies; copy += 1) {
        serial += 1;
        // The duplicate arrives at the same time, so that two workers handle the message at once, or up to ten minutes
        // later.
        const visibleAtMs = message.visibleAtMs + (random.chance(0.5) ? 0 : random.below(600_000));
        messages.push({ ...message, serial, visibleAtMs });
        notifyDue(visibleAtMs);
      }
      return message;
    },
    receive(most: number, visibilitySeconds: number = visibilityTimeoutSeconds): readonly QueuedMessage[] {
      const now = nowMs();
      messages = messages.filter((one) => one.sentAtMs >= now - retentionSeconds * 1_000);
      const visible = messages.filter(({ visibleAtMs }) => visibleAtMs <= now);
      const ready = order(visible, messages);
      const taken: QueuedMessage[] = [];
      while (ready.length > 0 && taken.length < most) {
        const [message] = ready.splice(random.below(Math.min(ready.length, REORDERED_WITHIN)), 1);
        if (message === undefined) break;
        if (redrive !== undefined && message.receives >= redrive.maxReceiveCount) {
          messages = messages.filter((one) => one !== message);
          send(message);
          continue;
        }
        message.receives += 1;
        message.visibleAtMs = now + visibilitySeconds * 1_000;
        message.receipt = `${message.serial}/${message.receives}`;
        notifyDue(message.visibleAtMs);
        taken.push(message);
      }
      return taken;
    },
    // Only the receipt handle of the last receive deletes a message. For an older handle, SQS reports success but keeps
    // the message.
    delete(...receipts: readonly string[]) {
      messages = messages.filter(({ receipt = '' }) => !receipts.includes(receipt));
    },
    nextDueMs: () =>
      messages.reduce<number | undefined>(
        (first, { visibleAtMs }) => Math.min(first ?? visibleAtMs, visibleAtMs),
        undefined,
      ),
  };
}

type Entry = Partial<
  SendMessageBatchRequestEntry & DeleteMessageBatchRequestEntry & ChangeMessageVisibilityBatchRequestEntry
>;
type Input = Partial<ReceiveMessageRequest> & {
  readonly QueueUrl: string;
  readonly Entries?: readonly Entry[];
};

const keyOf = ({ QueueUrl }: Input) => QueueUrl.split('groupsync-').at(-1) as QueueKey;

/** Answers the SQS operations that groupsync uses. It validates requests as SQS does (Amazon SQS API reference). */
export function answerSqs(
  of: Readonly<Record<QueueKey, Queue>>,
  operation: string,
  input: Input,
  nowMs: () => number,
  isPartly = false,
): object {
  const queue = of[keyOf(input)];
  if (queue === undefined) throw named('QueueDoesNotExist', `there is no queue ${input.QueueUrl}`);
  const entries = input.Entries ?? [];
  if (entries.length > 10) throw named('TooManyEntriesInBatchRequest', `${entries.length} entries`);
  switch (operation) {
    case 'SendMessageBatch': {
      const bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
      if (bytes > MAX_BYTES) throw named('BatchRequestTooLong', `${bytes} bytes in one batch`);
      return eachOf(entries, isPartly, (entry) => faultOf(entry) ?? sent(queue, entry));
    }
    case 'ReceiveMessage':
      return {
        Messages: queue
          .receive(Math.min(10, input.MaxNumberOfMessages ?? 1), input.VisibilityTimeout)
          .map(received),
      };
    case 'DeleteMessageBatch':
      return eachOf(entries, isPartly, ({ ReceiptHandle = '' }) => {
        queue.delete(ReceiptHandle);
        return {};
      });
    case 'ChangeMessageVisibilityBatch':
      return eachOf(entries, isPartly, ({ ReceiptHandle, VisibilityTimeout = 0 }) => {
        const message = queue.messages.find(({ receipt }) => receipt === ReceiptHandle);
        // If a message has become visible again, its earlier receiver cannot change its visibility (Amazon SQS API
        // reference).
        if (message === undefined || message.visibleAtMs <= nowMs()) return 'MessageNotInflight';
        message.visibleAtMs = nowMs() + VisibilityTimeout * 1_000;
        return {};
      });
    case 'GetQueueAttributes': {
      const now = nowMs();
      const hidden = queue.messages.filter(({ visibleAtMs }) => visibleAtMs > now);
      const inFlight = hidden.filter(({ receives }) => receives > 0).length;
      return {
        Attributes: {
          ApproximateNumberOfMessages: String(queue.messages.length - hidden.length),
          ApproximateNumberOfMessagesNotVisible: String(inFlight),
          ApproximateNumberOfMessagesDelayed: String(hidden.length - inFlight),
        },
      };
    }
    default:
      throw named('InvalidAction', `${operation} is not supported by this fake SQS`);
  }
}

/**
 * Allowed characters of a body (Amazon SQS API reference, SendMessage): tab, line feed, return, and from the
 * space upwards.
 */
const REFUSED_CHARACTERS = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
/** The format of a message group id. Amazon SQS fair queues use message groups in a standard queue. */
const GROUP = /^[\w!"#$%&'()*+,./:;<=>?@[\\\]^`{|}~-]{1,128}$/;

/** Returns the result of each entry of a batch. */
function eachOf(entries: readonly Entry[], isPartly: boolean, take: (entry: Entry) => object | string) {
  const Successful: object[] = [];
  const Failed: object[] = [];
  for (const [place, entry] of entries.entries()) {
    const isLeft = isPartly && place % 2 === 0;
    const taken = isLeft ? 'InternalError' : take(entry);
    if (typeof taken !== 'string') Successful.push({ Id: entry.Id, ...taken });
    else Failed.push({ Id: entry.Id, Code: taken, SenderFault: !isLeft, Message: taken });
  }
  return { Successful, Failed };
}

function sent(queue: Queue, entry: Entry): object {
  const { MessageBody: body = '', MessageGroupId: group, DelaySeconds = 0 } = entry;
  return { MessageId: queue.send({ body, attributes: textsOf(entry), group }, DelaySeconds * 1_000).id };
}

const textsOf = ({ MessageAttributes = {} }: Entry): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { StringValue = '' }]) => [name, StringValue]),
  );

/** Returns the SQS error code for an invalid entry; undefined if the entry is valid. */
function faultOf(entry: Entry): string | undefined {
  const { MessageBody = '', MessageGroupId = 'none', MessageDeduplicationId, DelaySeconds = 0 } = entry;
  const texts = Object.values(textsOf(entry));
  if (MessageBody === '' || [MessageBody, ...texts].some((text) => REFUSED_CHARACTERS.test(text))) {
    return 'InvalidMessageContents';
  }
  const isDelayFit = Number.isInteger(DelaySeconds) && DelaySeconds >= 0 && DelaySeconds <= 900;
  const isFit = MessageDeduplicationId === undefined && isDelayFit && GROUP.test(MessageGroupId);
  return isFit && texts.length <= 10 && !texts.includes('') ? undefined : 'InvalidParameterValue';
}

function bytesOf({ MessageBody = '', MessageAttributes = {} }: Entry): number {
  return Object.entries(MessageAttributes).reduce(
    (sum, [name, { DataType = '', StringValue = '' }]) =>
      sum + Buffer.byteLength(name) + Buffer.byteLength(DataType) + Buffer.byteLength(StringValue),
    Buffer.byteLength(MessageBody),
  );
}

const received = ({ id, body, attributes, sentAtMs, receives, receipt }: QueuedMessage) => ({
  MessageId: id,
  ReceiptHandle: receipt,
  Body: body,
  Attributes: { SentTimestamp: String(sentAtMs), ApproximateReceiveCount: String(receives) },
  MessageAttributes: Object.fromEntries(
    Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
  ),
});

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

function clientOver(
  of: Readonly<Record<QueueKey, Queue>>,
  nowMs: () => number,
  before: (operation: string, queue: QueueKey) => Promise<unknown> = async () => {},
): SQSClient {
  const send = async (command: {
    readonly constructor: { readonly name: string };
    readonly input: Input;
  }) => {
    const operation = command.constructor.name.replace(/Command$/, '');
    const fault = await before(operation, keyOf(command.input));
    const answer = answerSqs(of, operation, command.input, nowMs, fault === 'partly');
    if (fault === 'unheard') throw named('TimeoutError', 'the queue did not answer');
    return answer;
  };
  // groupsync calls only this method of an SQS client.
  return { send } as unknown as SQSClient;
}
