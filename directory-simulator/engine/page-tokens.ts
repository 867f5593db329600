/** The state that decides which page tokens are valid. */
export interface PageTokens {
  expireAll(): void;
  generation(): number;
  /** Starts a new listing of the collection `key`, and returns its number: 1, 2, 3 and so on. */
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
