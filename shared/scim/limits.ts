/** A body, in UTF-8: what Lambda takes at most is 6 MB, encoding and headers included (AWS Lambda quotas). */
export const MAX_BODY_BYTES = 5 * 1024 * 1024;
export const MAX_BULK_OPERATIONS = 1_000;
/**
 * Members that one request may name or remove, as in one event. Their registers share a partition, which takes 1,000
 * writes a second (Amazon DynamoDB developer guide, "Partitions"): this many end before the gateway's 30 seconds do.
 */
export const MAX_MEMBERS_CHANGED = 20_000;
