/** Calls `wire` at the first invocation. Lambda's container keeps the result: clients and parsed configuration. */
export function once<Wired>(wire: () => Wired): () => Wired {
  let wired: { readonly value: Wired } | undefined;
  return () => {
    wired ??= { value: wire() };
    return wired.value;
  };
}
