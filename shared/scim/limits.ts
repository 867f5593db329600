/** A body, in UTF-8. */
export const MAX_BODY_BYTES = 5 * 1024 * 1024;
/**
 * What surely arrives where a gateway is before us, and so what clients are promised. Lambda takes 6 MB at most, headers
 * included (AWS Lambda quotas), and API Gateway hands over as base64, four characters for three bytes, what it does not
 * know for text, `application/scim+json` among it. It refuses more by itself, in words that are not SCIM's.
 */
export const PROMISED_BODY_BYTES = 4_500_000;
/** Of one answer, as `answerBytes` counts: Lambda answers 6 MB at most, headers included (AWS Lambda quotas). */
export const MAX_ANSWER_BYTES = 5_500_000;
/** One after the other, of some 50 ms each when deployed: these end within the time below. */
export const MAX_BULK_OPERATIONS = 300;
/** What is not begun by then is left, so that the answer comes before the gateway's 30 seconds end. */
export const BULK_TIME_MS = 20_000;
/**
 * Members that one request may name or remove, as in one event. Their registers share a partition, which takes 1,000
 * writes a second (Amazon DynamoDB developer guide, "Partitions"): this many end before the gateway's 30 seconds do.
 */
export const MAX_MEMBERS_CHANGED = 20_000;
