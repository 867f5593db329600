/** Maximum size of a request body in UTF-8. */
export const MAX_BODY_BYTES = 5 * 1024 * 1024;
/**
 * Maximum size of a response, as `answerBytes` counts it. Lambda returns at most 6 MB with headers (AWS Lambda quotas).
 */
export const MAX_ANSWER_BYTES = 5_500_000;
/**
 * Maximum number of members that one request can add or remove. One event has the same limit. The registers of a group
 * share a partition, which accepts 1,000 writes per second (Amazon DynamoDB developer guide, "Partitions"). So 20,000
 * writes end before the gateway's timeout of 30 seconds.
 */
export const MAX_MEMBERS_CHANGED = 20_000;
