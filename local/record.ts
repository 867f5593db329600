import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSMessageAttribute, SQSRecord, SQSRecordAttributes } from 'aws-lambda';

/**
 * Converts a message to the record that Lambda gives to a function. Names are in camel case, binary attributes are
 * base64, and lists are never missing. Source: Lambda developer guide, "Example standard queue message event".
 */
export function toRecord(message: Message, queueArn: string): SQSRecord {
  const record: SQSRecord = {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    // The poller requests `All` attributes, so every attribute of Lambda's type is present.
    attributes: { ...message.Attributes } as unknown as SQSRecordAttributes,
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, toAttribute(value)]),
    ),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: 'us-east-1',
  };
  if (message.MD5OfMessageAttributes !== undefined) {
    record.md5OfMessageAttributes = message.MD5OfMessageAttributes;
  }
  return record;
}

function toAttribute({ DataType, StringValue, BinaryValue }: MessageAttributeValue): SQSMessageAttribute {
  return {
    stringValue: StringValue,
    binaryValue: BinaryValue && Buffer.from(BinaryValue).toString('base64'),
    stringListValues: [],
    binaryListValues: [],
    dataType: (DataType ?? 'String') as SQSMessageAttribute['dataType'],
  };
}
