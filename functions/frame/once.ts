/**
 * Calls `wire` at the first invocation. Later invocations in the same container use the same clients and configuration.
 */
export function once<Wired>(wire: () => Wired): () => Wired {
  let wired: { readonly value: Wired } | undefined;
  return () => {
    wired ??= { value: wire() };
    return wired.value;
  };
}
