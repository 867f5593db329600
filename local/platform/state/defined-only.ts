/**
 * Returns the object without its undefined fields. Callers spread the result over existing values, and an undefined
 * field would overwrite the existing value.
 */
export function definedOnly<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
