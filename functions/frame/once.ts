/**
 * Calls `wire` only once, at the first invocation of a function. Lambda's container keeps the result, which must
 * contain only clients and parsed configuration.
 */
export function once<Wired>(wire: () => Wired): () => Wired {
  let wired: { readonly value: Wired } | undefined;
  return () => {
    wired ??= { value: wire() };
    return wired.value;
  };
}
