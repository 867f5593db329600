/** Maximum size of a request body in UTF-8. */
export const MAX_BODY_BYTES = 5 * 1024 * 1024;
/**
 * Maximum size of a request body that the discovery documents announce. Lambda accepts 6 MB including headers (AWS
 * Lambda quotas). API Gateway passes on `application/scim+json` as base64, which takes four characters for three bytes.
 * API Gateway rejects larger bodies itself, with a response that is not SCIM.
 */
export const PROMISED_BODY_BYTES = 4_500_000;
/**
 * Maximum size of one response, as `answerBytes` counts. Lambda returns at most 6 MB, headers included (AWS Lambda
 * quotas).
 */
export const MAX_ANSWER_BYTES = 5_500_000;
/**
 * Maximum number of bulk operations. They run in sequence and take about 50 ms each when deployed, so all of them end
 * within `BULK_TIME_MS`.
 */
export const MAX_BULK_OPERATIONS = 300;
/**
 * After this time no further operation is started, so that the response comes before the gateway's timeout of 30
 * seconds.
 */
export const BULK_TIME_MS = 20_000;
/**
 * Maximum number of members that one request may add or remove. One event has the same limit. The registers share a
 * partition, which takes 1,000 writes per second (Amazon DynamoDB developer guide, "Partitions"). With this limit, the
 * writes end before the gateway's timeout of 30 seconds.
 */
export const MAX_MEMBERS_CHANGED = 20_000;
