/** Maximum size of a request body in UTF-8. */
export const MAX_BODY_BYTES = 5 * 1024 * 1024;
/**
 * Maximum size of a request body that the discovery documents announce. Lambda accepts 6 MB including headers (AWS
 * Lambda quotas). API Gateway encodes `application/scim+json` as base64, which takes four characters for three bytes.
 * For a larger body, API Gateway sends an error response of its own, which is not SCIM.
 */
export const PROMISED_BODY_BYTES = 4_500_000;
/**
 * Maximum size of a response, as `answerBytes` counts it. Lambda returns at most 6 MB with headers (AWS Lambda quotas).
 */
export const MAX_ANSWER_BYTES = 5_500_000;
/** Maximum number of bulk operations. At about 50 ms each, 300 operations end within `BULK_TIME_MS`. */
export const MAX_BULK_OPERATIONS = 300;
/** After this time, no further operation starts, so that the response comes before the gateway's timeout of 30 s. */
export const BULK_TIME_MS = 20_000;
/**
 * Maximum number of members that one request can add or remove. One event has the same limit. The registers of a group
 * share a partition, which accepts 1,000 writes per second (Amazon DynamoDB developer guide, "Partitions"). So 20,000
 * writes end before the gateway's timeout of 30 seconds.
 */
export const MAX_MEMBERS_CHANGED = 20_000;
