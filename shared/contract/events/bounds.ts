/*
 * Limits of one message. Each limit keeps a later step within another limit: a body within 1 MiB (SQS), a register
 * within an item of 400 KB (DynamoDB), a fold within the memory of the function.
 */

/** Levels of nested arrays and objects in one JSON text. */
export const MAX_JSON_DEPTH = 32;
export const MAX_EVENTS_PER_MESSAGE = 10_000;
export const MAX_MEMBERS_PER_EVENT = 20_000;
export const MAX_ID_LENGTH = 512;
/**
 * Enough for two ids, written as the hex digits of their UTF-8, and for the other parts of a stamp. A stamp is stored
 * with each member.
 */
export const MAX_STAMP_LENGTH = 6_400;
export const MAX_ARN_LENGTH = 2_048;
export const MAX_NAME_LENGTH = 1_024;
export const MAX_ATTRIBUTES_PER_MEMBER = 32;
/** Maximum size of an attribute's name and value together, in UTF-8. */
export const MAX_ATTRIBUTE_BYTES = 1_024;
export const MAX_SNAPSHOT_PARTS = 10_000;
/** Maximum depth of envelopes within envelopes, such as an EventBridge event in an SNS notification. */
export const MAX_ENVELOPES = 4;
