/** The table could not be read or written: waiting may mend it, so the message goes back to its queue. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/**
 * The table can never take what was to be written: an item or key that is too large, an empty key, a value that it has no
 * form for. Retrying cannot mend it. The message quotes no value.
 */
export class UnstorableError extends Error {
  override readonly name = 'UnstorableError';
}

/** An item does not have the form that this version writes: a person must look, retrying cannot mend it. */
export class CorruptItemError extends Error {
  override readonly name = 'CorruptItemError';
}
