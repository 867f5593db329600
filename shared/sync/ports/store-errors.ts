/** A read or write of the table failed. A retry may succeed, so the message goes back to its queue. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** DynamoDB throttled the request. Its limits count each second, so a retry within seconds probably succeeds. */
export class ThrottledError extends StoreError {}

/**
 * The table can never store the given data: an item or key is too large, a key is empty, or DynamoDB cannot represent a
 * value. A retry cannot succeed. The message quotes no value.
 */
export class UnstorableError extends Error {
  override readonly name = 'UnstorableError';
}

/** An item does not have the form that this release writes. A retry cannot succeed; an operator must fix the item. */
export class CorruptItemError extends Error {
  override readonly name: string = 'CorruptItemError';
}
