/** Which page tokens are valid. */
export interface PageTokens {
  /** Makes all tokens that were issued so far invalid. */
  expireAll(): void;
  generation(): number;
  /** The number of the next listing with this key. */
  nextListing(key: string): number;
}

export function createPageTokens(): PageTokens {
  const listings = new Map<string, number>();
  let generation = 1;
  return {
    expireAll() {
      generation += 1;
    },
    generation: () => generation,
    nextListing(key) {
      const number = (listings.get(key) ?? 0) + 1;
      listings.set(key, number);
      return number;
    },
  };
}
