/*
 * Limits of one message. They exist because a body may have 1 MiB (SQS), an item with registers may have 400 KB
 * (DynamoDB), and a fold must fit in the memory of the function.
 */

export const MAX_JSON_DEPTH = 32;
export const MAX_EVENTS_PER_MESSAGE = 10_000;
export const MAX_MEMBERS_PER_EVENT = 20_000;
export const MAX_ID_LENGTH = 512;
/** The maximum length of a stamp: two ids in hex digits of UTF-8, and the other parts. */
export const MAX_STAMP_LENGTH = 6_400;
export const MAX_ARN_LENGTH = 2_048;
export const MAX_NAME_LENGTH = 1_024;
export const MAX_ATTRIBUTES_PER_MEMBER = 32;
/** The maximum size of an attribute, in bytes of UTF-8 for name and value together. */
export const MAX_ATTRIBUTE_BYTES = 1_024;
export const MAX_SNAPSHOT_PARTS = 10_000;
/** The maximum number of envelopes around an event, such as an EventBridge event in an SNS notification. */
export const MAX_ENVELOPES = 4;
