/** A body, in UTF-8: what Lambda takes at most is 6 MB, encoding and headers included (AWS Lambda quotas). */
export const MAX_BODY_BYTES = 5 * 1024 * 1024;
export const MAX_BULK_OPERATIONS = 1_000;
