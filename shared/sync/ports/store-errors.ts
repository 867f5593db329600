/** The table could not be read or written: waiting may mend it, so the message goes back to its queue. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** An item does not have the form that this version writes: a person must look, retrying cannot mend it. */
export class CorruptItemError extends Error {
  override readonly name = 'CorruptItemError';
}
