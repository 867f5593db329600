/** Wires a function at its first call. The container keeps only clients and parsed configuration between invocations. */
export function once<Wired>(wire: () => Wired): () => Wired {
  let wired: { readonly value: Wired } | undefined;
  return () => {
    wired ??= { value: wire() };
    return wired.value;
  };
}
