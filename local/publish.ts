import { type BatchResultErrorEntry, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { EventLine } from './event-files.ts';

/** SQS accepts ten entries and 1 MiB in one batch call, and 1 MiB in one message. */
const BATCH_ENTRIES = 10;
const BATCH_BYTES = 1_048_576;
const CALLS_AT_ONCE = 4;
const ATTEMPTS = 5;

interface Published {
  readonly sent: number;
  /** The lines that SQS rejected, with the reasons, in the order of the file. */
  readonly refused: readonly { readonly line: EventLine; readonly reason: string }[];
}

/** Sends each line as one message. A standard queue keeps the order of messages only approximately. */
export async function publish(
  client: SQSClient,
  queueUrl: string,
  lines: readonly EventLine[],
): Promise<Published> {
  const { batches, tooLarge } = pack(lines);
  const refused: Published['refused'][number][] = [...tooLarge];
  let next = 0;
  const worker = async () => {
    for (let batch = batches[next++]; batch !== undefined; batch = batches[next++]) {
      refused.push(...(await sendBatch(client, queueUrl, batch)));
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, worker));
  return {
    sent: lines.length - refused.length,
    refused: refused.sort((a, b) => lines.indexOf(a.line) - lines.indexOf(b.line)),
  };
}

function pack(lines: readonly EventLine[]) {
  const batches: EventLine[][] = [];
  const tooLarge: Published['refused'][number][] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(line.text);
    if (size > BATCH_BYTES) {
      tooLarge.push({ line, reason: `${size} bytes; SQS accepts messages up to ${BATCH_BYTES} bytes` });
      continue;
    }
    const last = batches.at(-1);
    if (last === undefined || last.length === BATCH_ENTRIES || bytes + size > BATCH_BYTES) {
      batches.push([line]);
      bytes = size;
    } else {
      last.push(line);
      bytes += size;
    }
  }
  return { batches, tooLarge };
}

/**
 * Sends a batch, and retries entries that failed for a reason other than their content. @returns the lines that SQS
 * rejected
 */
async function sendBatch(client: SQSClient, queueUrl: string, batch: readonly EventLine[]) {
  const refused: Published['refused'][number][] = [];
  let left = batch;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    const entries = left.map(({ text }, index) => ({ Id: String(index), MessageBody: text }));
    const answer = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }));
    const failed = (answer.Failed ?? []).flatMap((entry) => {
      const line = left[Number(entry.Id)];
      return line === undefined ? [] : [{ line, entry }];
    });
    const lost = failed.filter(({ entry }) => entry.SenderFault === true || attempt === ATTEMPTS);
    refused.push(...lost.map(({ line, entry }) => ({ line, reason: reasonOf(entry) })));
    left = failed.filter((one) => !lost.includes(one)).map(({ line }) => line);
  }
  return refused;
}

const reasonOf = ({ Code, Message }: BatchResultErrorEntry) => Message ?? Code ?? 'refused';
