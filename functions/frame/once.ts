/**
 * Wires a function when it is first called, and once: a container keeps its clients and its parsed configuration from
 * one invocation to the next, and nothing else.
 */
export function once<Wired>(wire: () => Wired): () => Wired {
  let wired: { readonly value: Wired } | undefined;
  return () => {
    wired ??= { value: wire() };
    return wired.value;
  };
}
